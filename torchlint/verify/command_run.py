"""The user's own command, run once with the recorder inside: what ran there is joined to the findings."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

import msgspec

from torchlint.diagnostics import Diagnostic, Note
from torchlint.recording.in_command.results import RECORD, REQUEST, STARTED, TROUBLE, CommandRequest, Record
from torchlint.recording.messages import ProbedFinding
from torchlint.recording.process.command import environment_of_recorder, run_to_its_end
from torchlint.verify.command_judging import answers_of
from torchlint.verify.command_outcome import Ran
from torchlint.verify.data import Result, TargetRun, Verification
from torchlint.verify.judging import judged
from torchlint.verify.run import Planned, not_planned
from torchlint.verify.sandbox import OwnFolder


def verify_command(planned: Planned, command: Sequence[str], *, seconds: float | None = None) -> Verification:
    """Run the command as it is and judge the findings by what it did. Raises TorchlintError where it cannot start."""
    ran = run_command(planned, command, seconds=seconds)
    results = [
        _of_command(judgement.result, ran, planned.findings[judgement.index])
        for plan in planned.plans
        for judgement in judged(plan, list(answers_of(plan, ran)), "", planned.findings)
    ]
    results += [each.result for each in not_planned(planned)]
    return Verification(
        results=tuple(sorted(results, key=lambda result: result.sort_key)),
        environment=ran.records[0].environment if ran.records else None,
        runs=(TargetRun(ran.shown, "", "", None, ran.end, ran.seconds),),
        notes=(*planned.report.notes, *(Note(each) for each in ran.notes)),
        without_probe=planned.without_probe,
        sandbox="nothing: your own command ran as it is",
        was_interrupted=ran.was_interrupted,
        command_status=ran.shell_status,
    )


def _of_command(result: Result, ran: Ran, finding: Diagnostic) -> Result:
    reproduce = ["torchlint", "verify", finding.location.shown_line, "--select", finding.code, "--", *ran.command]
    return replace(result, target=ran.shown, reproduce=shlex.join(reproduce))


def run_command(planned: Planned, command: Sequence[str], *, seconds: float | None = None) -> Ran:
    """Run it with the environment, the folder and the input and output of this process.

    What it leaves running in the background may still write while the records are put away.
    """
    with OwnFolder() as own:
        folder = own.path
        (folder / REQUEST).write_bytes(msgspec.json.encode(CommandRequest(files=_findings(planned))))
        # Nothing is compiled: torch's compiler leaves code alone that somebody records, and refuses `fullgraph=True`.
        environment = {**environment_of_recorder(folder), "TORCHDYNAMO_DISABLE": "1"}
        # It holds the lock as well: where this process is killed, its recorder goes on writing.
        ended = run_to_its_end(command, environment, seconds=seconds, kept=() if own.lock is None else (own.lock,))
        return Ran(
            command=tuple(command),
            status=ended.status,
            seconds=ended.seconds,
            was_interrupted=ended.was_interrupted,
            was_timed_out=ended.was_timed_out,
            records=tuple(
                msgspec.json.decode(path.read_bytes(), type=Record) for path in sorted(folder.glob(f"*{RECORD}"))
            ),
            pythons=len(list(folder.glob(f"*{STARTED}"))),
            troubles=tuple(
                path.read_text(encoding="utf-8", errors="replace") for path in sorted(folder.glob(f"*{TROUBLE}"))
            ),
        )


def _findings(planned: Planned) -> dict[str, tuple[ProbedFinding, ...]]:
    found: dict[str, tuple[ProbedFinding, ...]] = defaultdict(tuple)
    for plan in planned.plans:
        found[plan.code.path] += tuple(each for each in plan.findings if "trace" in each.probes)
    return dict(found)
