"""Fixes of names in `torch.cuda.amp` and `torch.cpu.amp`: `torch.amp` has them, and takes the device."""

from __future__ import annotations

import ast

from torchlint.checks.training.deprecated_amp import OF_TORCH
from torchlint.facts.scopes import BindingKind
from torchlint.facts.tree import last_word
from torchlint.fixes.calls import Arguments, added_first, arguments_of
from torchlint.fixes.imports import spelled_module
from torchlint.fixes.plan import Plan, plan
from torchlint.fixes.spot import Spot
from torchlint.source.edits import Replacement, insertion

_ORDER = ("enabled", "dtype", "cache_enabled")
"""The parameters of the old `autocast`; the new one has the device and the type first."""
_CUSTOM = ("custom_fwd", "custom_bwd")
_OLD = "autocast"
"""What `torch.amp` has had from its first release (1.10); the scaler came with 2.3, the others with 2.4."""


def of_torch_amp(spot: Spot) -> Plan | None:
    """`torch.cuda.amp.autocast()` → `torch.amp.autocast("cuda")`, at the call or the import of the name."""
    call = spot.call
    if call is not None:
        return _of_call(spot, call)
    statement = spot.node(ast.ImportFrom)
    return None if statement is None else _of_import(spot, statement)


def _is_safe(spot: Spot, *names: str) -> bool:
    """Where no release of torch is pinned, an older one may lack the new name."""
    return not spot.diagnostic.judged_for or set(names) == {_OLD}


def _of_call(spot: Spot, call: ast.Call) -> Plan | None:
    old = spot.full_name(call.func)
    new = OF_TORCH.get(old)
    if new is None or not isinstance(call.func, ast.Attribute):
        return None
    device, name = old.split(".")[1], new.rpartition(".")[2]
    holder = spelled_module(spot.code, "torch", spot.statement_of(call))
    given = _with_device(spot, call, device, name)
    if holder is None or holder.changes or given is None:
        return None
    changes = [spot.code.replaced(call.func, f"{holder.name}.amp.{name}"), *given]
    return plan(changes, is_safe=_is_safe(spot, name))


def _with_device(spot: Spot, call: ast.Call, device: str, name: str) -> list[Replacement] | None:
    """The device as the first argument, and by keyword what stands elsewhere now."""
    arguments = arguments_of(spot.code, call)
    if arguments is None:
        return None
    if name in _CUSTOM:
        return _with_device_type(arguments, device)
    if name == _OLD:
        by_position = [one for one in arguments.given if one.name is None]
        if len(by_position) > len(_ORDER) or any(isinstance(one.value, ast.Starred) for one in by_position):
            return None
        named = [insertion(*one.start, f"{word}=") for one, word in zip(by_position, _ORDER, strict=False)]
        first = arguments.given[0] if by_position else None
        if first is not None:
            return [insertion(*first.start, f'"{device}", {_ORDER[0]}='), *named[1:]]
    return [added_first(arguments, f'"{device}"')]


def _with_device_type(arguments: Arguments, device: str) -> list[Replacement] | None:
    """`custom_fwd(cast_inputs=torch.float32)` → `custom_fwd(device_type="cuda", cast_inputs=torch.float32)`."""
    if any(one.name is None for one in arguments.given):
        return None
    return [added_first(arguments, f'device_type="{device}"')]


def _of_import(spot: Spot, statement: ast.ImportFrom) -> Plan | None:
    """The import, and each place that uses its names: together, as one without the other would fail."""
    facts, module = spot.facts, statement.module or ""
    news = [OF_TORCH.get(f"{module}.{alias.name}") for alias in statement.names]
    is_for_others = facts.source.path.endswith("__init__.py") or "__all__" in facts.symbols.scopes[0].bindings
    is_tried = isinstance(facts.symbols.parents[statement], ast.Try | ast.If)
    if None in news or is_for_others or is_tried or statement.level:
        return None
    changes = [_from_torch_amp(spot, statement)]
    for alias in statement.names:
        used = _uses_of(spot, statement, alias, module.split(".")[1])
        if used is None:
            return None
        changes += used
    names = [str(new).rpartition(".")[2] for new in news]
    return plan(changes, is_safe=_is_safe(spot, *names))


def _from_torch_amp(spot: Spot, statement: ast.ImportFrom) -> Replacement:
    """`from torch.cuda.amp import autocast` → `from torch.amp import autocast`."""
    code, module = spot.code, statement.module or ""
    line, column = code.start(statement)
    start = code.lines[line - 1].index(module, column - 1) + 1
    return Replacement(line, start, line, start + len(module), "torch.amp")


def _uses_of(spot: Spot, statement: ast.ImportFrom, alias: ast.alias, device: str) -> list[Replacement] | None:
    """What changes where a name is used; None where one use is not understood, or nothing in the file uses it."""
    facts, bound = spot.facts, alias.asname or alias.name
    owner = facts.resolver.owner(bound, facts.symbols.scope_of[statement])
    bindings = [] if owner is None else owner.bindings[bound]
    reads = [] if owner is None else facts.index.reads(owner.index, bound)
    if not reads or [one.kind for one in bindings] != [BindingKind.IMPORT]:
        return None
    changes: list[Replacement] = []
    for read in reads:
        found = _of_read(spot, read, alias.name, device)
        if found is None:
            return None
        changes += found
    return changes


def _of_read(spot: Spot, read: ast.Name, name: str, device: str) -> list[Replacement] | None:
    parent = spot.facts.index.parents[read]
    if isinstance(parent, ast.Call) and parent.func is read:
        return _with_device(spot, parent, device, name)
    is_decorator = read in getattr(parent, "decorator_list", [])
    if name in _CUSTOM and is_decorator:
        return [insertion(*spot.code.end(read), f'(device_type="{device}")')]
    return [] if name == "GradScaler" and _is_asked_or_annotated(parent, read) else None


def _is_asked_or_annotated(parent: ast.AST, read: ast.Name) -> bool:
    """`scaler: GradScaler`, `isinstance(scaler, GradScaler)`: the old class is a kind of the new one."""
    if isinstance(parent, ast.Call):
        return last_word(parent.func) == "isinstance"
    if isinstance(parent, ast.BinOp):
        return isinstance(parent.op, ast.BitOr)
    return getattr(parent, "annotation", None) is read or getattr(parent, "returns", None) is read
