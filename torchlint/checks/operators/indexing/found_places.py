"""Coordinates of the places that `nonzero` and `where` find: each may recur, all together name each place once."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from torchlint.facts.reaching import reaching
from torchlint.facts.scopes import BindingKind
from torchlint.facts.tensors.elements import called_name, operand
from torchlint.facts.tensors.methods import method_named
from torchlint.facts.tensors.ranks import rank_of

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

_SPLITTING = frozenset({"where", "nonzero"})
"""What these return, unpacked, is one tensor for each coordinate."""
_FINDING = frozenset({"nonzero", "argwhere"})
"""What these return is a matrix with a row for each place."""


def are_whole_places(facts: FileFacts, parts: Sequence[ast.expr], scope: int) -> bool:
    """Whether indices are the coordinates of the same places: `rows, cols = torch.where(mask)`."""
    origins = {_found_by(facts, part, scope) for part in parts}
    return len(origins) == 1 and None not in origins


def _found_by(facts: FileFacts, part: ast.expr, scope: int) -> ast.Call | None:
    """The call that found the places of which `part` is one coordinate."""
    if isinstance(part, ast.Subscript):
        return transposed_places(facts, part.value, scope)
    bindings = reaching(facts, part.id, scope, part.lineno) if isinstance(part, ast.Name) else []
    binding = bindings[0] if len(bindings) == 1 else None
    if binding is None or binding.kind is not BindingKind.PART or binding.value is None:
        return None
    if isinstance(binding.value, ast.Call) and called_name(facts, binding.value, binding.scope) in _SPLITTING:
        return binding.value
    return transposed_places(facts, binding.value, binding.scope)


def transposed_places(facts: FileFacts, matrix: ast.expr, scope: int, depth: int = 6) -> ast.Call | None:
    """The call behind `adjacency.nonzero().t()`: its rows hold one coordinate of all places, and of several each."""
    if depth == 0:
        return None
    if isinstance(matrix, ast.Name):
        bound = reaching(facts, matrix.id, scope, matrix.lineno)
        only = bound[0] if len(bound) == 1 and bound[0].kind is BindingKind.ASSIGN else None
        if only is None or only.value is None:
            return None
        return transposed_places(facts, only.value, only.scope, depth - 1)
    if isinstance(matrix, ast.Attribute) and matrix.attr == "T":
        return _places(facts, matrix.value, scope, depth - 1)
    if not isinstance(matrix, ast.Call):
        return None
    inner, name = operand(facts, matrix, scope), called_name(facts, matrix, scope)
    is_copy = method_named(name).copies
    if inner is None or not (is_copy or name in ("t", "transpose")):
        return None
    follow = transposed_places if is_copy else _places
    return follow(facts, inner, scope, depth - 1)


def _places(facts: FileFacts, matrix: ast.expr, scope: int, depth: int) -> ast.Call | None:
    """The call that found places of a matrix or of more dimensions, whatever moved them since."""
    if not isinstance(matrix, ast.Call) or depth == 0:
        return None
    inner, name = operand(facts, matrix, scope), called_name(facts, matrix, scope)
    if name in _FINDING and not matrix.keywords:
        return None if rank_of(facts, inner, scope) == 1 else matrix
    return _places(facts, inner, scope, depth - 1) if method_named(name).copies and inner is not None else None
