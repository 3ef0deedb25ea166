"""The determinism mode and torch's other switches: what sets them, to what, and on whose word."""

from __future__ import annotations

import ast
import enum
from collections.abc import Iterator

import msgspec

from torchlint.catalogue.programs import ModeSwitch
from torchlint.diagnostics import Location
from torchlint.facts.control.conditions import decisions
from torchlint.facts.file import FileFacts
from torchlint.facts.options.demands import Demand, demand_of, demands_on
from torchlint.facts.scopes import CallSite
from torchlint.facts.tree import words_in
from torchlint.facts.values import argument_of, may_be_hidden

_ASKING = frozenset({"is_available", "device_count", "__version__", "__name__", "hasattr", "version"})
"""Words of tests that ask about the machine or the program, not about a choice: CUDA at hand, the main guard."""


class Mode(enum.IntEnum):
    """`torch.use_deterministic_algorithms` as a program sees it, from weakest to strongest."""

    OFF = 0
    OPTIONAL = 1
    """Set from a parameter, an option or a configuration."""
    WARN_ONLY = 2
    ON = 3


class ModeCall(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One call that sets the mode.

    `parameter` names the parameter of the enclosing function that decides, when one does; the call sites then tell.
    """

    mode: Mode
    location: Location
    symbol: str
    parameter: str | None = None
    sets: tuple[str, ...] = ()
    """Environment variables that the call sets as well."""
    torch: str = ""
    """The releases that have the switch; empty for all."""
    demands: tuple[Demand, ...] = ()
    """What has to be so for the call to run, and for its argument to turn the mode on."""


def mode_calls(facts: FileFacts, switches: dict[str, ModeSwitch]) -> list[ModeCall]:
    """Every call in the file that sets the mode, in source order."""
    found = (mode_call(facts, site, switches) for site in facts.calls.find(names=switches.keys()))
    return [call for call in found if call is not None]


def mode_call(facts: FileFacts, site: CallSite, switches: dict[str, ModeSwitch]) -> ModeCall | None:
    """What one call does to the mode; None when it is no switch or leaves the mode alone."""
    name = facts.names(site.node.func, site.scope).only
    switch = switches.get(name) if name else None
    mode, parameter = (None, None) if switch is None else _mode_of(facts, site, switch)
    if switch is None or mode is None:
        return None
    # The innermost `if` that decides over the call and asks for more than the machine or the program.
    asked = ((one.test, answer) for one, answer in decisions(facts, site.statement))
    guard, answer = next(((t, a) for t, a in asked if _ASKING.isdisjoint(words_in(t))), (None, False))
    if guard is not None and mode is not Mode.OFF:
        guard_parameter = facts.parameter_named(guard, site.scope) if answer else None
        parameter = parameter or guard_parameter
        mode = mode if guard_parameter else Mode.OPTIONAL
    place, symbol = facts.locate(site.node), facts.symbol_of(site)
    decided = demand_of(facts, argument_of(site.node, switch.argument, switch.position), site.scope)
    demands = (*demands_on(facts, site.statement, site.scope), *([] if decided is None else [decided]))
    return ModeCall(mode, place, symbol, parameter, switch.sets, switch.torch, demands)


def _mode_of(facts: FileFacts, site: CallSite, switch: ModeSwitch) -> tuple[Mode | None, str | None]:
    argument = argument_of(site.node, switch.argument, switch.position)
    if argument is None:
        if may_be_hidden(site.node, switch.position):
            return Mode.OPTIONAL, None
        if switch.default is msgspec.UNSET:
            return None, None
        return _mode_of_value(switch.default, switch), None
    parameter = facts.parameter_named(argument, site.scope)
    if parameter is not None:
        return Mode.ON, parameter
    values = facts.value(argument, site.scope)
    modes = {_mode_of_value(constant, switch) for constant in values.constants} if values.is_known else set()
    mode = modes.pop() if len(modes) == 1 else Mode.OPTIONAL
    warn = argument_of(site.node, switch.warn_argument, None) if mode is Mode.ON and switch.warn_argument else None
    if warn is None:
        return mode, None
    warns = facts.value(warn, site.scope)
    return Mode.ON if warns.is_known and not any(warns.constants) else Mode.WARN_ONLY, None


def _mode_of_value(value: object, switch: ModeSwitch) -> Mode | None:
    for mode, values in ((Mode.ON, switch.on), (Mode.WARN_ONLY, switch.warn_only), (Mode.OFF, switch.off)):
        if any(type(value) is type(known) and value == known for known in values):
            return mode
    return None


_PRECISION = "torch.set_float32_matmul_precision"
"""The one switch of this kind that is a function."""


class SwitchWrite(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One place that sets a switch; `value` is the literal, or None when it is decided at run time."""

    name: str
    value: str | None
    symbol: str
    location: Location
    demands: tuple[Demand, ...] = ()
    """What has to be so for the statement to run."""
    decided: Demand | None = None
    """What has to be so for a value that is no literal to be true: `cudnn.deterministic = args.deterministic`."""


def switch_writes(facts: FileFacts, switches: frozenset[str]) -> Iterator[SwitchWrite]:
    """Every evident write of one of these attributes, by its full name, in source order."""
    for assignment in facts.symbols.assignments:
        target = assignment.target
        name = facts.names(target, assignment.scope).only if isinstance(target, ast.Attribute) else None
        if name in switches and isinstance(assignment.statement, (ast.Assign, ast.AnnAssign)):
            scope, given = assignment.scope, assignment.value
            symbol, value = facts.symbol_at(scope, assignment.statement), _literal(facts, given, scope)
            decided = demand_of(facts, given, scope) if value is None else None
            demands = demands_on(facts, assignment.statement, scope)
            yield SwitchWrite(str(name), value, symbol, facts.locate(target), demands, decided)
    for site in facts.calls.find(names=(_PRECISION,)):
        called = site.node.func
        is_written = isinstance(called, ast.Attribute) and called.attr == _PRECISION.rpartition(".")[2]
        if is_written and site.node.args and facts.names(called, site.scope).only == _PRECISION:
            value = _literal(facts, site.node.args[0], site.scope)
            yield SwitchWrite(_PRECISION, value, facts.symbol_of(site), facts.locate(site.node))


def _literal(facts: FileFacts, value: ast.expr | None, scope: int) -> str | None:
    known = facts.value(value, scope)
    return repr(known.constants[0]) if known.is_known and len(known.constants) == 1 else None
