"""The type of a library that an expression has, through all that keeps it or hands it on: `datasets.Dataset()`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchlint.facts.calls import callers
from torchlint.facts.definitions import definitions_of, is_none
from torchlint.facts.ends import EVERYWHERE, Definition, End, Parameter, Through
from torchlint.facts.flow.values import Field
from torchlint.facts.memoizing import memoized
from torchlint.facts.scopes import BindingKind

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

_PART = ""
"""The step to a part of a value, among the names of methods."""


@memoized
def type_of(facts: FileFacts, value: ast.expr, scope: int) -> str | None:
    """What everything that an expression may be is, where that is one type of a library.

    `self.raw` after `self.raw = load_dataset(path)` and `self.raw = self.raw.map(f)` is a `datasets.Dataset()`.
    """
    types: set[str] = set()
    steps: set[str] = set()
    waiting, seen = [(value, scope)], {(value, scope)}
    while waiting:
        for end in _ends(facts, *waiting.pop()):
            made, before = _made(facts, end), _before(end)
            parts = end.parts if isinstance(end, Definition) else ()
            fields = [part.name for part in parts if isinstance(part, Field)]
            if made:
                types.add(".".join((made, *fields)))
            elif before is None:
                return None
            else:
                steps.add(before[1])
                waiting += {before[0]} - seen
                seen.add(before[0])
            if len(fields) < len(parts):
                steps.add(_PART)
    only = types.pop() if len(types) == 1 else None
    return only if only is not None and facts.resolver.stays(only, sorted(steps)) else None


def _ends(facts: FileFacts, value: ast.expr, scope: int) -> Iterator[End]:
    """What an expression may be; a parameter is what it is declared as, or else what calls in the file give."""
    if isinstance(value, ast.Subscript) and _declared(facts, value.value, scope) is not None:
        yield Definition(value, scope)
        return
    declared = _declared(facts, value, scope)
    if declared is not None:
        yield declared
        return
    for end in definitions_of(facts, value, scope, EVERYWHERE | Through.CHANGES):
        if not (is_none(end) or (isinstance(end, Parameter) and callers(facts, end.function))):
            yield end


def _declared(facts: FileFacts, value: ast.expr, scope: int) -> Parameter | None:
    """The parameter with an annotation that a name stands for."""
    bound = facts.bindings(value, scope) if isinstance(value, ast.Name) else []
    owner = facts.resolver.owner(value.id, scope) if isinstance(value, ast.Name) else None
    is_declared = len(bound) == 1 and bound[0].kind is BindingKind.PARAMETER and bound[0].annotation is not None
    return Parameter(owner.index, value.id) if is_declared and owner is not None else None  # type: ignore[attr-defined]


def _made(facts: FileFacts, end: End) -> str:
    """The type of what a call makes, or of what a parameter is declared as."""
    made = ""
    if isinstance(end, Parameter):
        bound = facts.symbols.scopes[end.function].bindings[end.name][0]
        name = None if bound.annotation is None else facts.names(bound.annotation, bound.scope).only
        made = facts.resolver.table.made(name) if name else ""
    elif isinstance(end, Definition) and isinstance(end.node, ast.Call):
        made = facts.names(end.node, end.scope).only or ""
    return made if made.endswith("()") and "::" not in made else ""


def _before(end: End) -> tuple[tuple[ast.expr, int], str] | None:
    """The object that a method or a subscript is of, and the step from it: `data` and `map` of `data.map(f)`."""
    if not isinstance(end, Definition):
        return None
    if isinstance(end.node, ast.Call) and isinstance(end.node.func, ast.Attribute):
        return (end.node.func.value, end.scope), end.node.func.attr
    return ((end.node.value, end.scope), _PART) if isinstance(end.node, ast.Subscript) else None
