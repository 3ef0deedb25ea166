"""What a run of `verify` showed, as one HTML file that needs nothing else: no script, no font, no network."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from torchlint.recording.messages import Answer, Environment
from torchlint.recording.names import VerdictName
from torchlint.report.executed_code import Row, listing_of
from torchlint.report.html_page import page_lines
from torchlint.report.verify_evidence import Evidence, shown_evidence
from torchlint.report.verify_words import MEANINGS, NOT_YET_SAFE, call_words
from torchlint.verify.data import STRONGEST_FIRST, Result, TargetRun, Verification


@dataclass(frozen=True, slots=True)
class _Look:
    """The class of a verdict's colours, and a sign for those who do not see them."""

    colour: str
    sign: str


_LOOKS: dict[VerdictName, _Look] = {
    "DIVERGED": _Look("red", "✗"),
    "RAISED": _Look("red", "✗"),
    "CONFIRMED": _Look("red", "✗"),
    "REFUTED": _Look("green", "✓"),
    "VARIES": _Look("blue", "≈"),
    "TRACED": _Look("amber", "!"),
    "KERNEL-ONLY": _Look("amber", "!"),
    "NOT REPRODUCED": _Look("open", "?"),
    "SKIPPED": _Look("open", "–"),
}
"""Not reproduced is no green."""


@dataclass(frozen=True, slots=True)
class _Finding:
    """A result with the name that links use, and what is shown of its evidence and of that of other answers."""

    anchor: str
    result: Result
    evidence: Evidence
    others: tuple[tuple[Answer, Evidence], ...]


@dataclass(frozen=True, slots=True)
class _Target:
    """What belongs together on the page: one target and the findings about it, the strongest first."""

    name: str
    path: str
    run: TargetRun | None
    findings: tuple[_Finding, ...]

    @property
    def listing(self) -> tuple[Row, ...]:
        return () if self.run is None else listing_of(self.run, [finding.result for finding in self.findings])

    @property
    def how_it_ran(self) -> dict[str, str]:
        return {} if self.run is None else _how_it_ran(self.run)


def html_lines(found: Verification) -> Iterator[str]:
    """Yield the file's lines."""
    findings = _findings(found)
    return page_lines(
        "verify.html",
        found=found,
        findings=findings,
        targets=_targets(found, findings),
        environment=_environment(found.environment),
        verdicts=STRONGEST_FIRST,
        looks=_LOOKS,
        meanings=MEANINGS,
        not_yet_safe=NOT_YET_SAFE,
    )


def _findings(found: Verification) -> list[_Finding]:
    ordered = sorted(found.results, key=lambda result: (STRONGEST_FIRST.index(result.verdict), result.sort_key))
    return [
        _Finding(
            f"f{number}",
            result,
            shown_evidence(result.evidence),
            tuple((answer, shown_evidence(answer.evidence)) for answer in result.others),
        )
        for number, result in enumerate(ordered, 1)
    ]


def _targets(found: Verification, findings: Sequence[_Finding]) -> list[_Target]:
    """In the order of their strongest verdicts."""
    runs = {(run.path, run.name): run for run in found.runs}
    grouped: dict[tuple[str, str], list[_Finding]] = {}
    for finding in findings:
        result = finding.result
        grouped.setdefault((result.finding.location.path, result.target), []).append(finding)
    return [_Target(name, path, runs.get((path, name)), tuple(own)) for (path, name), own in grouped.items()]


def _environment(environment: Environment | None) -> dict[str, str]:
    if environment is None:
        return {}
    variables = {f"variable {name}": value for name, value in environment.variables.items()}
    devices = {f"device {name}": value for name, value in environment.devices.items()}
    return {
        "torch": environment.torch,
        "Python": environment.python,
        "platform": environment.platform,
        "CPU": environment.cpu,
        "CPU capability": environment.cpu_capability,
        "threads": str(environment.threads),
        "seed": str(environment.seed),
        **devices,
        **variables,
    }


def _how_it_ran(run: TargetRun) -> dict[str, str]:
    told: dict[str, str] = {}
    if run.executed is not None:
        told["executed"] = call_words(run.executed)
        told["arguments"] = run.executed.built_by
        told["attempts"] = str(run.executed.attempts) if run.executed.attempts > 1 else ""
        told["replaced missing imports"] = ", ".join(run.executed.stubs)
    told["took"] = f"{run.seconds:.1f} s"
    told["ended"] = "" if run.end == "done" else run.end
    return {name: words for name, words in told.items() if words}
