"""TL211 runtime-hash-seed: PYTHONHASHSEED set by the very process that would need it."""

from __future__ import annotations

from collections.abc import Iterator

from torchlint.checks.framework.drafts import Draft
from torchlint.checks.framework.registration import Finding, SettingFinding, Triggers, check
from torchlint.checks.framework.visit import WRITERS, Visit, writes
from torchlint.facts.environment import ProcessStart, process_starts
from torchlint.facts.file import FileFacts
from torchlint.facts.notation import Symbol
from torchlint.facts.summary import Extract
from torchlint.project.index import Project
from torchlint.source.text import EnvironmentSetting

_CODE = "TL211"
_VARIABLE = "PYTHONHASHSEED"
_STARTS = Extract("starts", tuple[ProcessStart, ...], lambda *asked: tuple(process_starts(*asked)))
"""Calls of a file that start processes which may be Python."""


def _judge(draft: Draft, project: Project) -> Draft | None:
    """Nothing where processes may start after the write in all that runs it: the children do read it."""
    # Of a library, what the function itself may run.
    programs = [one.reached for one in project.programs.reaching(draft.path) if draft.symbol in one.reached]
    runs = programs or [project.programs.calls.reached([draft.symbol])]
    is_read = all(_starts_processes(run, draft.symbol, draft.lines[0], project) for run in runs)
    return None if is_read else draft


def _starts_processes(run: frozenset[Symbol], write: Symbol, line: int, project: Project) -> bool:
    """Whether a process may start after the write: in its own function, further down."""
    return any(
        (path, start.symbol) in run and ((path, start.symbol) != write or start.line > line)
        for path in sorted({path for path, _ in run} & project.summaries.keys())
        for start in _STARTS.of(project.summaries[path])
    )


def _on_setting(setting: EnvironmentSetting, _facts: FileFacts) -> Iterator[SettingFinding]:
    """`%env PYTHONHASHSEED=0`: the kernel that runs it has long read the variable."""
    if setting.name == _VARIABLE and setting.in_process:
        values = {"magic": f"%env {setting.name}={setting.value}", "symbol": ""}
        yield SettingFinding(_CODE, values, "magic")


@check(
    codes=(_CODE,),
    on_setting=_on_setting,
    judge=_judge,
    triggers=Triggers(calls=WRITERS, keys=frozenset({_VARIABLE})),
    asks=(_STARTS,),
)
def find(visit: Visit) -> Iterator[Finding]:
    """Every write of the variable."""
    yield from (Finding(_CODE, visit.node, {"symbol": visit.symbol}, "assigned") for _ in writes(visit, _VARIABLE))
