"""Where a value comes into other files, for rules that must see all that becomes of it: who may get at it counts."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from torchlint.facts.calls import function_named
from torchlint.facts.classes import base_classes
from torchlint.facts.flow.values import Exit, Field, Given, Move, Override, Value
from torchlint.facts.scopes import BindingKind, ImportTarget

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts
    from torchlint.project.index import Project

Entrances = list[Move]
_NOWHERE = ast.Name("value", ast.Load())


def paths_behind(project: Project, exit_: Exit) -> list[str]:
    """The files that may get at a value by an exit."""
    home, _, qualname = exit_.symbol.partition("::")
    if isinstance(exit_.port, int | str):
        return [home]
    is_of_module = isinstance(exit_.port, Field) and not qualname
    word = exit_.port.name if isinstance(exit_.port, Field) and is_of_module else qualname.rpartition(".")[2]
    importing = project.once(_importers)
    found, waiting = set[str](), [home]
    while waiting:
        new = importing.get(waiting.pop(), set()) - found
        found |= new
        waiting += new
    return project.texts.naming(re.compile(rb"\b%s\b" % re.escape(word.encode())), found - {home})


def _importers(project: Project) -> Mapping[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for path, summary in project.summaries.items():
        for one in summary.imports:
            found[one.path].add(path)
    return found


def entrances(facts: FileFacts, exit_: Exit) -> Entrances | None:
    """Where a value comes into a file; None where that is not seen."""
    value = Value(_NOWHERE, exit_.path, exit_.label)
    if isinstance(exit_.port, int | str):
        target = function_named(facts, exit_.symbol)
        parameter = None if target is None else target.parameter_at(exit_.port)
        return [Given(target.function.index, parameter, value)] if target is not None and parameter else None
    if exit_.symbol.endswith("::") and isinstance(exit_.port, Field):
        return _whole(_from_module(facts, exit_.symbol, exit_.port.name, value))
    if not isinstance(exit_.port, Field | Override):
        return _whole(_results(facts, exit_.symbol, value))
    if any(base == exit_.symbol for _, base in base_classes(facts)):
        return None  # an heir may do anything with what its base has
    return [] if isinstance(exit_.port, Override) else _whole(_objects(facts, exit_.symbol, exit_.port, value))


def _whole(found: Iterable[Move | None]) -> Entrances | None:
    moves = list(found)
    known = [move for move in moves if move is not None]
    return known if len(known) == len(moves) else None


def _results(facts: FileFacts, symbol: str, value: Value) -> Iterator[Value | None]:
    """The calls of a function."""
    is_method = "." in symbol.partition("::")[2]
    for node in _references(facts):
        names = facts.names(node, facts.index.inner_scope_of(node))
        is_alike = is_method and isinstance(node, ast.Attribute) and node.attr == symbol.rpartition(".")[2]
        if symbol in {name.replace("().", ".") for name in names.names}:
            call = facts.index.parents[node]
            yield value.at(call) if isinstance(call, ast.Call) and call.func is node else None
        elif is_alike and not names.complete:
            yield None


def _objects(facts: FileFacts, symbol: str, field: Field, value: Value) -> Iterator[Value | None]:
    """The calls that make objects of a class, which hold the value in a field."""
    for node in _references(facts):
        if symbol in facts.names(node, facts.index.inner_scope_of(node)).names:
            above = facts.index.parents[node]
            if isinstance(above, ast.Call) and above.func is node:
                inside = value.inside(field, above)
                yield inside[0] if inside else None
            elif not isinstance(above, ast.arg | ast.AnnAssign | ast.FunctionDef):
                yield None


def _references(facts: FileFacts) -> Iterator[ast.Name | ast.Attribute]:
    for node in facts.index.parents:
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
            yield node


def _from_module(facts: FileFacts, module: str, name: str, value: Value) -> Iterator[Move | None]:
    """The reads of a module's own name."""
    home = module.removesuffix("::")
    for scope in facts.reading.scopes:
        for held, bindings in scope.bindings.items():
            targets = [one.target for one in bindings if one.kind is BindingKind.IMPORT and one.target is not None]
            if any(target.name == name and _leads_to(facts, target, home) for target in targets):
                yield from (value.at(read) for read in facts.index.reads(scope.index, held))
                if scope.index == 0:
                    yield Exit(f"{facts.path}::", Field(held), value.path, value.label)
        if any(_leads_to(facts, star, home) for star in scope.stars):
            yield None
    for node in _references(facts):
        if isinstance(node, ast.Attribute) and node.attr == name:
            base = facts.names(node.value, facts.index.inner_scope_of(node))
            if module in base.names:
                yield value.at(node)
            elif not base.complete or any(one.endswith("::") for one in base.names):
                yield None  # a module may have it from the other one


def _leads_to(facts: FileFacts, target: ImportTarget, home: str) -> bool:
    """Whether an import asks a module, or one that may have all its names from it."""
    found = facts.resolver.modules.find(target, facts.path)
    return found is not None and (found.path == home or bool(found.reading.scopes[0].stars))
