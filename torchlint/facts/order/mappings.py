"""Mappings that a loop fills key by key: they go through their entries in the order in which the keys came."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from torchlint.facts.definitions import seen_values

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

KEYED = "keyed"
"""The label of a mapping whose keys have the order."""
VIEWS = frozenset({"keys", "values", "items"})
MAKERS = frozenset({"builtins.dict", "builtins.dict.fromkeys", "collections.OrderedDict"})
_EMPTY = MAKERS | {"collections.defaultdict", "collections.Counter"}


def keyed(statement: ast.stmt) -> ast.expr | None:
    """The mapping that a statement gives a new key: `kept[name] = x`, `kept[label].append(x)`, `kept[label] += 1`."""
    target: ast.AST | None = None
    if isinstance(statement, ast.Assign):
        target = statement.targets[0]
    elif isinstance(statement, ast.AugAssign):
        target = statement.target
    elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        function = statement.value.func
        target = function.value if isinstance(function, ast.Attribute) else None
        if isinstance(target, ast.Call) and isinstance(target.func, ast.Attribute) and target.func.attr == "setdefault":
            return target.func.value  # `kept.setdefault(label, []).append(x)`
    if isinstance(target, ast.Subscript) and not isinstance(target.slice, ast.Constant | ast.Slice):
        return target.value
    return None


def is_empty_mapping(facts: FileFacts, mapping: ast.expr) -> bool:
    """Whether a mapping has no keys before: those it has stay where they are."""
    made = seen_values(facts, mapping, facts.index.scope_of(mapping))
    return bool(made) and all(_is_empty(facts, node, scope) for node, scope in made)


def _is_empty(facts: FileFacts, made: ast.expr, scope: int) -> bool:
    if isinstance(made, ast.Dict):
        return not made.keys
    is_filled = isinstance(made, ast.Call) and any(not isinstance(one, ast.Name | ast.Lambda) for one in made.args)
    return isinstance(made, ast.Call) and not is_filled and facts.names(made.func, scope).only in _EMPTY
