"""Probe `draws`: where the numbers of a generator come from, seen by starting twice from the same global seeds."""

from __future__ import annotations

import importlib.util
import random
from typing import Any

import torch
import torch.utils.data

from torchlint.recording.errors import CannotRun
from torchlint.recording.global_state.randomness import seed_everything
from torchlint.recording.loading import load
from torchlint.recording.loading.devices import at_hand
from torchlint.recording.loading.standing_in import told
from torchlint.recording.messages import Answer, ProbedFinding
from torchlint.recording.originals import call_users
from torchlint.recording.probe_context import ProbeContext, answer

_COUNT = 4
"""Draws that are compared: enough that equal ones are no coincidence."""

Drawn = list[Any]


def probe(context: ProbeContext, finding: ProbedFinding) -> Answer:
    with at_hand():
        if finding.code == "TL311":
            return _reseeded(context, finding)
        return _started_twice(context, finding)


def _started_twice(context: ProbeContext, finding: ProbedFinding) -> Answer:
    """An object that was made without a seed: it draws other numbers although all global generators are seeded."""
    first, other = (_draws_of(_made(context, finding)) for _ in range(2))
    evidence: dict[str, object] = {"starts": 2, "seed": context.request.seed, "first": first, "other": other}
    if first != other:
        reason = "two starts with every global generator seeded alike drew other numbers"
        return answer(context, finding, "draws", "CONFIRMED", reason, **evidence)
    reason = (
        "it follows the global seeds: two starts with all of them set alike drew the same; it varies where none is set"
    )
    return answer(context, finding, "draws", "NOT REPRODUCED", reason, **evidence)


def _made(context: ProbeContext, finding: ProbedFinding) -> object:
    """What the flagged expression gives in a fresh start of its slice."""
    _load_numpy()
    seed_everything(context.request.seed)
    names = vars(load(context.request.code).module)
    seed_everything(context.request.seed)
    return _evaluated(context, finding, names)


def _evaluated(context: ProbeContext, finding: ProbedFinding, names: dict[str, Any]) -> object:
    try:
        code = compile(finding.snippet.strip(), context.request.code.path, "eval")
        return call_users(eval, code, names)
    except SyntaxError:
        raise CannotRun("refused", "the flagged code is not an expression that can be evaluated alone") from None
    except Exception as error:
        raise CannotRun("constructor", f"the flagged expression fails alone: {told(error)}") from error


def _load_numpy() -> None:
    """Its global generator is seeded with the others, also where only the user's code imports it."""
    if importlib.util.find_spec("numpy"):
        importlib.import_module("numpy")


def _draws_of(made: object) -> Drawn:
    """The first numbers of a generator, or plain data as it is."""
    if isinstance(made, torch.Generator):
        return torch.rand(_COUNT, generator=made).tolist()
    if isinstance(made, random.Random):
        return [made.random() for _ in range(_COUNT)]
    for name in ("random_sample", "random"):  # numpy.random.RandomState, numpy.random.Generator
        method = getattr(made, name, None)
        if callable(method) and type(made).__module__.startswith("numpy.random"):
            return method(_COUNT).tolist()  # type: ignore[no-any-return]
    data = _plain(made)
    if data:
        return data[: _COUNT * 4]
    raise CannotRun("inputs", f"nothing can be drawn from a {type(made).__name__} without knowing its data")


def _plain(value: object) -> Drawn:
    """Numbers and text in sequences, arrays and tensors, in their order."""
    if isinstance(value, (bool, int, float, str)):
        return [value]
    if isinstance(value, torch.utils.data.Subset):
        value = value.indices  # what `random_split` returns
    tolist = getattr(value, "tolist", None)
    if callable(tolist):
        value = tolist()
    if isinstance(value, (list, tuple)):
        return [item for each in value for item in _plain(each)]
    return [value] if isinstance(value, (int, float, str)) else []


def _reseeded(context: ProbeContext, finding: ProbedFinding) -> Answer:
    """A seeding inside a loop: whatever was drawn before, each round starts from the same numbers."""
    _load_numpy()
    names = vars(load(context.request.code).module)
    rounds = []
    for other_state in (1, 2):
        seed_everything(other_state)
        _evaluated(context, finding, names)
        rounds.append({"torch": torch.rand(2).tolist(), "random": random.random(), "numpy": _numpy_draws()})  # noqa: S311 - not for secrets
    first, other = rounds
    equal = [name for name in first if first[name] and first[name] == other[name]]
    evidence: dict[str, object] = {"rounds": 2, "first": first, "other": other}
    if not equal:
        return answer(context, finding, "draws", "REFUTED", "after the call, two rounds drew other numbers", **evidence)
    reason = f"two rounds that begin with the call drew the same numbers from {', '.join(equal)}"
    return answer(context, finding, "draws", "CONFIRMED", reason, **evidence)


def _numpy_draws() -> Drawn:
    if not importlib.util.find_spec("numpy"):
        return []
    return importlib.import_module("numpy").random.random(2).tolist()  # type: ignore[no-any-return]
