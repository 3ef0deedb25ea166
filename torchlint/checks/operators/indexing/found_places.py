"""Coordinates of the places that `nonzero` and `where` find: each may recur, all together name each place once."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from torchlint.facts.definitions import only_end, only_value
from torchlint.facts.ends import Definition
from torchlint.facts.flow.values import EACH
from torchlint.facts.tensors.methods import method_named
from torchlint.facts.tensors.operands import called_name, operand
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
    only = only_end(facts, part, scope)
    if not isinstance(only, Definition) or len(only.parts) != 1 or only.parts == (EACH,):
        return None
    if isinstance(only.node, ast.Call) and called_name(facts, only.node, only.scope) in _SPLITTING:
        return only.node
    return transposed_places(facts, only.node, only.scope)


def transposed_places(facts: FileFacts, matrix: ast.expr, scope: int, depth: int = 6) -> ast.Call | None:
    """The call behind `adjacency.nonzero().t()`: its rows hold one coordinate of all places, and of several each."""
    made, scope = only_value(facts, matrix, scope) if depth else (None, scope)
    if isinstance(made, ast.Attribute) and made.attr == "T":
        return _places(facts, made.value, scope, depth - 1)
    if not isinstance(made, ast.Call):
        return None
    inner, name = operand(facts, made, scope), called_name(facts, made, scope)
    is_copy = method_named(name).copies
    if inner is None or not (is_copy or name in ("t", "transpose")):
        return None
    follow = transposed_places if is_copy else _places
    return follow(facts, inner, scope, depth - 1)


def _places(facts: FileFacts, matrix: ast.expr, scope: int, depth: int) -> ast.Call | None:
    """The call that found places of a matrix or of more dimensions, whatever moved them since."""
    if not isinstance(matrix, ast.Call) or depth <= 0:
        return None
    inner, name = operand(facts, matrix, scope), called_name(facts, matrix, scope)
    if name in _FINDING and not matrix.keywords:
        return None if rank_of(facts, inner, scope) == 1 else matrix
    return _places(facts, inner, scope, depth - 1) if method_named(name).copies and inner is not None else None
