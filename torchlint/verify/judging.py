"""From answers to one verdict for each finding: the strongest answer, with the others beside it."""

from __future__ import annotations

import dataclasses
import hashlib
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, get_args

from torchlint.diagnostics import Diagnostic
from torchlint.recording.messages import Answer, ProbedFinding
from torchlint.recording.names import ON_ACCELERATORS, ProbeName
from torchlint.verify.data import STRONGEST_FIRST, Finding, Result
from torchlint.verify.hooks import Lacking
from torchlint.verify.plan import Plan

_LINES = ("forward_line", "constructor_line", "diverged_at")
_NEEDS_WORDS: tuple[Lacking, ...] = get_args(Lacking)
"""Where the user's configuration helps."""


@dataclasses.dataclass(frozen=True)
class Judged:
    """The verdict about the finding of this number."""

    index: int
    result: Result


def judged(plan: Plan, answers: Sequence[Answer], end: str, findings: Mapping[int, Diagnostic]) -> Iterator[Judged]:
    """One verdict for every finding of a target. `end` says how the process ended, if not well."""
    for probed in plan.findings:
        own = [each for each in answers if each.finding == probed.index]
        if not own or (end and all(each.verdict == "SKIPPED" for each in own)):
            own = [*own, _unanswered(probed, end)]
        own.sort(key=lambda each: STRONGEST_FIRST.index(each.verdict))
        yield Judged(probed.index, _result(plan, probed, own, findings[probed.index]))


@dataclasses.dataclass(frozen=True)
class Refused:
    """A target whose table in the configuration is not understood."""

    target: str
    probe: ProbeName
    mistake: str


def unplanned(index: int, finding: Diagnostic, refused: Refused | None) -> Judged:
    """A finding whose target was refused, or whose file could not be read again."""
    about = _finding(finding, "")
    if refused is None:
        reason = "the file can no longer be read"
        return Judged(index, Result(about, "", None, "SKIPPED", "cpu", reason, {"kind": "load"}))
    evidence: dict[str, object] = {"kind": "configuration"}
    return Judged(index, Result(about, refused.target, refused.probe, "SKIPPED", "cpu", refused.mistake, evidence))


def _unanswered(probed: ProbedFinding, end: str) -> Answer:
    kind, _, detail = end.partition(": ")
    reason = f"{_ENDS.get(kind, 'its process ended')}: {detail}" if end else "its process gave no answer"
    if not end and not any(name in ON_ACCELERATORS for name in probed.probes):
        reason = f"its probe ({', '.join(probed.probes)}) runs on the CPU alone, which `--device` leaves out"
    if kind == "timeout":
        reason += " (`--timeout` gives it more)"
    return Answer(
        finding=probed.index,
        probe=probed.probes[0],
        verdict="SKIPPED",
        device="cpu",
        reason=reason,
        evidence={"kind": kind or "crash"},
    )


_SAID_LINE = re.compile(r"\bline (\d+)\b")
_ENDS = {
    "crash": "its process crashed",
    "timeout": "it took too long",
    "memory": "it took too much memory",
    "processes": "it started too many processes",
    "channel": "its process closed the result channel",
}


def _result(plan: Plan, probed: ProbedFinding, answers: Sequence[Answer], finding: Diagnostic) -> Result:
    strongest, *others = (_located(plan, each) for each in answers)
    evidence = dict(strongest.evidence)
    skipped = [each.evidence for each in answers if each.verdict == "SKIPPED"]
    obstacles = {each.get("kind") or each.get("skipped") for each in skipped}
    lacking = next((each for each in _NEEDS_WORDS if each in obstacles), None)
    if plan.table is not None and plan.hooks.is_empty and lacking is not None:
        evidence["configure"] = "\n".join(plan.table.lines(lacking))
    return Result(
        finding=_finding(finding, fingerprint(finding, probed.line, plan.code.text)),
        target=_in_cells(plan, plan.name),
        probe=strongest.probe,
        verdict=strongest.verdict,
        device=strongest.device,
        reason=strongest.reason,
        evidence=evidence,
        others=tuple(others),
        reproduce=_command(finding, plan.name, strongest),
        beside=tuple(plan.original(each.code.path) for each in plan.target.holders),
    )


def _finding(finding: Diagnostic, mark: str) -> Finding:
    return Finding(
        code=finding.code,
        name=finding.name,
        message=finding.message,
        location=finding.location,
        source_line=finding.source_line,
        variant=finding.variant,
        fingerprint=mark,
    )


def fingerprint(finding: Diagnostic, line: int, text: str) -> str:
    """Of what is found and of the code that runs for it, without the blank lines that keep its place.

    `line` is the finding's in the text, so that two alike on different lines stay apart.
    """
    lines = text.split("\n")
    place = sum(1 for each in lines[:line] if each.strip())
    code = "\n".join(each for each in lines if each.strip())
    parts = (finding.code, finding.variant, str(place), finding.source_line.strip(), code)
    return hashlib.sha256("\0".join(parts).encode(errors="surrogatepass")).hexdigest()[:32]


def _located(plan: Plan, answer: Answer) -> Answer:
    """The answer with its lines as the user counts them: in a notebook, in their cell."""
    evidence: dict[str, Any] = dict(answer.evidence)
    for name in _LINES:
        if isinstance(evidence.get(name), dict):
            evidence[name] = _line(plan, evidence[name])
    if "all_calls" in evidence:
        evidence["all_calls"] = [{**call, "line": _line(plan, call["line"])} for call in evidence["all_calls"]]
    return Answer(
        finding=answer.finding,
        probe=answer.probe,
        verdict=answer.verdict,
        device=answer.device,
        reason=_in_cells(plan, answer.reason),
        evidence=evidence,
    )


def _in_cells(plan: Plan, text: str) -> str:
    """Lines that a text speaks of, in a notebook as cell and line."""
    if not plan.source.cells:
        return text

    def located(found: re.Match[str]) -> str:
        place = plan.source.locate(int(found[1]), 1, int(found[1]), 1)
        return f"line {place.line} of cell {place.cell}"

    return _SAID_LINE.sub(located, text)


def _line(plan: Plan, line: dict[str, Any] | None) -> dict[str, object] | None:
    if line is None or not line.get("in_target"):
        return line and {"path": plan.shown_path(line["path"]), "cell": None, "line": line["line"]}
    place = plan.source.locate(line["line"], 1, line["line"], 1)
    return {"path": place.path, "cell": place.cell, "line": place.line}


def _command(finding: Diagnostic, name: str, answer: Answer) -> str:
    on = f" --device {answer.device}"
    if not finding.code:
        return f"torchlint verify {shlex.quote(f'{finding.location.path}::{name}')} --probe {answer.probe}{on}"
    return f"torchlint verify {shlex.quote(finding.location.shown_line)} --select {finding.code}{on}"
