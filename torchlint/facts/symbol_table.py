"""What one pass over the syntax tree of a file found."""

from __future__ import annotations

import ast

import msgspec

from torchlint.facts.scopes import (
    Assignment,
    AssignSite,
    CallSite,
    ImportTarget,
    Scope,
)


class SymbolTable(msgspec.Struct):
    """What one pass over a tree found, in source order."""

    scopes: list[Scope]
    calls: list[CallSite] = msgspec.field(default_factory=list)
    assignments: list[Assignment] = msgspec.field(default_factory=list)
    imports: list[tuple[ImportTarget, int]] = msgspec.field(default_factory=list)
    """Every import with the scope it stands in."""
    parents: dict[ast.stmt, ast.stmt | None] = msgspec.field(default_factory=dict)
    """The statement each statement stands in."""
    scope_of: dict[ast.stmt, int] = msgspec.field(default_factory=dict)
    """The scope each statement stands in."""
    assign_sites: list[AssignSite] = msgspec.field(default_factory=list)


def shrink(symbols: SymbolTable) -> None:
    """Forget all but what other files may ask: the names that the module binds. Trees are large."""
    for kept in (symbols.calls, symbols.assignments, symbols.imports, symbols.assign_sites):
        kept.clear()
    symbols.parents.clear()
    symbols.scope_of.clear()
    for scope in symbols.scopes[1:]:
        scope.bindings.clear()
        scope.node = symbols.scopes[0].node
    for bindings in symbols.scopes[0].bindings.values():
        for binding in bindings:
            binding.statement = None
