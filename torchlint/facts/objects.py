"""What of the project an expression may be, what functions give, and what calls run: where edges of calls lead.

An object is named by what gives it (facts/notation.py): `nets.py::Net()` is made by a class, `nets.py::build()` is what
a function returns, `nets.py::build()[1]` a part of that. The project tells the class (project/objects.py).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import msgspec

from torchlint.facts.callees import names_called, names_handed_in
from torchlint.facts.calls import Way, functions_of
from torchlint.facts.classes import attribute_values, base_classes, parts_of, values_of
from torchlint.facts.data_loading.loaders import LOADERS
from torchlint.facts.definitions import seen_values
from torchlint.facts.entries import is_test
from torchlint.facts.file import FileFacts
from torchlint.facts.full_names import Names
from torchlint.facts.functions import choices, decorators_of, is_method, returned_values, yielded_values
from torchlint.facts.grouping import grouped
from torchlint.facts.imported import imported_by_target, is_instantiating
from torchlint.facts.memoizing import followed
from torchlint.facts.notation import (
    Def,
    Member,
    Module,
    Result,
    hangs_on_call,
    is_instance,
    is_module,
    is_of_project,
    is_result,
    last_part,
    maker_of,
    name_in,
    part_of,
    plain,
    qualname_of,
    reference,
    result_of,
)
from torchlint.facts.scopes import Binding, BindingKind, CallSite, Scope, ScopeKind
from torchlint.facts.tensors.methods import is_method_of_tensors
from torchlint.facts.tree import is_own, is_self, is_super, last_word
from torchlint.facts.values import Arguments, argument_of, arguments_of

OWN = "self()"
"""The object that a method is called on, or one of the class that a class method is called on."""
EVERY = "*"
"""In the place of a method: any that is public."""
OF_LOADERS = "dataset"
"""What a data loader keeps, by the name of its argument."""
_MANAGERS = frozenset({"contextlib.contextmanager", "contextlib.asynccontextmanager"})


class GivenObject(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """An object, a class or a function that a function gives to whom calls it."""

    function: str
    name: str
    place: int | None = None
    """Of a part of a tuple."""


@followed(otherwise=())
def objects_of(facts: FileFacts, value: ast.expr, scope: int) -> tuple[str, ...]:
    """The objects of the project that an expression may be."""
    return tuple(dict.fromkeys(_objects(facts, value, scope)))


def _objects(facts: FileFacts, value: ast.expr, scope: int) -> Iterator[str]:
    named = [name for name in names_handed_in(facts, value, scope).of_project if is_result(name)]
    if named:
        yield from named
    elif isinstance(value, ast.Name):
        owner, variable = facts.class_of(scope), facts.variable(value, scope)
        if is_self(value) and owner is not None:
            yield result_of(facts.full_name(owner))
        yield from () if variable is None else _held(facts, *variable)
    elif isinstance(value, ast.Attribute):
        yield from (_kept if is_own(value) else _of_loader)(facts, value, scope)
    elif isinstance(value, ast.Subscript):
        yield from _elements(facts, value.value, scope)
    elif isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        holders = objects_of(facts, value.func.value, scope)
        yield from (result_of(f"{name}.{value.func.attr}") for name in holders)


@followed(otherwise=())
def _held(facts: FileFacts, owner: int, name: str) -> tuple[str, ...]:
    """What all bindings of a name give, wherever it is read."""
    bindings = facts.symbols.scopes[owner].bindings[name]
    return tuple(dict.fromkeys(one for binding in bindings for one in _bound(facts, binding)))


def _kept(facts: FileFacts, own: ast.Attribute, scope: int) -> Iterator[str]:
    """What methods of a class keep in `self`, whole or as a part."""
    owner = facts.class_of(scope)
    if owner is not None:
        for held, where in values_of(facts, owner, own.attr):
            yield from objects_of(facts, held, where)
        for held, where, place in parts_of(facts, owner, own.attr):
            yield from (part_of(name, place) for name in objects_of(facts, held, where))


def _of_loader(facts: FileFacts, attribute: ast.Attribute, scope: int) -> Iterator[str]:
    """`loader.dataset` is what the loader was made with."""
    for value, where in seen_values(facts, attribute.value, scope) if attribute.attr == OF_LOADERS else ():
        if isinstance(value, ast.Call) and not facts.names(value.func, where).names.isdisjoint(LOADERS):
            given = argument_of(value, OF_LOADERS, 0)
            yield from objects_of(facts, given, where) if given is not None else ()


def _bound(facts: FileFacts, binding: Binding) -> Iterator[str]:
    """What a name may be that is bound to a part, to an element, or to what a `with` enters."""
    if binding.value is None:
        return
    if binding.kind is BindingKind.ELEMENT:
        yield from _elements(facts, binding.value, binding.scope)
    elif binding.kind in (BindingKind.PART, BindingKind.ENTERED, BindingKind.ASSIGN):
        held = objects_of(facts, binding.value, binding.scope)
        yield from (part_of(one, binding.position) for one in held) if binding.kind is BindingKind.PART else held


def _elements(facts: FileFacts, collection: ast.expr, scope: int) -> Iterator[str]:
    """What is picked from a list or a table that the file writes out."""
    found = [(collection, scope)]
    if isinstance(collection, ast.Name):
        found = [(one.value, one.scope) for one in facts.bindings(collection, scope) if one.value is not None]
    elif is_own(collection):
        found = attribute_values(facts, collection, scope) or []
    for value, where in found:
        if isinstance(value, ast.ListComp):
            yield from objects_of(facts, value.elt, facts.index.inner_scopes[value].index)
        written = value.values if isinstance(value, ast.Dict) else getattr(value, "elts", [])
        for element in written:
            yield from objects_of(facts, element, where)


def results_of(facts: FileFacts) -> Iterator[GivenObject]:
    """The objects of the project that functions of the file give, as far as they return nothing else in sight."""
    for function in facts.symbols.scopes:
        if function.kind is ScopeKind.FUNCTION:
            yield from dict.fromkeys(_given_by(facts, function))


def _given_by(facts: FileFacts, function: Scope) -> Iterator[GivenObject]:
    values = returned_values(facts, function.index)
    if not values and not _MANAGERS.isdisjoint(decorators_of(facts, function)):
        values = yielded_values(facts, function.index)
    found = [
        GivenObject(function.qualname, name, place)
        for value in (choice for one in values for choice in choices(one))
        for place, part in (enumerate(value.elts) if isinstance(value, ast.Tuple) else [(None, value)])
        for name in _given(facts, part, function)
    ]
    yield from found
    annotation = getattr(function.node, "returns", None)
    if values and not found and annotation is not None:
        declared = facts.resolver.instance_of(annotation, function.index)
        yield from (GivenObject(function.qualname, name) for name in declared.of_project)


def _given(facts: FileFacts, value: ast.expr, function: Scope) -> tuple[str, ...]:
    is_of_own_class = isinstance(value, ast.Call) and getattr(value.func, "id", "") == "cls"
    if is_method(facts, function) and (is_self(value) or is_of_own_class):
        return (OWN,)
    named = [
        name
        for name in facts.names(value, function.index).of_project
        if not isinstance(reference(name), (Module, Result))
    ]
    classes = tuple(name for name in named if qualname_of(name)[:1].isupper())
    is_class = bool(classes) and isinstance(value, ast.Name)
    return classes if is_class else objects_of(facts, value, function.index) or tuple(named)


def called_by(facts: FileFacts, site: CallSite, names: Names) -> Iterator[tuple[str, Arguments]]:
    """The project's functions and classes that a call runs, and what each is given."""
    if names.is_of_library and names.only not in _OFFERING and not is_instantiating(names):
        return  # most calls
    own = project_names(facts, site.node.func, names, site.scope)
    own += _instantiated(facts, site) if is_instantiating(names) else ()
    found = names if names.callees else names_called(facts, site.node.func, site.scope)
    of_project = sorted(set(found.of_project)) if found.of_project else []
    if not own and not is_test(facts.path):
        made = _methods_of_objects(facts, site.node.func, site.scope, found)
        own = [_callee(name) for name in (*made, *picked_by_commands(facts, site, found))]
    if not own and not of_project and (found.complete or isinstance(site.node.func, ast.Attribute)):
        return  # nothing is known of it
    given = arguments_of(site.node)
    partials = {callee.name: callee.partial for callee in found.callees}
    yield from ((name, _with_partials(partials.get(name, ()), given)) for name in own)
    for name in of_project:
        if is_result(name):  # `sample = Sampler(image)`, then `sample(grid)`
            yield _callee(f"{name}.__call__"), given
        elif _callee(name) not in own and not is_module(name):  # kept, or handed over
            yield _callee(name), given
    for target in functions_of(facts, site.node.func, site.scope) if not own else ():
        # made by a function, or picked from a table
        if target is not None and target.way is Way.CALLED and target.function.kind is ScopeKind.FUNCTION:
            yield facts.full_name(target.function.index), given


