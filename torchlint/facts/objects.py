"""Which objects of the project an expression may be, and which ones functions give.

An object is written by the full name of what gives it: `nets.py::Net()` for what a class makes, `nets.py::build()` for
what a function returns, `nets.py::build()[1]` for a part of that. The project tells the class (project/objects.py).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import msgspec

from torchlint.facts.callees import names_handed_in
from torchlint.facts.classes import attribute_values, parts_of, values_of
from torchlint.facts.data_loading.loaders import LOADERS
from torchlint.facts.definitions import seen_values
from torchlint.facts.file import FileFacts
from torchlint.facts.functions import choices, decorators_of, is_method, returned_values, yielded_values
from torchlint.facts.memoizing import memoized
from torchlint.facts.scopes import Binding, BindingKind, Scope, ScopeKind
from torchlint.facts.tree import is_own, is_self
from torchlint.facts.values import argument_of

OWN = "self()"
"""The object that a method is called on, or one of the class that a class method is called on."""
EVERY = "*"
"""In the place of a method: any that is public."""
OF_LOADERS = "dataset"
"""What a data loader keeps, by the name of its argument."""
_DEPTH = 4
_MANAGERS = frozenset({"contextlib.contextmanager", "contextlib.asynccontextmanager"})


class Result(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """An object, a class or a function that a function gives to whom calls it."""

    function: str
    name: str
    place: int | None = None
    """Of a part of a tuple."""


@memoized
def objects_of(facts: FileFacts, value: ast.expr, scope: int, depth: int = _DEPTH) -> tuple[str, ...]:
    """The objects of the project that an expression may be."""
    return tuple(dict.fromkeys(_objects(facts, value, scope, depth))) if depth else ()


def _objects(facts: FileFacts, value: ast.expr, scope: int, depth: int) -> Iterator[str]:
    named = [name for name in names_handed_in(facts, value, scope).of_project if name.endswith("()")]
    if named:
        yield from named
    elif isinstance(value, ast.Name):
        owner, variable = facts.class_of(scope), facts.variable(value, scope)
        if is_self(value) and owner is not None:
            yield f"{facts.path}::{facts.symbols.scopes[owner].qualname}()"
        yield from () if variable is None else _held(facts, *variable, depth)
    elif isinstance(value, ast.Attribute):
        yield from (_kept if is_own(value) else _of_loader)(facts, value, scope, depth)
    elif isinstance(value, ast.Subscript):
        yield from _elements(facts, value.value, scope, depth - 1)
    elif isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        holders = objects_of(facts, value.func.value, scope, depth - 1)
        yield from (f"{name}.{value.func.attr}()" for name in holders)


@memoized
def _held(facts: FileFacts, owner: int, name: str, depth: int) -> tuple[str, ...]:
    """What all bindings of a name give, wherever it is read."""
    bindings = facts.symbols.scopes[owner].bindings[name]
    return tuple(dict.fromkeys(one for binding in bindings for one in _bound(facts, binding, depth)))


def _kept(facts: FileFacts, own: ast.Attribute, scope: int, depth: int) -> Iterator[str]:
    """What methods of a class keep in `self`, whole or as a part."""
    owner = facts.class_of(scope)
    if owner is not None:
        for held, where in values_of(facts, owner, own.attr):
            yield from objects_of(facts, held, where, depth - 1)
        for held, where, place in parts_of(facts, owner, own.attr):
            yield from (f"{name}[{place}]" for name in objects_of(facts, held, where, depth - 1))


def _of_loader(facts: FileFacts, attribute: ast.Attribute, scope: int, depth: int) -> Iterator[str]:
    """`loader.dataset` is what the loader was made with."""
    for value, where in seen_values(facts, attribute.value, scope) if attribute.attr == OF_LOADERS else ():
        if isinstance(value, ast.Call) and not facts.names(value.func, where).names.isdisjoint(LOADERS):
            given = argument_of(value, OF_LOADERS, 0)
            yield from objects_of(facts, given, where, depth - 1) if given is not None else ()


def _bound(facts: FileFacts, binding: Binding, depth: int) -> Iterator[str]:
    """What a name may be that is bound to a part, to an element, or to what a `with` enters."""
    if binding.value is None:
        return
    if binding.kind is BindingKind.ELEMENT:
        yield from _elements(facts, binding.value, binding.scope, depth - 1)
    elif binding.kind in (BindingKind.PART, BindingKind.ENTERED, BindingKind.ASSIGN):
        place = f"[{binding.position}]" if binding.kind is BindingKind.PART else ""
        yield from (f"{one}{place}" for one in objects_of(facts, binding.value, binding.scope, depth - 1))


def _elements(facts: FileFacts, collection: ast.expr, scope: int, depth: int) -> Iterator[str]:
    """What is picked from a list or a table that the file writes out."""
    found = [(collection, scope)]
    if isinstance(collection, ast.Name):
        found = [(one.value, one.scope) for one in facts.bindings(collection, scope) if one.value is not None]
    elif is_own(collection):
        found = attribute_values(facts, collection, scope) or []
    for value, where in found:
        if isinstance(value, ast.ListComp):
            yield from objects_of(facts, value.elt, facts.index.inner_scopes[value].index, depth)
        written = value.values if isinstance(value, ast.Dict) else getattr(value, "elts", [])
        for element in written:
            yield from objects_of(facts, element, where, depth)


def results_of(facts: FileFacts) -> Iterator[Result]:
    """The objects of the project that functions of the file give, as far as they return nothing else in sight."""
    for function in facts.symbols.scopes:
        if function.kind is ScopeKind.FUNCTION:
            yield from dict.fromkeys(_given_by(facts, function))


def _given_by(facts: FileFacts, function: Scope) -> Iterator[Result]:
    values = returned_values(facts, function.index)
    if not values and not _MANAGERS.isdisjoint(decorators_of(facts, function)):
        values = yielded_values(facts, function.index)
    found = [
        Result(function.qualname, name, place)
        for value in (choice for one in values for choice in choices(one))
        for place, part in (enumerate(value.elts) if isinstance(value, ast.Tuple) else [(None, value)])
        for name in _given(facts, part, function)
    ]
    yield from found
    annotation = getattr(function.node, "returns", None)
    if values and not found and annotation is not None:
        declared = facts.resolver.instance_of(annotation, function.index)
        yield from (Result(function.qualname, name) for name in declared.of_project)


def _given(facts: FileFacts, value: ast.expr, function: Scope) -> tuple[str, ...]:
    is_of_own_class = isinstance(value, ast.Call) and getattr(value.func, "id", "") == "cls"
    if is_method(facts, function) and (is_self(value) or is_of_own_class):
        return (OWN,)
    named = [name for name in facts.names(value, function.index).of_project if not name.endswith(("()", "::"))]
    classes = tuple(name for name in named if name.rpartition("::")[2][:1].isupper())
    is_class = bool(classes) and isinstance(value, ast.Name)
    return classes if is_class else objects_of(facts, value, function.index) or tuple(named)
