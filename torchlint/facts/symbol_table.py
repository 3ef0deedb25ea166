"""What one pass over the syntax tree of a file found."""

from __future__ import annotations

import ast

import msgspec

from torchlint.facts.scopes import Assignment, AssignSite, CallSite, ImportTarget, Scope


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
