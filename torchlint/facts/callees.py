"""What a call stands for by name, also where a class keeps it, or calls hand it over: in this file, or in others."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import msgspec

from torchlint.facts.calls import called_at, callers
from torchlint.facts.classes import attribute_values, bases_of
from torchlint.facts.full_names import Names, public_name, union_of
from torchlint.facts.grouping import grouped
from torchlint.facts.memoizing import memoized
from torchlint.facts.notation import is_result
from torchlint.facts.tensors.methods import is_method_of_tensors
from torchlint.facts.tree import is_own, is_self, is_super

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts, Places
    from torchlint.facts.scopes import CallSite


def names_called(facts: FileFacts, function: ast.expr, scope: int) -> Names:
    """What is called; `self.criterion(...)` is a call of the instance or the function that the class keeps there.

    What a parameter is, calls in the file say: others may give another. `super().__init__(...)` makes what a base makes
    that is none of the project's: `nn.Conv2d`.
    """
    names = facts.names(function, scope)
    if isinstance(function, ast.Attribute) and function.attr == "__init__" and is_super(function.value):
        owner = facts.class_of(scope)
        bases = [] if owner is None else bases_of(facts, facts.symbols.scopes[owner])
        return union_of([base for base in bases[:1] if not base.of_project])
    if names.callees or not isinstance(getattr(function, "value", function), ast.Name):
        return names  # what is deeper inside than `self.net` or `net.step` is neither kept nor handed over
    if isinstance(function, ast.Attribute) and not is_self(function.value) and is_method_of_tensors(function.attr):
        return names
    return _names_held(facts, function, scope)


@memoized
def runs_of(facts: FileFacts) -> Places:
    """The calls of a file by the names of what they may run, as people write them; under "" where none is known."""
    called = (names_called(facts, site.node.func, site.scope).names for site in facts.symbols.calls)
    return grouped((public_name(name), place) for place, names in enumerate(called) for name in names or ("",))


@memoized
def _names_held(facts: FileFacts, function: ast.expr, scope: int) -> Names:
    values = attribute_values(facts, function, scope) or [(function, scope)]
    return union_of([names_handed_in(facts, value, where) for value, where in values])


def names_handed_in(facts: FileFacts, value: ast.expr, scope: int) -> Names:
    """What a value stands for; a parameter, or a method of one, for what calls in the file give."""
    names = facts.names(value, scope)
    if names.callees:
        return names
    if isinstance(value, ast.Attribute):
        if not isinstance(value.value, ast.Name) or is_method_of_tensors(value.attr):
            return names
        held = names_handed_in(facts, value.value, scope).of_project
        methods = [facts.resolver.member(name, value.attr) for name in held if is_result(name)]
        return union_of(methods, complete=False)
    parameter, function = facts.parameter_named(value, scope), facts.function_of(scope)
    return names if parameter is None or function is None else _names_given(facts, function, parameter)


@memoized
def _names_given(facts: FileFacts, function: int, parameter: str) -> Names:
    given = (target.argument(parameter) for _, target in callers(facts, function))
    return union_of([facts.names(*one) for one in given if one is not None], complete=False)


class Holder(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The parameter that holds an object which other files make."""

    function: str
    """The qualified name of the function that has it."""
    parameter: str
    place: int | None
    """Among the arguments of a call."""


def holder_of(facts: FileFacts, site: CallSite) -> Holder | None:
    """The parameter whose method a call runs, where no call in the file says what that is."""
    function, scope = site.node.func, site.scope
    if not isinstance(function, ast.Attribute) or is_method_of_tensors(function.attr):
        return None
    is_kept = isinstance(function.value, ast.Name) or is_own(function.value)
    if not is_kept or names_called(facts, function, scope).callees:
        return None
    values = attribute_values(facts, function.value, scope) or [(function.value, scope)]
    parameter = facts.parameter_named(*values[0]) if len(values) == 1 else None
    index = None if parameter is None else facts.function_of(values[0][1])
    if parameter in (None, "self", "cls") or index is None or callers(facts, index):
        return None
    held_by = facts.symbols.scopes[index]
    return Holder(held_by.qualname, parameter, called_at(facts, held_by, parameter))
