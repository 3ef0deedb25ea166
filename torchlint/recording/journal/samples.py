"""A few elements of each tensor, by which runs on two devices are compared.

On the CPU they are read where they lie. Elsewhere they are copied into a buffer of the device, which is fetched when
the step has ended: nothing waits for the device before.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Iterable, Sequence

import torch

from torchlint.recording.journal.digests import PLAIN, has_memory

_SAMPLED = 8
_SLOTS = 4_096
"""Samples of one buffer; a step that needs more gets more buffers."""
_FORMATS = {torch.float32: "f", torch.float64: "d", torch.float16: "e", torch.bfloat16: "f"}


class PendingSample:
    """A sample that still lies on the device."""

    __slots__ = ("buffer", "count", "slot")

    def __init__(self, buffer: DeviceSamples, slot: int, count: int) -> None:
        self.buffer = buffer
        self.slot = slot
        self.count = count

    def fetched(self) -> tuple[float, ...]:
        return self.buffer.fetched(self.slot)[: self.count]


Sample = tuple[float, ...] | PendingSample
"""What a row holds until its step ends."""


def fetched(sample: Sample) -> tuple[float, ...]:
    return sample if isinstance(sample, tuple) else sample.fetched()


class Samples:
    """Takes samples of tensors, on the device of each."""

    def __init__(self) -> None:
        self._open: dict[torch.device, DeviceSamples] = {}

    def of(self, tensor: torch.Tensor) -> Sample:
        """Elements at even distances, of real numbers; nothing for other tensors and for those without memory."""
        if tensor.device.type in ("cpu", "meta"):
            return sample_of(tensor)
        if not _has_numbers(tensor) or not tensor.is_contiguous():
            return ()
        samples = self._open.get(tensor.device)
        if samples is None or samples.is_full:
            samples = self._open[tensor.device] = DeviceSamples(tensor.device)
        return samples.of(tensor)

    def begin_step(self) -> None:
        """The samples of the last step were fetched: their buffers are used again."""
        for samples in self._open.values():
            samples.reset()


class DeviceSamples:
    """A buffer of samples on one device."""

    def __init__(self, device: torch.device) -> None:
        widest = torch.float32 if device.type == "mps" else torch.float64
        self._values = torch.zeros(_SLOTS, _SAMPLED, dtype=widest, device=device)
        self._fetched: list[list[float]] | None = None
        self.reset()

    @property
    def is_full(self) -> bool:
        return self._used == _SLOTS

    def reset(self) -> None:
        self._used, self._fetched = 0, None

    def of(self, tensor: torch.Tensor) -> PendingSample:
        slot, count = self._used, tensor.numel()
        self._used += 1
        taken = tensor.detach().view(-1)[:: -(-count // _SAMPLED)]
        self._values[slot, : len(taken)].copy_(taken)
        return PendingSample(self, slot, len(taken))

    def fetched(self, slot: int) -> tuple[float, ...]:
        if self._fetched is None:
            self._fetched = self._values[: self._used].tolist()
        return tuple(self._fetched[slot])


def _has_numbers(tensor: torch.Tensor) -> bool:
    is_plain = type(tensor) in PLAIN and tensor.layout == torch.strided and not tensor.is_neg()
    return tensor.dtype in _FORMATS and is_plain and has_memory(tensor)


def sample_of(tensor: torch.Tensor) -> tuple[float, ...]:
    """A few elements at even distances, in the tensor's own order, of real numbers on the CPU."""
    if tensor.device.type != "cpu" or not _has_numbers(tensor):
        return ()
    letter = _FORMATS[tensor.dtype]
    count = tensor.numel()
    places: Iterable[int] = range(count) if count <= _SAMPLED else range(0, count, -(-count // _SAMPLED))
    if not tensor.is_contiguous():
        shape, strides = tensor.shape, tensor.stride()
        places = [_in_memory(each, shape, strides) for each in places]
    size, start = tensor.element_size(), tensor.data_ptr()
    data = [ctypes.string_at(start + each * size, size) for each in places]
    if tensor.dtype == torch.bfloat16:
        data = [b"\0\0" + each for each in data]
    return struct.unpack(f"={len(data)}{letter}", b"".join(data))


def _in_memory(place: int, shape: Sequence[int], strides: Sequence[int]) -> int:
    """Where an element lies, in elements from the first one."""
    found = 0
    for size, stride in zip(reversed(shape), reversed(strides), strict=True):
        place, index = divmod(place, size)
        found += index * stride
    return found
