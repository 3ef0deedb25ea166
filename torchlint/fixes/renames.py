"""Fixes of functions that have another name today."""

from __future__ import annotations

import ast

from torchlint.facts.scopes import BindingKind
from torchlint.fixes.calls import arguments_of
from torchlint.fixes.code import FileCode
from torchlint.fixes.plan import Plan, plan
from torchlint.fixes.spot import Spot
from torchlint.source.edits import Replacement

_NAMES = {
    "torch.set_deterministic": "use_deterministic_algorithms",
    "torch.is_deterministic": "are_deterministic_algorithms_enabled",
}


def renamed_switch(spot: Spot) -> Plan | None:
    """`torch.set_deterministic(d=True)` → `torch.use_deterministic_algorithms(mode=True)`."""
    call = spot.call
    name = None if call is None else _NAMES.get(spot.full_name(call.func))
    if call is None or name is None or spot.code.is_in_string(call):
        return None
    arguments = arguments_of(spot.code, call)
    keyword = None if arguments is None else arguments.named("d")
    changes = [] if keyword is None else [Replacement(*keyword.start, keyword.start[0], keyword.start[1] + 1, "mode")]
    function = call.func
    if isinstance(function, ast.Attribute):
        line, end = spot.code.end(function)
        return plan([Replacement(line, end - len(function.attr), line, end, name), *changes], is_safe=False)
    if not isinstance(function, ast.Name):
        return None
    renamed = _imported_anew(spot, function, name)
    return None if renamed is None else plan([*renamed, *changes], is_safe=False)


def _imported_anew(spot: Spot, read: ast.Name, name: str) -> list[Replacement] | None:
    """Another name in `from torch import set_deterministic`, and wherever it is read unless the import renames it."""
    facts = spot.facts
    owner = facts.resolver.owner(read.id, spot.scope_of(read))
    bindings = facts.bindings(read, spot.scope_of(read))
    if owner is None or len(bindings) != 1 or bindings[0].kind is not BindingKind.IMPORT:
        return None
    statement = bindings[0].statement
    if not isinstance(statement, ast.ImportFrom):
        return None
    alias = next(one for one in statement.names if (one.asname or one.name) == read.id)
    changes = [imported_as(spot.code, alias, name)]
    reads = [] if alias.asname else facts.index.reads(owner.index, read.id)
    if any(spot.code.is_in_string(one) for one in reads):
        return None
    return [*changes, *(spot.code.replaced(one, name) for one in reads)]


def imported_as(code: FileCode, alias: ast.alias, name: str) -> Replacement:
    """Another name in an import; what it is called in this file stays."""
    line, column = code.start(alias)
    return Replacement(line, column, line, column + len(alias.name), name)
