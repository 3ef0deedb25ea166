"""Whether a tensor has a sparse layout, as far as its own file shows."""

from __future__ import annotations

import ast
from functools import partial
from typing import TYPE_CHECKING

from torchlint.facts.definitions import every
from torchlint.facts.memoizing import memoized
from torchlint.facts.tensors.methods import method_named
from torchlint.facts.tensors.operands import called_name, operand

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

_SPARSE_GRAPHS = frozenset(f"torch_geometric.utils.to_torch_{layout}_tensor" for layout in ("coo", "csr", "csc"))
_OF_SPARSE = frozenset({"coalesce", "t", "transpose"})


@memoized
def is_sparse(facts: FileFacts, expression: ast.expr | None, scope: int, depth: int = 6) -> bool:
    """Whether a tensor evidently has a sparse layout: made so, or turned into one."""
    is_possible = depth > 0 and facts.cached(makes_sparse)
    return is_possible and every(facts, expression, scope, partial(_is_made_sparse, facts, depth))


def _is_made_sparse(facts: FileFacts, depth: int, call: ast.expr, scope: int) -> bool:
    if not isinstance(call, ast.Call):
        return False
    name = called_name(facts, call, scope)
    if facts.names(call.func, scope).only in _SPARSE_GRAPHS:
        return True
    if name is not None and _may_make_sparse(facts, call, scope):
        return True
    keeps = method_named(name).copies or name in _OF_SPARSE
    return keeps and is_sparse(facts, operand(facts, call, scope), scope, depth - 1)


def makes_sparse(facts: FileFacts) -> bool:
    """Whether the file makes a sparse tensor anywhere: where none is made, nothing evidently is one."""
    return any(_may_make_sparse(facts, site.node, site.scope) for site in facts.symbols.calls)


def _may_make_sparse(facts: FileFacts, call: ast.Call, scope: int) -> bool:
    """By the last part of its name; the call of a tensor's method, or of a function of torch, makes one for sure."""
    if isinstance(call.func, ast.Attribute):
        name = call.func.attr
    else:
        name = (facts.names(call.func, scope).only or "").rpartition(".")[2]
    is_made = name.startswith(("sparse_", "to_torch_")) and name.endswith("_tensor")
    return is_made or name.startswith("to_sparse")
