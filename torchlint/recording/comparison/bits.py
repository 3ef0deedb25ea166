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
    """Of all tensors in a value; of sparse ones, what they store."""
    found = 0
    for _, tensor in tensors_in(value):
        for part in stored_parts(tensor):
            found = zlib.crc32(raw_bytes(part), found)
    return found


def stored_parts(tensor: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """What a tensor stores: itself, or the indices and values of a sparse one."""
    if tensor.layout == torch.strided:
        return (tensor,)
    tensor = tensor.detach()
    if tensor.layout == torch.sparse_coo:
        return tensor._indices(), tensor._values()  # noqa: SLF001 - the public ones add up entries first
    if tensor.layout in (torch.sparse_csr, torch.sparse_bsr):
        return tensor.crow_indices(), tensor.col_indices(), tensor.values()
    if tensor.layout in (torch.sparse_csc, torch.sparse_bsc):
        return tensor.ccol_indices(), tensor.row_indices(), tensor.values()
    return (tensor.to_dense(),)
