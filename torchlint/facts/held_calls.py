"""Methods of what a function is handed by other files: `model.generate(x)` where `model` is a parameter, or was one."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import msgspec

from torchlint.facts.callees import callers_by_name, names_called
from torchlint.facts.calls import called_at
from torchlint.facts.classes import attribute_values
from torchlint.facts.tensors.methods import is_method_of_tensors
from torchlint.facts.tree import is_own

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts
    from torchlint.facts.scopes import CallSite


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
    if parameter in (None, "self", "cls") or index is None or callers_by_name(facts, index):
        return None
    held_by = facts.symbols.scopes[index]
    return Holder(held_by.qualname, parameter, called_at(facts, held_by, parameter))
