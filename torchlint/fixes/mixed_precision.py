"""Fixes of names in `torch.cuda.amp` and `torch.cpu.amp`: `torch.amp` has them, and takes the device."""

from __future__ import annotations

import ast

import msgspec

from torchlint.checks.training.legacy_amp import OF_TORCH
from torchlint.facts.scopes import BindingKind
from torchlint.facts.tree import last_word
from torchlint.fixes.calls import Arguments, added_first, arguments_of
from torchlint.fixes.code import FileCode
from torchlint.fixes.imports import spelled_module
from torchlint.fixes.plan import Plan, Release, plan
from torchlint.fixes.spot import Spot
from torchlint.source.edits import Replacement, insertion

_ORDER = ("enabled", "dtype", "cache_enabled")
"""The parameters of the old `autocast`; the new one has the device and the type first."""
_CUSTOM = ("custom_fwd", "custom_bwd")
_OLD = "autocast"
_SINCE: dict[str, Release] = {_OLD: (1, 10), "GradScaler": (2, 3), "custom_fwd": (2, 4), "custom_bwd": (2, 4)}
"""The first release whose `torch.amp` has a name."""
_NEW = "torch.amp"
_MODULES = frozenset({"torch.cuda.amp", "torch.cpu.amp"})


class _Name(msgspec.Struct, frozen=True):
    """A name of an old module, and the device that this stands for."""

    name: str
    device: str


def of_torch_amp(spot: Spot) -> Plan | None:
    """`torch.cuda.amp.autocast()` → `torch.amp.autocast("cuda")`, at the call or the import of the name."""
    call = spot.call
    if call is not None:
        return _of_module(spot, call) or _of_call(spot, call)
    statement = spot.node(ast.ImportFrom)
    return None if statement is None else _of_import(spot, statement)


def _old_name(spot: Spot, function: ast.expr) -> _Name | None:
    """What a function is called in its old module."""
    full = spot.full_name(function)
    new = OF_TORCH.get(full)
    return None if new is None else _Name(new.rpartition(".")[2], full.split(".")[1])


# -- calls that spell a name out ------------------------------------------------------------------------------------


def _of_call(spot: Spot, call: ast.Call) -> Plan | None:
    old = _old_name(spot, call.func)
    if old is None or not isinstance(call.func, ast.Attribute):
        return None
    holder = spelled_module(spot.code, "torch", spot.statement_of(call))
    given = _with_device(spot.code, call, old)
    if holder is None or holder.changes or given is None:
        return None
    changes = [spot.code.replaced(call.func, f"{holder.name}.amp.{old.name}"), *given]
    return plan(changes, since=_SINCE[old.name])


def _of_module(spot: Spot, call: ast.Call) -> Plan | None:
    """`from torch.cuda import amp` → `from torch import amp`, with all that is called of it."""
    holder = call.func.value if isinstance(call.func, ast.Attribute) else None
    found = _import_of(spot, holder) if isinstance(holder, ast.Name) else None
    if found is None:
        return None
    changes = [found[0]]
    sinces = []
    for read in found[1]:
        attribute = spot.facts.index.parents[read]
        old = _old_name(spot, attribute) if isinstance(attribute, ast.Attribute) else None
        given = None if old is None else _of_use(spot, attribute, old)
        if old is None or given is None:
            return None
        changes += given
        sinces.append(_SINCE[old.name])
    return plan(changes, since=max(sinces))


def _import_of(spot: Spot, name: ast.Name) -> tuple[Replacement, list[ast.Name]] | None:
    """The change of the one import that binds a name to an old module, and the places that read it."""
    facts = spot.facts
    owner = facts.resolver.owner(name.id, spot.scope_of(name))
    bindings = facts.bindings(name, spot.scope_of(name))
    statement = bindings[0].statement if [one.kind for one in bindings] == [BindingKind.IMPORT] else None
    if (
        owner is None
        or statement is None
        or len(getattr(statement, "names", ())) != 1
        or _is_for_others(spot, statement)
    ):
        return None
    reads = facts.index.reads(owner.index, name.id)
    if isinstance(statement, ast.Import) and statement.names[0].asname and statement.names[0].name in _MODULES:
        start = spot.code.start(statement.names[0])
        return Replacement(*start, start[0], start[1] + len(statement.names[0].name), _NEW), reads
    if isinstance(statement, ast.ImportFrom) and f"{statement.module}.{statement.names[0].name}" in _MODULES:
        return _from(spot.code, statement, "torch"), reads
    return None


