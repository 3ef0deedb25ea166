"""TL604 legacy-amp: mixed-precision interfaces that are deprecated."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.checks.framework.registration import Finding, Triggers, check
from torchlint.checks.framework.visit import Visit, spelling_of
from torchlint.facts.control.conditions import asks_for_release, is_for_some_releases, tests_around
from torchlint.facts.file import FileFacts
from torchlint.facts.scopes import BindingKind, CallSite

_CODE = "TL604"
_SINCE = ">=2.4"
OF_TORCH = {
    f"torch.{device}.amp.{home}{name}": f"torch.amp.{name}"
    for device in ("cuda", "cpu")
    for home, name in (
        *(("", "autocast"), ("autocast_mode.", "autocast"), ("", "GradScaler"), ("grad_scaler.", "GradScaler")),
        *((home, name) for home in ("", "autocast_mode.") for name in ("custom_fwd", "custom_bwd")),
    )
    if device == "cuda" or not name.startswith("custom")
}
"""Deprecated since torch 2.4, with the names that take a device instead."""
_APEX = "apex.amp"
_MODULES = frozenset({"torch.cuda.amp", "torch.cpu.amp", _APEX})
_APEX_CALLS = frozenset(f"{_APEX}.{name}" for name in ("initialize", "scale_loss"))


@check(codes=(_CODE,), triggers=Triggers(calls=frozenset(OF_TORCH) | _APEX_CALLS, imports=_MODULES))
def find(visit: Visit) -> Iterator[Finding]:
    """The import of a deprecated name, or the call that spells it out."""
    if isinstance(visit.node, ast.Call):
        name = _legacy_call(visit.facts, visit.site)
        names = [] if name is None else [name]
    else:
        names = visit.facts.cached(_legacy_imports).get(visit.statement, [])
    if not names:
        return
    values = {"spelling": spelling_of(visit)}
    if names[0].startswith(_APEX):
        yield Finding(_CODE, visit.node, values, "apex")
    else:
        device = names[0].split(".")[1]
        new = " and ".join(dict.fromkeys(f"`{OF_TORCH[name]}`" for name in names))
        yield Finding(_CODE, visit.node, {**values, "new": f'{new} with "{device}"'}, torch=_SINCE)


def _imported_names(statement: ast.stmt) -> list[str]:
    """What an import statement names in full; nothing for one relative to its package."""
    if isinstance(statement, ast.Import):
        return [alias.name for alias in statement.names]
    if not isinstance(statement, ast.ImportFrom) or statement.level:
        return []
    return [f"{statement.module}.{alias.name}" for alias in statement.names]


def _legacy_imports(facts: FileFacts) -> dict[ast.stmt, list[str]]:
    """The statements that import a deprecated name, each with those names."""
    found: dict[ast.stmt, list[str]] = {}
    for statement in facts.symbols.parents:
        names = [name for name in _imported_names(statement) if name in OF_TORCH or name == _APEX]
        if names and (names == [_APEX] or not is_for_some_releases(facts, statement)):
            found[statement] = names
    return found


def _legacy_call(facts: FileFacts, site: CallSite) -> str | None:
    """The deprecated name that a call spells out; those that were imported by name are told of at their import."""
    name = facts.names(site.node.func, site.scope).only
    if name in _APEX_CALLS:
        is_told = any(_APEX in names for names in facts.cached(_legacy_imports).values())
        return None if is_told else name
    is_imported = any(one.kind is BindingKind.IMPORT for one in facts.bindings(site.node.func, site.scope))
    if name not in OF_TORCH or is_imported:
        return None
    # `torch.amp.GradScaler() if TORCH_2_4 else torch.cuda.amp.GradScaler()`
    is_one_of_two = any(asks_for_release(test) for test in tests_around(facts, site.node))
    return None if is_one_of_two or is_for_some_releases(facts, site.statement) else name
