"""Where a value that another file hands on comes into this one."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchlint.facts.calls import function_named
from torchlint.facts.classes import base_names, family_of
from torchlint.facts.flow.stores import Sanitizer, constructions_of, unless_sanitized
from torchlint.facts.flow.values import Exit, Field, Given, Move, Value
from torchlint.facts.scopes import ImportTarget, ScopeKind

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

_NOWHERE = ast.Name("value", ast.Load())
"""What stands for the value in the other file."""


def entrances(facts: FileFacts, exit_: Exit, sanitizes: Sanitizer) -> Iterator[Move]:
    """Where a value comes into a file."""
    if isinstance(exit_.port, int | str):
        target = function_named(facts, exit_.symbol)
        parameter = None if target is None else target.parameter_at(exit_.port)
        if target is not None and parameter is not None:
            yield Given(target.function.index, parameter, Value(_NOWHERE, exit_.path, exit_.label))
    elif isinstance(exit_.port, Field) and exit_.symbol.endswith("::"):
        value, home = Value(_NOWHERE, exit_.path, exit_.label), exit_.symbol.removesuffix("::")
        reads = list(_reads_of_global(facts, home, exit_.port.name))
        yield from unless_sanitized(facts, reads, value, None, sanitizes)
    elif isinstance(exit_.port, Field):
        value = Value(_NOWHERE, exit_.path, exit_.label)
        reads_of_field = _reads_of_field(facts, exit_.symbol, exit_.port.name)
        yield from unless_sanitized(facts, reads_of_field, value, None, sanitizes)
        for call in constructions_of(facts, {exit_.symbol}):
            yield from value.inside(exit_.port, call)
    else:
        for site in facts.reading.calls:
            if exit_.symbol in {plain(name) for name in facts.names(site.node.func, site.scope).names}:
                yield Value(site.node, exit_.path, exit_.label)


def plain(symbol: str) -> str:
    """A method or class without the mark of an object: `net.py::Net().step` is `net.py::Net.step`."""
    return symbol.replace("()", "")


def _reads_of_field(facts: FileFacts, symbol: str, name: str) -> list[ast.Attribute]:
    """What reads an attribute in the heirs of another file's class."""
    scopes = facts.reading.scopes
    heirs = [s.index for s in scopes if s.kind is ScopeKind.CLASS and symbol in base_names(facts, s.index)]
    family = frozenset[int]().union(*(family_of(facts, heir) for heir in heirs))
    reads = facts.index.own_attributes(name)
    return [read for read in reads if facts.class_of(facts.index.scope_of(read)) in family]


def _reads_of_global(facts: FileFacts, path: str, name: str) -> Iterator[ast.expr]:
    """What reads a name of another file's module: `from defaults import NAMES`, `defaults.NAMES`."""
    for scope in facts.reading.scopes:
        for bound, bindings in scope.bindings.items():
            for target in (one.target for one in bindings if one.target is not None):
                if target.name == name and _located(facts, target.module, target.level) == path:
                    yield from facts.index.reads(scope.index, bound)
                elif _module_of(facts, target) == path:
                    above = (facts.index.parents[read] for read in facts.index.reads(scope.index, bound))
                    yield from (one for one in above if isinstance(one, ast.Attribute) and one.attr == name)


def _module_of(facts: FileFacts, target: ImportTarget) -> str | None:
    """The file that an import makes a name stand for."""
    dotted = ".".join(part for part in (target.module, target.name) if part)
    return _located(facts, dotted, target.level)


def _located(facts: FileFacts, module: str, level: int) -> str | None:
    return facts.resolver.modules.locate(ImportTarget(module, None, level), facts.path)
