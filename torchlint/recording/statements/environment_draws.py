"""TL312: whether an environment that the program makes begins otherwise in the next run."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import msgspec

from torchlint.recording.messages import Answer, ProbedFinding, Request
from torchlint.recording.originals import call_users
from torchlint.recording.statements.apart import run_apart
from torchlint.recording.statements.case import Case
from torchlint.recording.statements.execution import Execution
from torchlint.recording.statements.flattened import Flattened, difference, flattened
from torchlint.recording.statements.observing import place_of
from torchlint.recording.statements.places import Place, made_names
from torchlint.recording.statements.switch_watch import StatementWatch

_SAMPLES = 8
_SECONDS = 20.0


class _First(msgspec.Struct, frozen=True):
    kind: str = ""
    values: Flattened = Flattened({})
    why_none: str = ""


def judge_unseeded_environment(case: Case) -> Answer:
    """Both runs begin from the same seeds of torch, NumPy and Python: those do not reach an environment."""
    if case.seen.stubs:
        return case.says("SKIPPED", f"{', '.join(case.seen.stubs)} is not installed here", skipped="load")
    request, finding = case.context.request, case.finding
    place = place_of(request, finding)
    first, second = (run_apart(lambda: _first(request, finding, place), _First, _SECONDS * 2) for _ in range(2))
    if first.why_none or second.why_none:
        return case.says("NOT REPRODUCED", first.why_none or second.why_none)
    change = difference(first.values, second.values)
    if change is None or change.only_key_order:
        compared = len(first.values.by_place)
        return case.says("NOT REPRODUCED", f"the first {first.kind} of two runs were the same", compared=compared)
    reason = f"the first {first.kind} of two runs differ, though torch, numpy and random were seeded alike"
    evidence = {"place": change.place, "first": change.first, "second": change.second}
    return case.says("CONFIRMED", f"{reason}: {change.first} and {change.second}", **evidence)


def _first(request: Request, finding: ProbedFinding, place: Place) -> _First:
    watch = StatementWatch(request.code.path, place, finding, _SECONDS, start=1)
    execution = Execution(request, place)
    with watch:
        execution.ended(lambda: execution.run(lambda: watch.reached), _SECONDS)
    if execution.module is None and not watch.variables:
        return _First(why_none="the file could not be loaded")
    names = {**(vars(execution.module) if execution.module else {}), **watch.variables}
    made = [names[name] for name in made_names(place.statement) if name in names]
    for environment in itertools.chain.from_iterable(map(_environments, [*made, execution.result])):
        return _begun(environment, wants_actions=finding.variant == "space")
    return _First(why_none=f"line {finding.line} left no environment that can be tested")


def _environments(value: Any) -> Iterator[Any]:  # noqa: ANN401 - whatever the statement made
    """The value itself, or the environment that an algorithm keeps."""
    is_environment = hasattr(value, "reset") and hasattr(value, "action_space")
    if is_environment or (hasattr(value, "sample") and hasattr(value, "contains")):
        yield value
    elif callable(getattr(value, "get_env", None)) and (kept := value.get_env()) is not None:
        yield kept


def _begun(environment: Any, *, wants_actions: bool) -> _First:  # noqa: ANN401 - likewise
    space = environment if not hasattr(environment, "reset") else environment.action_space
    is_drawn = wants_actions or space is environment
    drawn = call_users(lambda: [space.sample() if is_drawn else environment.reset() for _ in range(_SAMPLES)])
    return _First("sampled actions" if is_drawn else "states", flattened(drawn))
