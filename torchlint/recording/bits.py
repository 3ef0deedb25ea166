"""The bits of tensors: the same or not, and how far apart."""

from __future__ import annotations

import ctypes
import zlib

import torch

from torchlint.recording.tensors import tensors_in


def same_bits(first: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether two tensors are the same to the bit (two NaN of the same bits are, 0.0 and -0.0 are not)."""
    if first.layout != torch.strided or other.layout != torch.strided:
        return first.layout == other.layout and same_bits(first.to_dense(), other.to_dense())
    if first.shape != other.shape or first.dtype != other.dtype:
        return False
    return bool(torch.equal(_bytes(first), _bytes(other)))


def _bytes(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach().resolve_conj().resolve_neg().contiguous().reshape(-1).view(torch.uint8)


def distance(first: torch.Tensor, other: torch.Tensor) -> tuple[int, int, float]:
    """How many elements differ, of how many, and by how much at most (absolute)."""
    if first.shape != other.shape:
        return other.numel(), other.numel(), float("inf")
    exact = torch.complex128 if first.is_complex() else torch.float64
    apart = (first.detach().to("cpu", exact) - other.detach().to("cpu", exact)).abs()
    return int((apart != 0).sum()), first.numel(), float(apart.nan_to_num().max()) if apart.numel() else 0.0


def raw_bytes(tensor: torch.Tensor) -> bytes:
    """The elements as they lie in memory, in the tensor's own order. NumPy may be missing beside torch."""
    plain = _bytes(tensor).cpu()
    return ctypes.string_at(plain.data_ptr(), plain.numel()) if plain.numel() else b""


def checksum(value: object) -> int:
    """Of all dense tensors in a value."""
    found = 0
    for _, tensor in tensors_in(value):
        if tensor.layout == torch.strided:
            found = zlib.crc32(raw_bytes(tensor), found)
    return found
