"""Digests of what tensors hold. They depend on the position of each element, as sums and norms do not.

On the CPU the bytes are hashed where they lie (XXH3). Elsewhere torch adds up elements that are multiplied by a weight
of their position, in whole numbers modulo 2**64, so that the order of adding is of no consequence. These sums stay in
a buffer of the device until the step ends: nothing waits for the device, and nothing is transferred, before that.
"""

from __future__ import annotations

import ctypes
import struct
from typing import Any

import torch
import xxhash

from torchlint.recording.comparison.bits import raw_bytes, stored_parts

_SLOTS = 16_384
"""Digests of one buffer; a step that needs more gets more buffers."""
_CHUNK = 1 << 20
"""Elements that are weighed at once: 8 MB of the device, made once."""
_NO_BYTES = frozenset({"meta"})
_GOLDEN = -7046029254386353131
"""2**64 divided by the golden ratio, as a signed number: odd, and its multiples spread evenly."""


def digest_of_bytes(data: bytes) -> int:
    return xxhash.xxh3_64_intdigest(data)


def joined(*digests: int) -> int:
    """One digest of several, in their order."""
    return xxhash.xxh3_64_intdigest(struct.pack(f"<{len(digests)}Q", *digests))


class Pending:
    """A digest that still lies on the device."""

    __slots__ = ("buffer", "slot")

    def __init__(self, buffer: DeviceSums, slot: int) -> None:
        self.buffer = buffer
        self.slot = slot

    def fetched(self) -> int:
        return self.buffer.fetched(self.slot)


Digest = int | Pending
"""What a row holds until its step ends."""


def resolved(digest: Digest) -> int:
    return digest if isinstance(digest, int) else digest.fetched()


class Digests:
    """Makes digests of tensors, on the device of each."""

    def __init__(self) -> None:
        self._open: dict[torch.device, DeviceSums] = {}

    def of(self, tensor: torch.Tensor) -> Digest:
        """The digest of a tensor's elements in their order; 0 for one that holds none (meta, fake, empty)."""
        plain = parts_of(tensor)
        if len(plain) == 1:
            return self._of_part(plain[0])
        return joined(*(resolved(self._of_part(each)) for each in plain)) if plain else 0

    def _of_part(self, tensor: torch.Tensor) -> Digest:
        if not tensor.numel():
            return 0
        if tensor.device.type == "cpu":
            return _hashed_in_place(tensor)
        return self._sums(tensor.device).of(tensor)

    def _sums(self, device: torch.device) -> DeviceSums:
        sums = self._open.get(device)
        if sums is None:
            sums = self._open[device] = DeviceSums(device)
        elif sums.is_full:
            sums = self._open[device] = sums.next_one()
        return sums

    def begin_step(self) -> None:
        """The digests of the last step were fetched: their buffers are used again."""
        for sums in self._open.values():
            sums.reset()


class DeviceSums:
    """A buffer of sums on one device."""

    def __init__(
        self, device: torch.device, weights: torch.Tensor | None = None, work: torch.Tensor | None = None
    ) -> None:
        self._device = device
        self._sums = torch.zeros(_SLOTS, dtype=torch.int64, device=device)
        self._weights = _weights(device) if weights is None else weights
        self._work = torch.empty(_CHUNK, dtype=torch.int64, device=device) if work is None else work
        self._used = 0
        self._fetched: list[int] | None = None

    @property
    def is_full(self) -> bool:
        return self._used == _SLOTS

    def next_one(self) -> DeviceSums:
        return DeviceSums(self._device, self._weights, self._work)

    def reset(self) -> None:
        self._used, self._fetched = 0, None

    def of(self, tensor: torch.Tensor) -> Pending:
        slot = self._used
        self._used += 1
        total = self._sums[slot]
        total.zero_()
        elements = _as_integers(tensor)
        for start in range(0, elements.numel(), _CHUNK):
            piece = elements[start : start + _CHUNK]
            work = self._work[: piece.numel()]
            torch.mul(piece, self._weights[: piece.numel()], out=work)
            total.mul_(_GOLDEN).add_(work.sum())
        return Pending(self, slot)

    def fetched(self, slot: int) -> int:
        if self._fetched is None:
            self._fetched = self._sums[: self._used].tolist()
        return self._fetched[slot] & (1 << 64) - 1


