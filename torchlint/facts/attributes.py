"""What a class keeps in `self`: the values that its methods assign to each attribute."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from torchlint.facts.names import union_of
from torchlint.facts.scopes import ScopeKind
from torchlint.facts.tree import is_own

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts
    from torchlint.facts.names import Names

Values = list[tuple[ast.expr, int]]
"""Expressions, each with the scope it is evaluated in."""


def attribute_values(facts: FileFacts, expression: ast.expr, scope: int) -> Values | None:
    """What `self.name` may hold, for all that its class says; None when `expression` is no attribute of `self`.

    An empty list says that the class never assigns it: a base class may.
    """
    if not isinstance(expression, ast.Attribute) or not isinstance(expression.value, ast.Name):
        return None
    owner = facts.class_of(scope)
    if expression.value.id != "self" or owner is None:
        return None
    return facts.once(_by_class).get((owner, expression.attr), [])


def names_called(facts: FileFacts, function: ast.expr, scope: int) -> Names:
    """What is called; `self.criterion(...)` is a call of the instance that the class keeps there."""
    names = facts.names(function, scope)
    values = attribute_values(facts, function, scope) if not names.callees else None
    if not values or not all(isinstance(value, ast.Call | ast.IfExp) for value, _ in values):
        return names
    found = [facts.names(value, where) for value, where in values]
    return union_of(found, complete=True)


_REGISTER = ("register_buffer", "register_parameter")


def _by_class(facts: FileFacts) -> dict[tuple[int, str], Values]:
    found: dict[tuple[int, str], Values] = {}
    for assignment in facts.reading.assignments:
        target = assignment.target
        owner = facts.class_of(assignment.scope)
        if owner is not None and assignment.value is not None and is_own(target):
            value = (assignment.value, assignment.scope)
            # What stands for "not yet" is never what the code goes on to use.
            if not (isinstance(assignment.value, ast.Constant) and assignment.value.value is None):
                found.setdefault((owner, target.attr), []).append(value)
    for site in facts.reading.calls:
        function = site.node.func
        if isinstance(function, ast.Attribute) and function.attr in _REGISTER and len(site.node.args) > 1:
            name, owner = site.node.args[0], facts.class_of(site.scope)
            if owner is not None and isinstance(name, ast.Constant) and isinstance(name.value, str):
                found.setdefault((owner, name.value), []).append((site.node.args[1], site.scope))
    return found


def class_bindings(facts: FileFacts, expression: ast.Attribute, scope: int) -> list[ast.expr]:
    """The annotations that a class gives to an attribute of `self`: in its body, or where a method assigns it."""
    owner = facts.class_of(scope)
    if owner is None or facts.reading.scopes[owner].kind is not ScopeKind.CLASS:
        return []
    bindings = facts.reading.scopes[owner].bindings.get(expression.attr, [])
    found = [binding.annotation for binding in bindings if binding.annotation is not None]
    return found + facts.once(_annotated).get((owner, expression.attr), [])


def _annotated(facts: FileFacts) -> dict[tuple[int, str], list[ast.expr]]:
    """`self.scale: Tensor = scale`."""
    found: dict[tuple[int, str], list[ast.expr]] = {}
    for site in facts.reading.assign_sites:
        owner = facts.class_of(site.scope)
        if owner is not None and isinstance(site.node, ast.AnnAssign) and is_own(site.node.target):
            found.setdefault((owner, site.node.target.attr), []).append(site.node.annotation)
    return found


def unpacked_values(facts: FileFacts, expression: ast.Attribute, scope: int) -> list[tuple[ast.expr, int, int]]:
    """What `self.low, self.high = bounds` stores in an attribute: each value, its scope and the position in it."""
    owner = facts.class_of(scope)
    return [] if owner is None else facts.once(_unpacked).get((owner, expression.attr), [])


def _unpacked(facts: FileFacts) -> dict[tuple[int, str], list[tuple[ast.expr, int, int]]]:
    found: dict[tuple[int, str], list[tuple[ast.expr, int, int]]] = {}
    for site in facts.reading.assign_sites:
        owner = facts.class_of(site.scope)
        if owner is None or not isinstance(site.node, ast.Assign):
            continue
        for target in site.node.targets:
            if isinstance(target, ast.Tuple | ast.List) and not _is_paired(target, site.node.value):
                for position, element in enumerate(target.elts):
                    if is_own(element):
                        found.setdefault((owner, element.attr), []).append((site.node.value, site.scope, position))
    return found


def _is_paired(target: ast.Tuple | ast.List, value: ast.expr) -> bool:
    """`self.a, self.b = 1, 2`: each part is an assignment by itself."""
    return isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts)
