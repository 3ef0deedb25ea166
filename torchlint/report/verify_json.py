"""The verdicts for machines: one object with environment, results and summary."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator

import msgspec

from torchlint.recording.messages import Answer
from torchlint.verify.data import Result, TargetRun, Verification


def json_text(found: Verification) -> Iterator[str]:
    """Yield the lines of the object. ASCII only, so that any output encoding carries it."""
    environment = None if found.environment is None else msgspec.to_builtins(found.environment)
    if isinstance(environment, dict):
        environment.pop("type", None)
        environment["sandbox"] = found.sandbox
        environment["not_installed"] = dict(found.missing)
    summary: dict[str, int] = dict(found.summary) | {"without_probe": found.without_probe, "not_run": found.not_run}
    runs = {(run.path, run.name): run for run in found.runs}
    results = [_result(each, runs.get((each.finding.location.path, each.target))) for each in found.results]
    record = {"environment": environment, "results": results, "summary": summary}
    yield from json.dumps(record, indent=2).splitlines()


def _result(result: Result, run: TargetRun | None) -> dict[str, object]:
    place = result.finding.location
    return {
        "code": result.finding.code,
        "path": place.path if os.sep == "/" else place.path.replace(os.sep, "/"),
        "cell": place.cell,
        "line": place.line,
        "target": result.target,
        "probe": result.probe,
        "verdict": result.verdict,
        "device": result.device,
        "reason": result.reason,
        "executed": _executed(run),
        "evidence": result.evidence,
        "others": [_other(answer) for answer in result.others],
        "reproduce": result.reproduce,
    }


def _other(answer: Answer) -> dict[str, object]:
    return {
        "probe": answer.probe,
        "verdict": answer.verdict,
        "device": answer.device,
        "reason": answer.reason,
        "evidence": answer.evidence,
    }


def _executed(run: TargetRun | None) -> dict[str, object] | None:
    """What was built and called; None where the target did not come to run as one."""
    if run is None or run.executed is None:
        return None
    told = dict(msgspec.to_builtins(run.executed))
    del told["type"]
    return told
