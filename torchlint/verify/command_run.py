"""The user's own command, run once with the recorder inside: what ran there is joined to the findings."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import msgspec

from torchlint.diagnostics import Diagnostic, Note
from torchlint.errors import Terminated, TorchlintError
from torchlint.recording.confinement import linux, processes
from torchlint.recording.in_command.results import RECORD, REQUEST, STARTED, TROUBLE, CommandRequest, Record
from torchlint.recording.messages import ProbedFinding
from torchlint.verify.command_judging import answers_of
from torchlint.verify.command_outcome import Ran
from torchlint.verify.data import Result, TargetRun, Verification
from torchlint.verify.judging import judged
from torchlint.verify.run import Planned, not_planned
from torchlint.verify.sandbox import OwnFolder

_STARTUP = Path(__file__).resolve().parents[1] / "recording" / "in_command" / "startup"
_SECONDS_TO_END = 10.0
"""For a command that is told to end."""
_SECONDS_FOR_ITS_OWN = 0.5
"""For a command to end what it started by itself."""


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
        began = time.monotonic()
        try:
            # It holds the lock as well: where this process is killed, its recorder goes on writing.
            kept = () if own.lock is None else (own.lock,)
            process = subprocess.Popen(command, env=_environment(folder), pass_fds=kept)  # noqa: S603 - the user's own
        except OSError as error:
            raise TorchlintError(f"{command[0]}: the command cannot be started: {error.strerror or error}") from None
        was_interrupted, was_timed_out = _wait(process, seconds)
        return Ran(
            command=tuple(command),
            status=process.returncode,
            seconds=time.monotonic() - began,
            was_interrupted=was_interrupted,
            was_timed_out=was_timed_out,
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


def _environment(folder: Path) -> dict[str, str]:
    """The user's own, with the way to the recorder.

    Nothing is compiled: torch's compiler leaves code alone that somebody records, and refuses `fullgraph=True`.
    """
    paths = [str(_STARTUP), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(paths),
        "TORCHLINT_RECORDS": str(folder),
        "TORCHDYNAMO_DISABLE": "1",
    }


def _wait(process: subprocess.Popen[bytes], seconds: float | None) -> tuple[bool, bool]:
    """Until it ends; whether the user ended it, and whether its time was over. Each Ctrl-C asks more firmly."""
    interrupts, was_timed_out = 0, False
    while True:
        try:
            process.wait(seconds)
            return interrupts > 0, was_timed_out
        except Terminated:
            _terminate(process)
            return True, False
        except KeyboardInterrupt:
            interrupts += 1
            if interrupts > 1:
                process.kill()
            elif not _has_terminal():
                process.send_signal(signal.SIGINT)
        except subprocess.TimeoutExpired:
            if was_timed_out:
                process.kill()
            else:
                was_timed_out, seconds = True, _SECONDS_TO_END
                process.send_signal(signal.SIGINT if sys.platform != "win32" else signal.SIGTERM)


def _terminate(process: subprocess.Popen[bytes]) -> None:
    """End it with what it started: asked first, then killed."""
    if sys.platform == "linux":
        linux.adopt_orphans()
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):  # a shell waits for what it runs
            process.wait(_SECONDS_FOR_ITS_OWN)
        processes.ask_descendants_to_end(_SECONDS_TO_END)
        processes.end_all_descendants()
    else:
        process.terminate()
    try:
        process.wait(_SECONDS_TO_END)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _has_terminal() -> bool:
    """Whether a Ctrl-C went to the command as well: a terminal sends it to all that run in front."""
    if sys.platform == "win32":
        return True
    try:
        return os.tcgetpgrp(sys.__stdin__.fileno()) == os.getpgrp() if sys.__stdin__ else False
    except (OSError, ValueError):
        return False
