"""Which operator gives other bits for equal operands: two runs, written down step by step."""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import torch

from torchlint.recording.clock import Deadline
from torchlint.recording.comparison.bits import checksum, distance, same_bits
from torchlint.recording.subject import Subject
from torchlint.recording.tensors import tensors_in
from torchlint.recording.tracing.events import Event
from torchlint.recording.tracing.recorder import Recorder

_UNWRITTEN = ("aten.empty", "aten.new_empty", "aten.resize")
"""What these return is whatever the memory held; probe `memory` looks at them."""

_DRAWS = torch.Tag.nondeterministic_seeded
"""What these return depends on a generator, whose state is no operand: one that no run restores gives other numbers."""


@dataclass(frozen=True)
class Source:
    """An operator that gave other bits for the same operands."""

    event: Event
    elements: int
    """How many differed."""
    of: int
    greatest: float
    """The greatest absolute difference."""
    step: int = 0
    """Its number among the operators of the run."""


@dataclass(frozen=True)
class _Step:
    event: Event
    operands: int
    results: tuple[torch.Tensor, ...]


class _ResultLog(Recorder):
    """A recorder that keeps the bits of what goes into each operator and of what comes out."""

    def __init__(self, subject: Subject) -> None:
        names = {each: name for name, each in subject.named_modules()}
        super().__init__(names=names)
        self.steps: list[_Step] = []

    def __torch_dispatch__(
        self,
        called: Any,  # noqa: ANN401 - torch's own signature, here and below
        types: Any,  # noqa: ANN401
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401
        if self.is_looking:
            return called(*args, **(kwargs or {}))
        operands = self.apart(lambda: _operands(args, kwargs or {}))
        results = super().__torch_dispatch__(called, types, args, kwargs)
        if not str(called).startswith(_UNWRITTEN) and _DRAWS not in called.tags:
            kept = self.apart(lambda: tuple(tensor.detach().clone() for tensor in _meant(results)))
            self.steps.append(_Step(self.events[-1], operands, kept))
        return results


def _operands(args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    """Of all that an operator is given: numbers as well as tensors."""
    return zlib.crc32(repr(_plain([*args, *sorted(kwargs.items())])).encode(), checksum((args, kwargs)))


def _plain(value: Any) -> object:  # noqa: ANN401 - any argument of an operator
    if isinstance(value, torch.Tensor):
        return value.dtype, value.shape
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value


def _meant(results: Any) -> Iterator[torch.Tensor]:  # noqa: ANN401
    """What an operator returns for the program, without the bytes that it keeps for its backward pass.

    Part of those (an LSTM's workspace) is never written.
    """
    tensors = [tensor for _, tensor in tensors_in(results)]
    yield from (each for each in tensors if len(tensors) == 1 or each.dtype != torch.uint8)


def sources(subject: Subject, tries: int, end: Deadline, wanted: Collection[str] = ()) -> tuple[Source, ...]:
    """The operators that give other bits for equal operands, seen by running with a log until one shows.

    Until one of the `wanted` shows, if any are named: on a GPU others (a convolution) may vary beside them.
    """
    first = _logged(subject)
    found: dict[int, Source] = {}
    for _ in range(tries):
        for source in _differing(first, _logged(subject)):
            found.setdefault(source.step, source)
        if are_enough(found.values(), wanted) or end.is_over:
            break
    return tuple(found[step] for step in sorted(found))


def are_enough(found: Iterable[Source], wanted: Collection[str]) -> bool:
    """Whether one is among the operators in question; whether there is any, where none is in question."""
    return any(not wanted or source.event.name in wanted for source in found)


def _logged(subject: Subject) -> list[_Step]:
    copied = subject.fresh()
    log = _ResultLog(copied)
    with torch.autograd.set_detect_anomaly(True, check_nan=False), log.hooked(), log:
        copied.backward(copied.forward())
    return log.steps


def _differing(first: list[_Step], other: list[_Step]) -> Iterator[Source]:
    for step, (before, after) in enumerate(itertools.zip_longest(first, other)):
        if before is None or after is None or before.event.name != after.event.name:
            return  # another path was taken: from here on nothing can be compared
        if before.operands != after.operands:
            continue
        for result, again in zip(before.results, after.results, strict=False):
            if not same_bits(result, again):
                yield Source(before.event, *distance(result, again), step)
                break
