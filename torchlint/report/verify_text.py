"""The verdicts for the terminal: a line for each finding, or with the evidence below it."""

from __future__ import annotations

from collections.abc import Iterator

from torchlint.recording.messages import Environment, VerdictName
from torchlint.report.paint import Paint, one_line
from torchlint.verify.data import FAILING, Result, TargetRun, Verification

_COLOURS: dict[VerdictName, str] = {
    "DIVERGED": "red",
    "RAISED": "red",
    "CONFIRMED": "red",
    "TRACED": "yellow",
    "KERNEL-ONLY": "yellow",
    "VARIES": "cyan",
    "REFUTED": "green",
}
_SHOWN = (
    ("operator", "operator"),
    ("forward_line", "called at"),
    ("constructor_line", "constructed at"),
    ("module", "module"),
    ("sizes", "sizes"),
    ("inputs", "inputs"),
    ("repeated_indices", "repeated indices"),
    ("calls", "calls"),
    ("largest", "largest sizes"),
    ("runs", "runs"),
    ("threads", "threads"),
    ("max_abs", "greatest difference"),
    ("words", "torch says"),
    ("command", "command"),
    ("exit_status", "its exit status"),
)
"""What of the evidence is printed, and what it is called."""


def text_lines(found: Verification, *, colour: bool) -> Iterator[str]:
    """One line a finding, and a closing line with the counts."""
    paint = Paint(colour)
    for result in found.results:
        yield _head(result, paint)
    yield from _closing(found)


def full_lines(found: Verification, *, colour: bool) -> Iterator[str]:
    """Each finding with its evidence and the command that runs it alone; last the environment."""
    paint = Paint(colour)
    runs = {(run.path, run.name): run for run in found.runs}
    for result in found.results:
        yield _head(result, paint)
        run = runs.get((result.finding.location.path, result.target))
        yield from (f"  {one_line(line)}" for line in _evidence(result, run))
        yield ""
    if found.environment is not None:
        yield from _environment(found.environment, found.sandbox)
        yield ""
    yield from _closing(found)


def _head(result: Result, paint: Paint) -> str:
    place = paint.bold(one_line(str(result.finding.location)))
    colour = _COLOURS.get(result.verdict)
    verdict = paint.coloured(result.verdict, colour) if colour else paint.bold(result.verdict)
    return f"{place}: {result.finding.code} {verdict} {one_line(result.reason)}"


def _evidence(result: Result, run: TargetRun | None) -> Iterator[str]:
    yield f"finding: {result.finding.message}"
    if result.finding.source_line.strip():
        yield f"code: {result.finding.source_line.strip()}"
    if run is not None and run.executed is not None:
        executed = run.executed
        inputs = ", ".join(executed.inputs)
        invented = " (invented)" if executed.invented_inputs else ""
        yield f"executed: {executed.construction or executed.name}, called with ({inputs}){invented}"
        if executed.stubs:
            yield f"stood in for missing imports: {', '.join(executed.stubs)}"
    for key, words in _SHOWN:
        value = result.evidence.get(key)
        if value not in (None, "", [], {}):
            yield f"{words}: {_worded(value)}"
    for answer in result.others:
        yield f"{answer.probe} on {answer.device}: {answer.verdict} {answer.reason}"
    configure = result.evidence.get("configure")
    if isinstance(configure, str):
        yield "tell torchlint how to run it:"
        yield from (f"  {line}" for line in configure.splitlines())
    yield f"run it alone: {result.reproduce}"


def _worded(value: object) -> str:
    if isinstance(value, dict) and "line" in value:
        cell = f"cell {value['cell']}:" if value.get("cell") else ""
        return f"{value['path']}:{cell}{value['line']}"
    if isinstance(value, dict):
        return ", ".join(f"{key} {_worded(item)}" for key, item in value.items())
    if isinstance(value, list):
        return "x".join(map(str, value)) if all(isinstance(each, int) for each in value) else ", ".join(map(str, value))
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _environment(environment: Environment, sandbox: str) -> Iterator[str]:
    devices = ", ".join(f"{device}: {name}" for device, name in environment.devices.items())
    yield f"torch {environment.torch}, Python {environment.python}, {devices}"
    yield f"CPU capability {environment.cpu_capability}, {environment.threads} threads, seed {environment.seed}"
    variables = " ".join(f"{name}={value}" for name, value in environment.variables.items())
    if variables:
        yield f"environment: {variables}"
    yield f"protected by: {sandbox}"


def _closing(found: Verification) -> Iterator[str]:
    if not found.results:
        yield "nothing to verify"
        return
    counts = ", ".join(f"{count} {verdict}" for verdict, count in found.summary.items())
    yield f"{len(found.results)} finding{'' if len(found.results) == 1 else 's'} run: {counts}"
    if not any(verdict in FAILING for verdict in found.summary):
        yield "what was not reproduced is not thereby safe: other inputs, sizes or devices may show it"
    if found.without_probe:
        yield f"{found.without_probe} more that no run can tell about (see `torchlint check`)"
