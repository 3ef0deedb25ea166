"""Mixed-precision names that torch or NVIDIA have deprecated: where a file imports them, or spells them out."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from torchlint.facts.control.conditions import tests_around
from torchlint.facts.releases import asks_for_release, is_for_some_releases
from torchlint.facts.scopes import BindingKind, CallSite

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

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
APEX = "apex.amp"
APEX_CALLS = frozenset(f"{APEX}.{name}" for name in ("initialize", "scale_loss"))


def imported_names(statement: ast.stmt) -> list[str]:
    """What an import statement names in full; nothing for one relative to its package."""
    if isinstance(statement, ast.Import):
        return [alias.name for alias in statement.names]
    if not isinstance(statement, ast.ImportFrom) or statement.level:
        return []
    return [f"{statement.module}.{alias.name}" for alias in statement.names]


def legacy_imports(facts: FileFacts) -> dict[ast.stmt, list[str]]:
    """The statements that import a deprecated name, each with those names."""
    found: dict[ast.stmt, list[str]] = {}
    for statement in facts.symbols.parents:
        names = [name for name in imported_names(statement) if name in OF_TORCH or name == APEX]
        if names and (names == [APEX] or not is_for_some_releases(facts, statement)):
            found[statement] = names
    return found


def legacy_call(facts: FileFacts, site: CallSite) -> str | None:
    """The deprecated name that a call spells out; those that were imported by name are told of at their import."""
    name = facts.names(site.node.func, site.scope).only
    if name in APEX_CALLS:
        is_told = any(APEX in names for names in facts.cached(legacy_imports).values())
        return None if is_told else name
    is_imported = any(one.kind is BindingKind.IMPORT for one in facts.bindings(site.node.func, site.scope))
    if name not in OF_TORCH or is_imported:
        return None
    # `torch.amp.GradScaler() if TORCH_2_4 else torch.cuda.amp.GradScaler()`
    is_one_of_two = any(asks_for_release(test) for test in tests_around(facts, site.node))
    return None if is_one_of_two or is_for_some_releases(facts, site.statement) else name
