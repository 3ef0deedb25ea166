"""TL211 runtime-hash-seed: PYTHONHASHSEED set by the very process that would need it."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from torchlint.checks.framework.drafts import Draft
from torchlint.checks.framework.environment_writes import SETTERS, writes
from torchlint.checks.framework.registration import Finding, SettingFinding, Triggers, check
from torchlint.checks.framework.visit import Visit
from torchlint.diagnostics import Related, Severity
from torchlint.facts.file import FileFacts
from torchlint.facts.order.analysis import OrderAnalysis
from torchlint.facts.order.salted import Salted
from torchlint.project.call_graph import Symbol
from torchlint.project.index import Project
from torchlint.source.text import EnvironmentSetting

_CODE = "TL211"
_VARIABLE = "PYTHONHASHSEED"


def _judge(draft: Draft, project: Project) -> Draft | None:
    """A note; a warning where an order or a hash of what runs with the write depends on the variable."""
    symbol, line = draft.values["symbol"], draft.lines[0]
    runs = _runs((draft.path, symbol), project)
    if all(_starts_processes(run, (draft.path, symbol), line, project) for run in runs):
        return None  # the children do read it
    found = next((one for run in runs if (one := _hanging(run, project)) is not None), None)
    if found is None:
        return draft
    values = {**draft.values, "what": found.what, "place": found.location.shown_line}
    related = (*draft.related, Related(found.location, f"{found.what} depends on it"))
    message = f"{draft.message}_needed"
    return replace(draft, values=values, message=message, severity=Severity.WARNING, related=related)


def _runs(write: Symbol, project: Project) -> list[frozenset[Symbol]]:
    """What runs along with a write: in each program that reaches it; of a library, what the function itself may run."""
    programs = [program.reached for program in project.programs.reaching(write[0]) if write in program.reached]
    return programs or [project.programs.calls.reached([write])]


def _starts_processes(run: frozenset[Symbol], write: Symbol, line: int, project: Project) -> bool:
    """Whether a process may start after the write: in its own function, further down."""
    return any(
        (path, start.symbol) in run and ((path, start.symbol) != write or start.line > line)
        for path in sorted({path for path, _ in run} & project.summaries.keys())
        for start in project.summaries[path].starts
    )


def _hanging(run: frozenset[Symbol], project: Project) -> Salted | None:
    """What changes with the hash seed in the files of a run."""
    for path in sorted({path for path, _ in run} & project.summaries.keys()):
        for one in project.summaries[path].salted:
            if not one.exits or project.flows.sink_of(one.exits, OrderAnalysis) is not None:
                return one
    return None


def _on_setting(setting: EnvironmentSetting, facts: FileFacts) -> Iterator[SettingFinding]:
    """`%env PYTHONHASHSEED=0`: the kernel that runs it has long read the variable."""
    del facts
    if setting.name == _VARIABLE and setting.in_process:
        values = {"magic": f"%env {setting.name}={setting.value}", "symbol": ""}
        yield SettingFinding(_CODE, values, "magic")


@check(
    codes=(_CODE,),
    on_setting=_on_setting,
    judge=_judge,
    triggers=Triggers(calls=SETTERS | {"os.environ.update"}, keys=frozenset({_VARIABLE})),
)
def find(visit: Visit) -> Iterator[Finding]:
    """Every write of the variable."""
    for _ in writes(visit, _VARIABLE):
        statement = visit.statement
        yield Finding(_CODE, visit.node, {"symbol": visit.facts.symbol_at(visit.scope, statement)}, "assigned")
