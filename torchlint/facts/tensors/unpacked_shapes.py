"""Numbers of dimensions that code tells by unpacking a shape: `batch, channels, height, width = x.shape`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from torchlint.facts.scopes import Variable
from torchlint.facts.tree import is_method_call

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts


def unpacked_rank(facts: FileFacts, name: ast.Name, scope: int) -> frozenset[int]:
    """`b, c, h, w = x.shape` says that `x` has four dimensions, where `x` is bound once."""
    is_bound_once = len(facts.bindings(name, scope)) == 1
    found = facts.cached(_shape_unpackings).get(facts.variable(name, scope)) if is_bound_once else None
    return frozenset() if found is None else frozenset({found})


def _shape_unpackings(facts: FileFacts) -> dict[Variable | None, int]:
    found: dict[Variable | None, int] = {}
    for site in facts.symbols.assign_sites:
        node = site.node
        if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Tuple):
            continue
        target = node.targets[0]
        tensor = whose_shape(node.value)
        if not isinstance(tensor, ast.Name) or any(isinstance(element, ast.Starred) for element in target.elts):
            continue
        found[facts.variable(tensor, site.scope)] = len(target.elts)
    return found


def whose_shape(value: ast.expr) -> ast.expr | None:
    """`x` for `x.shape` and `x.size()`."""
    if is_method_call(value):
        is_whole = value.func.attr == "size" and not value.args and not value.keywords
        return value.func.value if is_whole else None
    return value.value if isinstance(value, ast.Attribute) and value.attr == "shape" else None
