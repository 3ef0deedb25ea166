"""The places that operators write to by index, and how often one is met twice."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch

Arguments = dict[str, Any]
"""The arguments of an operator by the names of its schema."""


def written_places(operator: str, arguments: Arguments) -> torch.Tensor | None:
    """One number for each place that the operator writes to, repeated as often as it does; None if it has no index.

    `operator` is the name without namespace and overload, such as `index_add_`.
    """
    places = _PLACES.get(operator.rstrip("_"))
    try:
        return None if places is None else places(arguments)
    except (RuntimeError, IndexError, TypeError):
        return None  # the operator itself refuses these arguments in a moment, and says why


def has_conflicts(operator: str, arguments: Arguments, places: torch.Tensor) -> bool | None:
    """Whether one place is written with different values, so that the last write decides; None for what adds up."""
    written = _VALUES.get(operator.rstrip("_"))
    values = None if written is None or arguments.get("accumulate") else written(arguments)
    if values is None:
        return None
    rows = values.reshape(places.numel(), -1)
    order = places.argsort(stable=True)
    same_place = places[order][1:] == places[order][:-1]
    later, earlier = rows[order][1:], rows[order][:-1]
    differs = ((later != earlier) & ~(later.isnan() & earlier.isnan())).any(dim=1)
    return bool((same_place & differs).any())


def _along_dimension(arguments: Arguments) -> torch.Tensor:
    """`scatter`: each element of `index` replaces one coordinate of its own position."""
    index: torch.Tensor = arguments["index"]
    size = arguments["self"].shape
    if index.ndim == 0 or not size:
        return index.reshape(-1)
    dimension = arguments["dim"] % max(index.ndim, 1)
    coordinates = list(torch.meshgrid(*(torch.arange(n) for n in index.shape), indexing="ij"))
    coordinates[dimension] = index.cpu()
    return _flattened(coordinates, size)


def _rows(arguments: Arguments) -> torch.Tensor:
    index: torch.Tensor = arguments["index"].reshape(-1)
    size = arguments["self"].shape
    dimension = arguments.get("dim", 0)
    length = size[dimension] if size else 1
    return torch.where(index < 0, index + length, index)


def _elements(arguments: Arguments) -> torch.Tensor:
    index: torch.Tensor = arguments["index"].reshape(-1)
    return torch.where(index < 0, index + arguments["self"].numel(), index)


def _advanced(arguments: Arguments) -> torch.Tensor | None:
    """`index_put`: indices broadcast against each other; a mask stands for the places where it is true."""
    size = arguments["self"].shape
    coordinates, lengths = [], []
    dimension = 0
    for index in arguments["indices"]:
        if index is None:
            dimension += 1
            continue
        parts = index.nonzero(as_tuple=True) if index.dtype in (torch.bool, torch.uint8) else (index,)
        for part in parts:
            length = size[dimension]
            coordinates.append(torch.where(part < 0, part + length, part))
            lengths.append(length)
            dimension += 1
    return _flattened(torch.broadcast_tensors(*coordinates), lengths) if coordinates else None


def _read_rows(arguments: Arguments) -> torch.Tensor:
    """The backward pass of an embedding: rows of the weight, but for the padding."""
    indices: torch.Tensor = arguments["indices"].reshape(-1)
    return indices[indices != arguments.get("padding_idx", -1)]


def _pooled(arguments: Arguments) -> torch.Tensor:
    """The backward pass of a pooling: the element that each window took, within its own plane."""
    indices: torch.Tensor = arguments["indices"]
    planes = indices.reshape(-1, math.prod(indices.shape[-len(_window(arguments)) :]))
    beyond = int(planes.max()) + 1 if planes.numel() else 1
    return (planes + torch.arange(planes.shape[0], device=planes.device)[:, None] * beyond).reshape(-1)


def _window(arguments: Arguments) -> Sequence[int]:
    """Something that has one number for each dimension that is pooled."""
    size: Sequence[int] | None = arguments.get("kernel_size") or arguments.get("output_size")
    return size or arguments["self"].shape[2:]


def _flattened(coordinates: Sequence[torch.Tensor], size: Sequence[int]) -> torch.Tensor:
    """Coordinates as one number each."""
    place = torch.zeros_like(coordinates[0], dtype=torch.int64)
    for coordinate, length in zip(coordinates, size, strict=False):
        place = place * length + coordinate.to(torch.int64)
    return place.reshape(-1)


_PLACES: dict[str, Callable[[Arguments], torch.Tensor | None]] = {
    "scatter": _along_dimension,
    "scatter_add": _along_dimension,
    "scatter_reduce": _along_dimension,
    "index_add": _rows,
    "index_copy": _rows,
    "index_reduce": _rows,
    "index_put": _advanced,
    "_index_put_impl": _advanced,
    "_unsafe_index_put": _advanced,
    "put": _elements,
    "embedding_dense_backward": _read_rows,
    "max_unpool2d": _pooled,
    "max_unpool3d": _pooled,
    "max_pool2d_with_indices_backward": _pooled,
    "max_pool3d_with_indices_backward": _pooled,
    "adaptive_max_pool2d_backward": _pooled,
    "adaptive_max_pool3d_backward": _pooled,
    "fractional_max_pool2d_backward": _pooled,
    "fractional_max_pool3d_backward": _pooled,
}


def _stored_rows(arguments: Arguments) -> torch.Tensor:
    source: torch.Tensor = arguments["source"]
    return source.movedim(arguments["dim"], 0) if source.ndim else source


def _stored_values(arguments: Arguments) -> torch.Tensor | None:
    """`x[index] = values`, where indices stand for the leading dimensions."""
    indices = arguments["indices"]
    if any(index is None or index.dtype == torch.bool for index in indices):
        return None
    shape = torch.broadcast_shapes(*(index.shape for index in indices))
    values: torch.Tensor = arguments["values"]
    return values.expand(*shape, *arguments["self"].shape[len(indices) :])


def _scattered_values(arguments: Arguments) -> torch.Tensor | None:
    """`src` may be larger than the index: what lies beyond is not written."""
    source: torch.Tensor | None = arguments.get("src")
    return None if source is None else source[tuple(slice(0, size) for size in arguments["index"].shape)]


_VALUES: dict[str, Callable[[Arguments], torch.Tensor | None]] = {
    "scatter": _scattered_values,
    "index_copy": _stored_rows,
    "index_put": _stored_values,
    "_index_put_impl": _stored_values,
    "put": lambda arguments: arguments["source"],
}