def project_names(facts: FileFacts, expression: ast.expr, names: Names, scope: int) -> list[str]:
    own = list(_own_method(facts, expression, scope)) if isinstance(expression, ast.Attribute) else []
    if own or not names.of_project:
        return own
    return [_callee(name) for name in names.of_project if not isinstance(reference(name), (Module, Result))]


def _callee(name: str) -> str:
    """A method by its class: `net.py::Net.step`; of what a function gives, the project tells the class."""
    match reference(name):
        case Member(Result(Def(_, owner)), method) if last_part(owner)[:1].isupper() and method != EVERY:
            return plain(name)
    return name


def _instantiated(facts: FileFacts, site: CallSite) -> list[str]:
    """The classes of the object that settings describe, and of those that it is made with."""
    made = {maker_of(one) for one in facts.names(site.node, site.scope).of_project}
    return sorted({*made, *imported_by_target(facts.resolver, site.node, inside=True).of_project})


def _methods_of_objects(facts: FileFacts, function: ast.expr, scope: int, names: Names) -> Iterator[str]:
    """The method that a call runs of an object which a file keeps, a function gives, or a loader has for its data."""
    if not isinstance(function, ast.Attribute) or is_method_of_tensors(function.attr):
        return
    if not names.callees or getattr(function.value, "attr", "") == OF_LOADERS:
        yield from (f"{name}.{function.attr}" for name in objects_of(facts, function.value, scope))


