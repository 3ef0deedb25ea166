"""Where a value comes into other files, and whether that is all they may do with it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec.structs import replace

from torchlint.facts.calls import function_named
from torchlint.facts.classes import base_classes
from torchlint.facts.flow.references import is_named, is_only_called, is_only_made, plain, references
from torchlint.facts.flow.stores import Sanitizer, constructions_of, reads_of_field, unless_sanitized
from torchlint.facts.flow.values import Exit, Field, Given, Move, Others, Value, Written
from torchlint.facts.graphs import reached
from torchlint.facts.order.files import reads_of
from torchlint.facts.scopes import BindingKind, ImportTarget

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts
    from torchlint.project.index import Project

_NOWHERE = ast.Name("value", ast.Load())


def entrances(facts: FileFacts, exit_: Exit, sanitizes: Sanitizer, calls: tuple[ast.Call, ...] = ()) -> Iterator[Move]:
    """Where a value comes into a file. `calls` are those by which it comes as an argument."""
    value = Value(_NOWHERE, exit_.path, exit_.label)
    if isinstance(exit_.port, int | str):
        target = function_named(facts, exit_.symbol)
        parameter = None if target is None else target.parameter_at(exit_.port)
        if target is not None and parameter is not None:
            yield Given(target.function.index, parameter, replace(value, calls=calls))
    elif isinstance(exit_.port, Field) and exit_.symbol.endswith("::"):
        yield from _imported(facts, exit_.symbol, exit_.port.name, value, sanitizes)
    elif isinstance(exit_.port, Field):
        reads = reads_of_field(facts, exit_.symbol, exit_.port.name)
        yield from unless_sanitized(facts, reads, value, None, sanitizes)
        for call in constructions_of(facts, {exit_.symbol}):
            yield from value.inside(exit_.port, call)
    elif isinstance(exit_.port, Written):
        yield from map(value.at, reads_of(facts, exit_.port.name))
    elif exit_.port is None:
        for site in facts.symbols.calls:
            if exit_.symbol in {plain(name) for name in facts.names(site.node.func, site.scope).names}:
                yield value.at(site.node)


def _imported(facts: FileFacts, module: str, name: str, value: Value, sanitizes: Sanitizer) -> Iterator[Move]:
    """The reads of a module's own name."""
    reads: list[ast.expr] = []
    for scope in facts.symbols.scopes:
        for held, bindings in scope.bindings.items():
            targets = [one.target for one in bindings if one.kind is BindingKind.IMPORT and one.target is not None]
            if any(target.name == name and _leads_to(facts, target, module) for target in targets):
                reads += facts.index.reads(scope.index, held)
                if scope.index == 0:
                    yield Exit(f"{facts.path}::", Field(held), value.path, value.label)
    for node in references(facts, name):
        if isinstance(node, ast.Attribute) and node.attr == name and module in _names_of(facts, node.value):
            reads.append(node)
    yield from unless_sanitized(facts, reads, value, None, sanitizes)


def _leads_to(facts: FileFacts, target: ImportTarget, module: str) -> bool:
    """Whether an import asks a module, or one that may have all its names from it."""
    found = facts.resolver.modules.find(target, facts.path)
    return found is not None and (f"{found.path}::" == module or bool(found.symbols.scopes[0].stars))


def _names_of(facts: FileFacts, node: ast.expr) -> frozenset[str]:
    return facts.names(node, facts.index.inner_scope_of(node)).names


def are_all_seen(facts: FileFacts, exit_: Exit) -> bool:
    """Whether a file gets at a value by an exit only where it is seen to."""
    if isinstance(exit_.port, int | str):
        return any(True for _ in entrances(facts, exit_, lambda _: False))
    if exit_.port is None:
        return is_only_called(facts, exit_.symbol)
    if isinstance(exit_.port, Field) and exit_.symbol.endswith("::"):
        return not _may_have_more(facts, exit_.symbol, exit_.port.name)
    if exit_.port == Others():
        return not is_named(facts, exit_.symbol)
    if any(base == exit_.symbol for _, base in base_classes(facts)):
        return False  # an heir may do anything with what its base has
    return exit_.port == Others(are_heirs=True) or is_only_made(facts, exit_.symbol)


def _may_have_more(facts: FileFacts, module: str, name: str) -> bool:
    """Whether a file may read a name of a module by a star, or from a module that is not known."""
    if any(_leads_to(facts, star, module) for scope in facts.symbols.scopes for star in scope.stars):
        return True
    asked = (node.value for node in references(facts, name) if isinstance(node, ast.Attribute) and node.attr == name)
    others = [names for node in asked if module not in (names := _names_of(facts, node))]
    return any(not names or any(one.endswith("::") for one in names) for names in others)


def paths_in_sight(project: Project, exit_: Exit) -> list[str]:
    """The files that may get at a value by an exit."""
    home, _, qualname = exit_.symbol.partition("::")
    if isinstance(exit_.port, int | str):
        return [home]
    word = exit_.port.name if isinstance(exit_.port, Field) and not qualname else qualname.rpartition(".")[2]
    found = reached([home], lambda path: project.importers.get(path, ()))
    return project.texts.naming(word, found[1:])
