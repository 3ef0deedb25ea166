"""One observed run of the flagged statement, in a process of its own."""

from __future__ import annotations

import types
from collections.abc import Mapping
from typing import Any

import msgspec

from torchlint.recording.errors import CannotRun
from torchlint.recording.messages import ProbedFinding, Request
from torchlint.recording.statements.apart import longest, run_apart
from torchlint.recording.statements.execution import Execution
from torchlint.recording.statements.flattened import Flattened, flattened
from torchlint.recording.statements.invented import Invention
from torchlint.recording.statements.observed import Observed
from torchlint.recording.statements.places import Place, find_place
from torchlint.recording.statements.switch_watch import StatementWatch

_MOST_NAMES = 60


def observe_apart(request: Request, finding: ProbedFinding, start: int, seconds: float) -> Observed:
    """Run the statement in a fork whose generators begin from `start`, as two processes begin from other entropy."""
    place = place_of(request, finding)
    return run_apart(lambda: observe(request, finding, place, start, seconds), Observed, longest(seconds))


def place_of(request: Request, finding: ProbedFinding) -> Place:
    place = find_place(request.code.text, finding)
    if place is None:
        raise CannotRun("load", f"line {finding.line} was not in the part of the file that could be run")
    return place


def observe(request: Request, finding: ProbedFinding, place: Place, start: int, seconds: float) -> Observed:
    watch = StatementWatch(request.code.path, place, finding, seconds, start)
    execution = Execution(request, place, Invention())
    with watch:
        _, ended_by, kind = execution.ended(lambda: execution.run(lambda: watch.reached), seconds)
    names = {**(vars(execution.module) if execution.module else {}), **watch.variables}
    return msgspec.structs.replace(
        watch.observed(),
        ended_by=ended_by,
        ended_kind=kind,
        stubs=execution.stubs,
        entered=execution.entered,
        built_by=execution.arguments.built_by if execution.call is not None else "",
        values=_values(names, execution.result),
    )


def _values(names: Mapping[str, Any], result: object) -> dict[str, Flattened]:
    kept = {name: value for name, value in names.items() if not name.startswith("__") and _is_value(value)}
    if result is not None:
        kept["the result"] = result
    return {name: flattened(value) for name, value in list(kept.items())[:_MOST_NAMES]}


def _is_value(value: object) -> bool:
    return not isinstance(value, (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType))
