"""What a program makes of one of torch's switches."""

from __future__ import annotations

from types import EllipsisType

from torchlint.project.index import Project
from torchlint.project.programs import Program


def setting_of(name: str, program: Program, project: Project) -> bool | EllipsisType | None:
    """The value that a program gives a switch: None where nothing writes it, `...` where that is not sure.

    It is not where values differ, are decided at run time, or are written by what is not seen to run.
    """
    possible, reach = project.programs.calls.possible(program.reached), project.reach_of(program)
    written = [
        write.value if reach.holds(path, write.symbol) else None
        for path in sorted(program.files & project.summaries.keys())
        for write in project.summaries[path].switches
        if write.name == name and ((path, write.symbol) in possible or reach.holds(path, write.symbol))
    ]
    if not written:
        return None
    return {"True": True, "False": False}.get(written[0] or "", ...) if len(set(written)) == 1 else ...
