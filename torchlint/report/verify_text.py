"""The verdicts for the terminal: a line for each finding, or with the evidence below it."""

from __future__ import annotations

from collections.abc import Iterator

from torchlint.recording.messages import Environment
from torchlint.recording.names import VerdictName
from torchlint.report.paint import Paint, one_line
from torchlint.report.verify_words import (
    CURVES,
    NOT_YET_SAFE,
    SHOWN_EVIDENCE,
    brief,
    call_words,
    curve_words,
    is_told,
    worded,
)
from torchlint.verify.data import Result, TargetRun, Verification

_COLOURS: dict[VerdictName, str] = {
    "DIVERGED": "red",
    "RAISED": "red",
    "CONFIRMED": "red",
    "TRACED": "yellow",
    "KERNEL-ONLY": "yellow",
    "VARIES": "cyan",
    "REFUTED": "green",
}
_WITHOUT_EVIDENCE = ("NOT REPRODUCED", "SKIPPED")
"""The reasons of these may be long lists of attempts; that of any other verdict is its proof."""


def text_lines(found: Verification, *, colour: bool) -> Iterator[str]:
    """One line a finding, and a closing line with the counts."""
    paint = Paint(colour)
    for result in found.results:
        reason = brief(result.reason) if result.verdict in _WITHOUT_EVIDENCE else result.reason
        yield _head(result, reason, paint)
    yield from _closing(found)


def full_lines(found: Verification, *, colour: bool) -> Iterator[str]:
    """Each finding with its evidence and the command that runs it alone; last the environment."""
    paint = Paint(colour)
    runs = {(run.path, run.name): run for run in found.runs}
    for result in found.results:
        yield _head(result, result.reason, paint)
        run = runs.get((result.finding.location.path, result.target))
        yield from (f"  {one_line(line)}" for line in _evidence(result, run))
        yield ""
    if found.environment is not None:
        yield from map(one_line, _environment(found.environment, found.sandbox))
        yield ""
    yield from _closing(found)


def _head(result: Result, reason: str, paint: Paint) -> str:
    place = paint.bold(one_line(str(result.finding.location)))
    colour = _COLOURS.get(result.verdict)
    verdict = paint.coloured(result.verdict, colour) if colour else paint.bold(result.verdict)
    about = result.finding.code or f"{result.target} {result.probe}"
    return f"{place}: {one_line(about)} {verdict} {one_line(reason)}"


def _evidence(result: Result, run: TargetRun | None) -> Iterator[str]:
    yield f"finding: {result.finding.message}"
    if result.finding.source_line.strip():
        yield f"code: {result.finding.source_line.strip()}"
    if run is not None and run.executed is not None:
        yield f"executed: {call_words(run.executed)}"
        if run.executed.stubs:
            yield f"replaced missing imports: {', '.join(run.executed.stubs)}"
    for key, words in SHOWN_EVIDENCE.items():
        value = result.evidence.get(key)
        if is_told(value):
            yield f"{words}: {worded(value)}"
    for key, words in CURVES.items():
        told = curve_words(result.evidence.get(key))
        if told:
            yield f"{words}: {told}"
    for answer in result.others:
        yield f"{answer.probe} on {answer.device}: {answer.verdict} {answer.reason}"
    configure = result.evidence.get("configure")
    if isinstance(configure, str):
        yield "tell torchlint how to run it:"
        yield from (f"  {line}" for line in configure.splitlines())
    yield f"run it alone: {result.reproduce}"


def _environment(environment: Environment, sandbox: str) -> Iterator[str]:
    devices = ", ".join(f"{device}: {name}" for device, name in environment.devices.items())
    yield f"torch {environment.torch}, Python {environment.python}, {devices}"
    yield f"CPU capability {environment.cpu_capability}, {environment.threads} threads, seed {environment.seed}"
    variables = " ".join(f"{name}={value}" for name, value in environment.variables.items())
    if variables:
        yield f"environment: {variables}"
    yield f"protected by: {sandbox}"


def _closing(found: Verification) -> Iterator[str]:
    if found.was_interrupted and found.not_run:
        yield f"interrupted: {found.not_run} finding{'' if found.not_run == 1 else 's'} not run"
    if not found.results:
        if found.was_interrupted:
            return
        yield "nothing to verify"
        return
    counts = ", ".join(f"{count} {verdict}" for verdict, count in found.summary.items())
    yield f"{len(found.results)} finding{'' if len(found.results) == 1 else 's'} run: {counts}"
    if "NOT REPRODUCED" in found.summary:
        yield NOT_YET_SAFE
    unbuilt = {(each.finding.location.path, each.target) for each in found.results if "configure" in each.evidence}
    if unbuilt:
        many = f"{len(unbuilt)} targets need" if len(unbuilt) > 1 else "1 target needs"
        yield f"{many} configuration to be built: `--output-format full` prints what to paste"
    if found.without_probe:
        yield f"{found.without_probe} more that running the code cannot verify (see `torchlint check`)"