def _with_partials(partials: tuple[ast.Call, ...], given: Arguments) -> Arguments:
    """Literals that partials give come first; what else they give is evaluated elsewhere, and not seen."""
    unseen = ast.Constant(...)
    for partial in partials:
        bound = [one if isinstance(one, ast.Constant) else unseen for one in partial.args[1:]]
        named = [(one.arg, one.value if isinstance(one.value, ast.Constant) else unseen) for one in partial.keywords]
        given = (*bound, *given[0]), (*named, *given[1])
    return given


def _own_method(facts: FileFacts, expression: ast.Attribute, scope: int) -> Iterator[str]:
    """The method of a class itself, its bases or what it keeps: `self.step()`, `super().step()`, `self.net.step()`."""
    value, owner = expression.value, facts.class_of(scope)
    if owner is None or (isinstance(value, ast.Name) and value.id not in ("self", "cls")):
        return
    qualname = facts.symbols.scopes[owner].qualname
    for made, where in attribute_values(facts, value, scope) or ():
        for name in sorted(set(facts.names(made, where).of_project)):
            if is_result(name):
                yield _callee(f"{name}.{expression.attr}")
    if isinstance(value, ast.Name) and value.id in ("self", "cls"):
        yield f"{facts.full_name(owner)}.{expression.attr}"
    elif is_super(value):
        for name, base in base_classes(facts):
            if name == qualname and is_of_project(base):
                yield f"{base}.{expression.attr}"


_OFFERING = frozenset({"fire.Fire", "jsonargparse.CLI", "jsonargparse.auto_cli"})
"""Calls that make commands of the methods of what they are given, else of the functions of the file (fire, core.py)."""


def picked_by_commands(facts: FileFacts, site: CallSite, names: Names) -> Iterator[str]:
    """The functions and methods that a call runs because the command line says so."""
    call = site.node
    if names.only not in _OFFERING:
        is_kept = isinstance(call.func, ast.Attribute) and not names.of_project
        yield from facts.cached(_defaults).get(last_word(call.func), ()) if is_kept else ()
    elif not call.args:
        functions = (one for one in facts.symbols.scopes if one.kind is ScopeKind.FUNCTION and one.parent == 0)
        yield from (name_in(facts.path, one.name) for one in functions if not one.name.startswith("_"))
    else:
        given, scope = call.args[0], site.scope
        for name in (*facts.names(given, scope).of_project, *objects_of(facts, given, scope)):
            made = result_of(maker_of(name))
            if is_instance(made):
                yield from (maker_of(name), f"{made}.{EVERY}")


def _defaults(facts: FileFacts) -> dict[str, list[str]]:
    """The functions that `parser.set_defaults(func=train)` keeps for `args.func`."""
    given = ((one, site.scope) for site in facts.calls.find(words=("set_defaults",)) for one in site.node.keywords)
    named = ((one.arg or "", facts.names(one.value, scope).of_project) for one, scope in given)
    return grouped((option, name) for option, names in named for name in names if not hangs_on_call(name))
