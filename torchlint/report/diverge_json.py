"""What `diverge` found as one JSON object; docs/diverge.md describes it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from torchlint.diverge.data import Cause, Divergence, Growth, Ran, Source


def json_text(found: Divergence) -> Iterator[str]:
    """Yield the object."""
    yield msgspec.json.format(msgspec.json.encode(_object(found)), indent=2).decode()


def _object(found: Divergence) -> dict[str, Any]:
    first, *others = [_cause(each) for each in found.causes] or [_NO_CAUSE]
    return {
        "verdict": found.verdict,
        "command": found.command,
        "runs": [_run(each) for each in found.runs],
        **first,
        "more": others,
        "growth": [_growth(each) for each in found.growth],
        "not_varied": found.not_varied,
        "elsewhere": [{"process": each.process, "step": each.step} for each in found.elsewhere],
        "experiments": found.experiments,
        "notes": found.notes,
    }


_NO_CAUSE: dict[str, Any] = {"first": None, "factors": [], "explained_by": [], "cures": []}


def _run(run: Ran) -> dict[str, Any]:
    return {
        "exit": run.exit,
        "steps": run.recorded.steps,
        "operators": run.recorded.operators,
        "seconds": round(run.seconds, 3),
        "vary": run.vary,
    }


def _cause(cause: Cause) -> dict[str, Any]:
    return {
        "first": _first(cause),
        "factors": [
            {"factor": name, "equal_when_pinned": trial.equal, "alone": len(trial.held) == 1}
            for trial in cause.trials
            for name in trial.held
            if len(trial.held) == 1 or set(trial.held) == set(cause.factors)
        ],
        "smallest_set": cause.factors,
        "explained_by": [
            {"code": each.code, "path": each.path, "line": each.line, "message": each.message}
            for each in cause.explained_by
        ],
        "cures": [{"cure": each.cure, "equal": each.equal, "cost": each.cost} for each in cause.cures],
    }


def _first(cause: Cause) -> dict[str, Any]:
    found = cause.origin.found if cause.origin is not None else None
    distance = cause.origin.distance if cause.origin is not None else None
    return {
        "kind": found.kind if found else None,
        "process": cause.process,
        "step": cause.step,
        "differing": cause.differing,
        "direction": found.operator.row.direction if found else None,
        "operator": found.operator.name if found else None,
        "module": found.operator.module if found else None,
        "place": _place(cause.source),
        "stack": [_place(each) for each in cause.stack],
        "difference": None
        if distance is None
        else {
            "elements": distance.elements,
            "of": distance.of,
            "ulps": distance.ulps,
            "largest": distance.largest if distance.largest == distance.largest else None,
        },
        "entered": [{"words": each.words, "place": _place(each.source)} for each in cause.entered],
        "moves": cause.moves,
    }


def _place(source: Source | None) -> dict[str, Any] | None:
    return None if source is None else {"path": source.path, "line": source.line, "cell": source.cell}


def _growth(growth: Growth) -> dict[str, Any]:
    return {"step": growth.step, "relative": growth.relative, "loss": growth.loss, "digit": growth.digit}
