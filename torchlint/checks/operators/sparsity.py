"""Sparse tensors with at most one entry in a row and a column: a product with one only scales or picks."""

from __future__ import annotations

import ast
from functools import partial
from typing import TYPE_CHECKING

from torchlint.facts.definitions import every
from torchlint.facts.ends import Through
from torchlint.facts.tensors.methods import method_named
from torchlint.facts.tensors.operands import called_name, operand
from torchlint.facts.values import argument_of

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

_DEPTH = 12
_RETURNED = Through.CHANGES | Through.RESULTS
_DIAGONAL = frozenset({"torch.eye", "torch.diag", "torch.diagflat"})
_COUNTING = frozenset({"builtins.range", "torch.arange", "numpy.arange"})
_OF_SPARSE = frozenset({"coalesce", "t", "to_sparse", "to_sparse_csr"})
_FROM_ROWS = frozenset(
    f"torch.{name}" for name in ("tensor", "as_tensor", "LongTensor", "stack", "vstack", "cuda.LongTensor")
)


def _keeps(name: str | None) -> bool:
    """Whether an operation leaves the entries as they are, in a matrix that is sparse or not."""
    return method_named(name).copies or name in _OF_SPARSE


def has_single_entries(facts: FileFacts, matrix: ast.expr | None, scope: int, depth: int = _DEPTH) -> bool:
    """Whether a sparse matrix is evidently diagonal, or holds one entry alone."""
    return depth > 0 and every(facts, matrix, scope, partial(_is_single_matrix, facts, depth), _RETURNED)


def _is_single_matrix(facts: FileFacts, depth: int, matrix: ast.expr, scope: int) -> bool:
    if not isinstance(matrix, ast.Call):
        return False
    name = facts.names(matrix.func, scope).only or ""
    if name in _DIAGONAL:
        return True
    if name == "torch.sparse_coo_tensor" or (name.startswith("torch.sparse.") and name.endswith("Tensor")):
        return _are_apart(facts, argument_of(matrix, "indices", 0), scope, depth - 1)
    is_kept = _keeps(called_name(facts, matrix, scope))
    return is_kept and has_single_entries(facts, operand(facts, matrix, scope), scope, depth - 1)


def _are_apart(facts: FileFacts, indices: ast.expr | None, scope: int, depth: int) -> bool:
    """Whether indices name each row and each column once: `[i, i]` of a count, or the place of one entry."""
    return depth > 0 and every(facts, indices, scope, partial(_are_made_apart, facts, depth))


def _are_made_apart(facts: FileFacts, depth: int, indices: ast.expr, scope: int) -> bool:
    if isinstance(indices, ast.List | ast.Tuple) and len(indices.elts) == 2:
        return all(_is_single(part) for part in indices.elts) or _are_same_counts(facts, indices, scope)
    if not isinstance(indices, ast.Call):
        return False
    if facts.names(indices.func, scope).only in _FROM_ROWS:
        return bool(indices.args) and _are_apart(facts, indices.args[0], scope, depth - 1)
    name, tensor = called_name(facts, indices, scope), operand(facts, indices, scope)
    if name == "expand":  # one row of places for both
        is_twice = bool(indices.args) and facts.value(indices.args[0], scope).constants == (2,)
        return is_twice and _counts(facts, tensor, scope, depth - 1)
    return _keeps(name) and _are_apart(facts, tensor, scope, depth - 1)


def _is_single(part: ast.expr) -> bool:
    return isinstance(part, ast.List | ast.Tuple) and len(part.elts) == 1 and not isinstance(part.elts[0], ast.Starred)


def _are_same_counts(facts: FileFacts, rows: ast.List | ast.Tuple, scope: int) -> bool:
    first, second = rows.elts
    return ast.dump(first) == ast.dump(second) and _counts(facts, first, scope, _DEPTH)


def _counts(facts: FileFacts, places: ast.expr | None, scope: int, depth: int) -> bool:
    """Whether places are 0, 1, 2 ...: a range, perhaps with another shape or on another device."""
    return depth > 0 and every(facts, places, scope, partial(_is_made_counting, facts, depth))


def _is_made_counting(facts: FileFacts, depth: int, places: ast.expr, scope: int) -> bool:
    if not isinstance(places, ast.Call):
        return False
    if facts.names(places.func, scope).only in _COUNTING:
        return True
    name = called_name(facts, places, scope)
    is_passed = _keeps(name) or method_named(name).rearranges
    return is_passed and _counts(facts, operand(facts, places, scope), scope, depth - 1)
