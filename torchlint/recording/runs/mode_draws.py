"""Draws that belong to a mode of the module: dropout that goes on in evaluation, draws that a checkpoint repeats."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import torch
from torch.utils import checkpoint as checkpointing

from torchlint.recording.comparison.bits import same_bits
from torchlint.recording.subject import Pass, Subject
from torchlint.recording.tensors import tensors_in
from torchlint.recording.tracing.events import Event
from torchlint.recording.tracing.recorder import Recorder


def draws_in_evaluation(subject: Subject) -> tuple[Event, ...]:
    """The operators that draw random numbers while the module is in evaluation."""
    return _draws_of(_evaluating(subject))


def draws_of_training(subject: Subject) -> tuple[Event, ...]:
    """The draws of layers that end when each module is switched to evaluation before it runs.

    Noise that a model adds in evaluation as well, a sampler's say, is none of them.
    """
    as_written = _draws_in_layers(subject)
    with _always_evaluating():
        left = Counter(_place(event) for event in _draws_in_layers(subject))
    return tuple(event for event in as_written if left[_place(event)] == 0)


def _draws_in_layers(subject: Subject) -> tuple[Event, ...]:
    return tuple(event for event in _draws_of(subject.fresh()) if event.constructor_lines)


def _place(event: Event) -> tuple[object, ...]:
    return event.name, event.forward_lines, event.constructor_lines


def _switch_to_evaluation(module: torch.nn.Module, _inputs: object) -> None:
    module.eval()  # what a hook of this kind returns would replace the inputs


@contextmanager
def _always_evaluating() -> Iterator[None]:
    hook = torch.nn.modules.module.register_module_forward_pre_hook(_switch_to_evaluation)
    try:
        yield
    finally:
        hook.remove()


def _draws_of(copied: Subject) -> tuple[Event, ...]:
    recorder = Recorder(names={m: name for name, m in copied.named_modules()})
    with torch.no_grad(), recorder.hooked(), recorder:
        copied.forward()
    return tuple(event for event in recorder.events if _draws(event.name))


def outputs_in_evaluation(subject: Subject, count: int) -> list[dict[str, torch.Tensor]]:
    """The outputs of forward passes on one input, in evaluation; the generators go on from one to the next."""
    copied = _evaluating(subject)
    with torch.no_grad():
        return [{place: t.clone() for place, t in tensors_in(copied.forward())} for _ in range(count)]


_NEWER = "_checkpoint_without_reentrant_generator_impl"
"""Since torch 2.15; it takes the switch by name."""
_GENERATOR = _NEWER if hasattr(checkpointing, _NEWER) else "_checkpoint_without_reentrant_generator"
"""What runs a checkpoint that is not reentrant: nothing public is below `checkpoint` itself."""


def differ(first: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    return first.keys() != other.keys() or any(not same_bits(first[place], other[place]) for place in first)


def pass_with_state_preserved(subject: Subject) -> Pass:
    """A pass in which every checkpoint keeps the state of the generators, whatever the code says."""
    with _state_preserved():
        return subject.run()


def _evaluating(subject: Subject) -> Subject:
    copied = subject.fresh()
    if copied.model is not None:
        copied.model.eval()
    return copied


@contextmanager
def _state_preserved() -> Iterator[None]:
    """Meanwhile checkpoints of both kinds keep it, whatever they are told."""
    real: Any = checkpointing.CheckpointFunction.apply

    def preserving(function: Any, _preserve: bool, *args: Any) -> Any:  # noqa: ANN401, FBT001 - torch's own signature
        return real(function, True, *args)  # noqa: FBT003

    real_generator: Any = getattr(checkpointing, _GENERATOR)

    def preserving_generator(function: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        if "preserve_rng_state" in kwargs:
            return real_generator(function, *args, **{**kwargs, "preserve_rng_state": True})
        return real_generator(function, True, *args[1:], **kwargs)  # noqa: FBT003

    with (
        mock.patch.object(checkpointing.CheckpointFunction, "apply", preserving),
        mock.patch.object(checkpointing, _GENERATOR, preserving_generator),
    ):
        yield


def _draws(name: str) -> bool:
    """Whether torch itself says of an operator (`aten.native_dropout.default`) that it draws."""
    operator: Any = torch.ops
    for part in name.split("."):
        operator = getattr(operator, part, None)
    return operator is not None and torch.Tag.nondeterministic_seeded in operator.tags