# -- imports of names -----------------------------------------------------------------------------------------------


def _of_import(spot: Spot, statement: ast.ImportFrom) -> Plan | None:
    """The import, and each place that uses its names: together, as one without the other would fail."""
    module = statement.module or ""
    news = [OF_TORCH.get(f"{module}.{alias.name}") for alias in statement.names]
    if None in news or statement.level or _is_for_others(spot, statement):
        return None
    changes = [_from(spot.code, statement, _NEW)]
    for alias in statement.names:
        used = _uses_of(spot, statement, alias, module.split(".")[1])
        if used is None:
            return None
        changes += used
    return plan(changes, since=max(_SINCE[alias.name] for alias in statement.names))


def _is_for_others(spot: Spot, statement: ast.stmt) -> bool:
    """Whether other files may use what an import binds, or the import may fail."""
    facts = spot.facts
    is_shown = facts.source.path.endswith("__init__.py") or "__all__" in facts.symbols.scopes[0].bindings
    return is_shown or isinstance(facts.symbols.parents[statement], ast.Try | ast.If)


def _from(code: FileCode, statement: ast.ImportFrom, module: str) -> Replacement:
    """`from torch.cuda.amp import autocast` → `from torch.amp import autocast`."""
    old = statement.module or ""
    line, column = code.start(statement)
    start = code.lines[line - 1].index(old, column - 1) + 1
    return Replacement(line, start, line, start + len(old), module)


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
        found = _of_use(spot, read, _Name(alias.name, device))
        if found is None:
            return None
        changes += found
    return changes


def _of_use(spot: Spot, read: ast.AST, old: _Name) -> list[Replacement] | None:
    parent = spot.facts.index.parents[read]
    if isinstance(parent, ast.Call) and parent.func is read:
        return _with_device(spot.code, parent, old)
    is_decorator = read in getattr(parent, "decorator_list", [])
    if old.name in _CUSTOM and is_decorator:
        return [insertion(*spot.code.end(read), f'(device_type="{old.device}")')]
    return [] if old.name == "GradScaler" and _is_asked_or_annotated(parent, read) else None


def _is_asked_or_annotated(parent: ast.AST, read: ast.AST) -> bool:
    """`scaler: GradScaler`, `isinstance(scaler, GradScaler)`: the old class is a kind of the new one."""
    if isinstance(parent, ast.Call):
        return last_word(parent.func) == "isinstance"
    if isinstance(parent, ast.BinOp):
        return isinstance(parent.op, ast.BitOr)
    return getattr(parent, "annotation", None) is read or getattr(parent, "returns", None) is read


# -- the device among the arguments ---------------------------------------------------------------------------------


def _with_device(code: FileCode, call: ast.Call, old: _Name) -> list[Replacement] | None:
    """The device as the first argument, and by keyword what stands elsewhere now."""
    arguments = arguments_of(code, call)
    if arguments is None:
        return None
    if old.name in _CUSTOM:
        return _with_device_type(arguments, old.device)
    if old.name == _OLD:
        by_position = [one for one in arguments.given if one.name is None]
        if len(by_position) > len(_ORDER) or any(isinstance(one.value, ast.Starred) for one in by_position):
            return None
        named = [insertion(*one.start, f"{word}=") for one, word in zip(by_position, _ORDER, strict=False)]
        if by_position:
            return [insertion(*by_position[0].start, f'"{old.device}", {_ORDER[0]}='), *named[1:]]
    return [added_first(arguments, f'"{old.device}"')]


def _with_device_type(arguments: Arguments, device: str) -> list[Replacement] | None:
    """`custom_fwd(cast_inputs=torch.float32)` → `custom_fwd(device_type="cuda", cast_inputs=torch.float32)`."""
    if any(one.name is None for one in arguments.given):
        return None
    return [added_first(arguments, f'device_type="{device}"')]
