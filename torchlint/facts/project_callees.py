"""The functions and classes of the project that a call runs, as far as names tell: where edges of calls lead."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.facts.callees import names_called
from torchlint.facts.calls import Way, functions_of
from torchlint.facts.classes import attribute_values, base_classes
from torchlint.facts.entries import is_test
from torchlint.facts.file import FileFacts
from torchlint.facts.flow.references import plain
from torchlint.facts.full_names import Names
from torchlint.facts.grouping import grouped
from torchlint.facts.imported import imported_by_target, is_instantiating
from torchlint.facts.moves import is_instance
from torchlint.facts.objects import EVERY, OF_LOADERS, objects_of
from torchlint.facts.scopes import CallSite, ScopeKind
from torchlint.facts.tensors.methods import is_method_of_tensors
from torchlint.facts.tree import is_super, last_word
from torchlint.facts.values import Arguments, arguments_of


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
    for name in own:
        yield name, _with_partials(partials.get(name, ()), given)
    for name in of_project:
        if name.endswith("()"):  # `sample = Sampler(image)`, then `sample(grid)`
            yield _callee(f"{name}.__call__"), given
        elif _callee(name) not in own and not name.endswith("::"):  # kept, or handed over
            yield _callee(name), given
    for target in functions_of(facts, site.node.func, site.scope) if not own else ():
        # made by a function, or picked from a table
        if target is not None and target.way is Way.CALLED and target.function.kind is ScopeKind.FUNCTION:
            yield f"{facts.path}::{target.function.qualname}", given


def project_names(facts: FileFacts, expression: ast.expr, names: Names, scope: int) -> list[str]:
    own = list(_own_method(facts, expression, scope)) if isinstance(expression, ast.Attribute) else []
    if own or not names.of_project:
        return own
    return [_callee(name) for name in names.of_project if not name.endswith(("::", "()"))]


def _callee(name: str) -> str:
    """A method by its class: `net.py::Net.step`; of what a function gives, the project tells the class."""
    owner = name.rpartition(".")[0]
    is_told = is_instance(owner) and owner.count("()") == 1 and not name.endswith(EVERY)
    return plain(name) if is_told else name


def _instantiated(facts: FileFacts, site: CallSite) -> list[str]:
    """The classes of the object that settings describe, and of those that it is made with."""
    made = {one.removesuffix("()") for one in facts.names(site.node, site.scope).of_project}
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
            if name.endswith("()"):
                yield _callee(f"{name}.{expression.attr}")
    if isinstance(value, ast.Name) and value.id in ("self", "cls"):
        yield f"{facts.path}::{qualname}.{expression.attr}"
    elif is_super(value):
        for name, base in base_classes(facts):
            if name == qualname and "::" in base:
                yield f"{base}.{expression.attr}"


_KEEPING = "set_defaults"
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
        yield from (f"{facts.path}::{one.name}" for one in functions if not one.name.startswith("_"))
    else:
        given, scope = call.args[0], site.scope
        for name in (*facts.names(given, scope).of_project, *objects_of(facts, given, scope)):
            made = f"{name.removesuffix('()')}()"
            if is_instance(made):
                yield from (name.removesuffix("()"), f"{made}.{EVERY}")


def _defaults(facts: FileFacts) -> dict[str, list[str]]:
    """The functions that `parser.set_defaults(func=train)` keeps for `args.func`."""
    given = ((one, site.scope) for site in facts.calls.find(words=(_KEEPING,)) for one in site.node.keywords)
    named = ((one.arg or "", facts.names(one.value, scope).of_project) for one, scope in given)
    return grouped((option, name) for option, names in named for name in names if "()" not in name)