def _weights(device: torch.device) -> torch.Tensor:
    """Odd numbers that differ from place to place, the same on every device."""
    places = torch.arange(1, _CHUNK + 1, dtype=torch.int64, device=device)
    mixed = places * _GOLDEN
    return (mixed ^ (mixed >> 29)) * _GOLDEN | 1


def _as_integers(tensor: torch.Tensor) -> torch.Tensor:
    """Whole numbers of at most 32 bits. The sign of a double, as bit 63, would be lost: any weight leaves it there."""
    plain = tensor.resolve_conj().resolve_neg().contiguous().reshape(-1).view(torch.uint8)
    size = tensor.element_size()
    return plain.view(torch.int16 if size == 2 else torch.int32) if size in (2, 4, 8, 16) else plain


def parts_of(tensor: torch.Tensor) -> list[torch.Tensor]:
    """The plain strided tensors that hold what a tensor holds: what sparse ones store, the inner ones of wrappers."""
    if type(tensor) not in PLAIN:
        flatten = getattr(tensor, "__tensor_flatten__", None)
        if flatten is not None:
            names, _ = flatten()
            return [part for name in names for part in parts_of(getattr(tensor, name))]
    if tensor.device.type in _NO_BYTES or _is_opaque(tensor):
        return []
    return [part for part in stored_parts(tensor.detach()) if _lies_in_memory(part)]


PLAIN = frozenset({torch.Tensor, torch.nn.Parameter})


def has_memory(tensor: torch.Tensor) -> bool:
    """Whether the elements of a strided tensor can be read."""
    return tensor.device.type not in _NO_BYTES and not _is_opaque(tensor) and _lies_in_memory(tensor)


def _is_opaque(tensor: torch.Tensor) -> bool:
    """Whether no memory stands behind a tensor: one that is traced, batched by vmap, or only described."""
    return (
        tensor.is_nested
        or torch._C._functorch.is_functorch_wrapped_tensor(tensor)  # noqa: SLF001 - nothing public tells it
        or torch._is_functional_tensor(tensor)  # noqa: SLF001 - as above
        or "Fake" in type(tensor).__name__
    )


def _lies_in_memory(tensor: torch.Tensor) -> bool:
    """Not so where a storage was freed (sharded parameters between their uses), and for zeros that are only meant."""
    last = tensor.storage_offset() + (tensor.numel() if tensor.is_contiguous() else 1)
    return tensor.data_ptr() != 0 and tensor.untyped_storage().nbytes() >= last * tensor.element_size()


def _hashed_in_place(tensor: torch.Tensor) -> int:
    dense, seed = _dense(tensor)
    size = dense.numel() * dense.element_size()
    return xxhash.xxh3_64_intdigest((ctypes.c_char * size).from_address(dense.data_ptr()), seed)


def _dense(tensor: torch.Tensor) -> tuple[torch.Tensor, int]:
    """The tensor, or the order of axes that lies in one piece, with a number that tells the order."""
    if tensor.is_conj() or tensor.is_neg():
        tensor = tensor.resolve_conj().resolve_neg()
    if tensor.is_contiguous():
        return tensor, 0
    if tensor.dim() == 2 and tensor.t().is_contiguous():
        return tensor.t(), 1
    if tensor.dim() == 4 and tensor.is_contiguous(memory_format=torch.channels_last):
        return tensor.permute(0, 2, 3, 1), 2
    return tensor.contiguous(), 0


def bytes_of(tensor: torch.Tensor) -> bytes:
    """The elements in the tensor's own order; nothing for a tensor that is in no single piece."""
    plain = parts_of(tensor)
    return raw_bytes(plain[0]) if len(plain) == 1 else b""


def kind_of(tensor: Any) -> str:  # noqa: ANN401 - a tensor, or a wrapper of one
    """`float32[64,3,32,32] cpu`."""
    shape = ",".join(map(str, tensor.shape)) if not tensor.is_nested else "nested"
    return f"{str(tensor.dtype).removeprefix('torch.')}[{shape}] {tensor.device.type}"
