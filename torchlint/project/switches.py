"""What a program makes of one of torch's switches, unless its user gives options."""

from __future__ import annotations

from types import EllipsisType

import msgspec

from torchlint.diagnostics import Location
from torchlint.facts.modes import Mode, SwitchWrite
from torchlint.project.index import Project
from torchlint.project.options import fails_by_default, is_met
from torchlint.project.programs import Program

_LITERALS = {"True": True, "False": False}


class OnDemand(msgspec.Struct, frozen=True):
    """An option that turns something, and where it does."""

    option: str
    location: Location


def setting_of(name: str, program: Program, project: Project) -> bool | EllipsisType | None:
    """The value that a program gives a switch by default: None where nothing writes it, `...` where that is not sure.

    It is not where values differ, are decided at run time, or are written by what is not seen to run.
    """
    reach = project.reach_of(program)
    written = [
        _value(write, path, program, project) if reach.holds(path, write.symbol) else ...
        for path, write in _writes(name, program, project)
        if fails_by_default(write.demands, path, program, project) is None
    ]
    if not written:
        return None
    return written[0] if len(set(written)) == 1 else ...


def options_for(name: str, wanted: bool, program: Program, project: Project) -> list[OnDemand]:  # noqa: FBT001 - a switch's value
    """The options that give a switch this value, which it does not have without them."""
    found = []
    for path, write in _writes(name, program, project):
        decided = () if write.decided is None else (write.decided,)
        demands = (*write.demands, *(decided if wanted else ()))
        lacking = fails_by_default(demands, path, program, project)
        may_be = write.value is None or _LITERALS.get(write.value) is wanted
        if may_be and lacking is not None and lacking.option:
            found.append(OnDemand(lacking.option, write.location))
    return found


def options_for_mode(program: Program, project: Project) -> list[OnDemand]:
    """The options that turn the determinism mode on, which is off without them."""
    found = []
    for path in sorted(program.files & project.summaries.keys()):
        for call in project.summaries[path].modes:
            lacking = fails_by_default(call.demands, path, program, project) if call.mode is not Mode.OFF else None
            if lacking is not None and lacking.option:
                found.append(OnDemand(lacking.option, call.location))
    return found


def _writes(name: str, program: Program, project: Project) -> list[tuple[str, SwitchWrite]]:
    """Each write of a switch that may run in a program, with its file."""
    possible, reach = project.programs.calls.possible(program.reached), project.reach_of(program)
    files = sorted(program.files & project.summaries.keys())
    writes = ((path, one) for path in files for one in project.summaries[path].switches if one.name == name)
    return [(path, one) for path, one in writes if (path, one.symbol) in possible or reach.holds(path, one.symbol)]


def _value(write: SwitchWrite, path: str, program: Program, project: Project) -> bool | EllipsisType:
    if write.value is not None:
        return _LITERALS.get(write.value, ...)
    if write.decided is None:
        return ...
    if fails_by_default((write.decided,), path, program, project) is not None:
        return False
    return True if is_met(write.decided, path, program, project) else ...
