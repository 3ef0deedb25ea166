"""How two trainings drift apart that differ in nothing but precision, device or thread count, step by step."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import torch
from torch import nn

from torchlint.recording.clock import Deadline
from torchlint.recording.comparison.differences import difference
from torchlint.recording.global_state.randomness import seed_everything
from torchlint.recording.global_state.switches import restored_switches
from torchlint.recording.runs.precision import in_double
from torchlint.recording.subject import Subject

_MOST_STEPS = 200
_MOST_MODULES = 40


@dataclass(frozen=True)
class Setting:
    """What one of the two trainings runs under."""

    device: str = "cpu"
    in_double: bool = False
    threads: int | None = None


def curve(
    subject: Subject,
    one: Setting,
    two: Setting,
    *,
    steps: int = 30,
    learning_rate: float = 0.01,
    seconds: float = 20.0,
) -> dict[str, list[float]]:
    """For each module with parameters of its own, how far they are apart after each step.

    A step is one of plain SGD; where the subject is a function that is called with modules, it is the step itself.
    Plain data: lists of equal length, which end early where time runs out or a value is no longer finite. The modules
    that end furthest apart come first; there are none where no gradient flows, or the function changes no parameter.
    """
    deadline = Deadline(seconds)
    apart: dict[str, list[float]] = {}
    with restored_switches():
        sides = [_Training(subject, setting, learning_rate) for setting in (one, two)]
        for step in range(min(steps, _MOST_STEPS)):
            if not all(side.step(step) for side in sides):
                break
            row = _row(*(side.subject for side in sides))
            if not all(map(math.isfinite, row.values())):
                break
            for name, distance in row.items():
                apart.setdefault(name, []).append(distance)
            if deadline.is_over:
                break
    furthest = sorted(apart, key=lambda name: (-apart[name][-1], name))
    return {name: apart[name] for name in furthest[:_MOST_MODULES]}


class _Training:
    """One copy of the subject that is trained."""

    def __init__(self, subject: Subject, setting: Setting, learning_rate: float) -> None:
        placed = subject.on(setting.device)
        self.setting = setting
        self.learning_rate = learning_rate
        self.subject = in_double(placed) if setting.in_double else placed
        assert self.subject.models, "only modules are trained"

    def step(self, number: int) -> bool:
        """One update; False where there is none."""
        with _under(self.setting):
            if self.subject.model is not None:
                return self._descent(self.subject.model, number)
            return self._own_step(number)

    def _own_step(self, number: int) -> bool:
        before = [] if number else [(each, each.detach().clone()) for each in self._parameters()]
        seed_everything(self.subject.seed + number)
        self.subject.forward()
        return bool(number) or not all(torch.equal(now, then) for now, then in before)

    def _parameters(self) -> Iterator[nn.Parameter]:
        for model in self.subject.models.values():
            yield from model.parameters()

    def _descent(self, model: nn.Module, number: int) -> bool:
        # The same inputs each time, and fresh ones: a model may work on them in place.
        inputs = replace(self.subject, call=_no_call).fresh()
        running = replace(self.subject, args=inputs.args, kwargs=inputs.kwargs)
        seed_everything(self.subject.seed + number)
        model.zero_grad(set_to_none=True)
        if not running.backward(running.forward()):
            return False
        with torch.no_grad():
            for parameter in model.parameters():
                if parameter.grad is not None:
                    parameter.sub_(self.learning_rate * parameter.grad)
        return True


def _no_call() -> None:
    """Stands for the model where only the inputs are copied."""


@contextmanager
def _under(setting: Setting) -> Iterator[None]:
    with restored_switches():
        if setting.threads is not None:
            torch.set_num_threads(setting.threads)
        if setting.in_double:
            torch.set_default_dtype(torch.float64)
        yield


def _row(one: Subject, two: Subject) -> dict[str, float]:
    found: dict[str, float] = {}
    for (name, module), (_, other) in zip(one.named_modules(), two.named_modules(), strict=True):
        pairs = zip(module.parameters(recurse=False), other.parameters(recurse=False), strict=True)
        sizes = [_distance(here, there) for here, there in pairs]
        if sizes:
            found[name] = max(sizes)
    return found


def _distance(here: torch.Tensor, there: torch.Tensor) -> float:
    apart = difference(here, there)
    return math.nan if apart.only_one_finite or not math.isfinite(apart.largest) else apart.max_abs
