"""The same subject with other values or more of them: what an observation says beyond the inputs at hand."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.nn.utils.rnn import PackedSequence, pack_sequence, unpack_sequence

from torchlint.recording.options import Options
from torchlint.recording.subject import Subject
from torchlint.recording.tensors import tensors_in

_MOST_ELEMENTS = 12_000_000
"""Of all inputs together; beyond, runs take too long."""
_INDICES = (torch.int64, torch.int32)
_SPREADS = (1.0, 8.0, 0.1, 100.0)


def varied(subject: Subject, variation: int) -> Subject:
    """The same with other values in its inputs and parameters, of the same sizes, and another seed.

    Values are drawn from those that are there, with repetition: indices stay valid and may meet. What is as good as
    constant gets neighbours, and floating-point values also other signs and magnitudes.
    """
    other = subject.fresh()
    generator = torch.Generator().manual_seed(subject.seed + variation)
    inputs = [tensor for _, tensor in tensors_in((other.args, other.kwargs))]
    parameters = [parameter for model in other.models.values() for parameter in model.parameters()]
    with torch.no_grad():
        for tensor in (*inputs, *parameters):
            if tensor.layout == torch.strided and tensor.numel() and not tensor.is_quantized:
                drawn = _drawn(tensor.detach().cpu(), _SPREADS[variation % len(_SPREADS)], generator)
                tensor.copy_(drawn.to(tensor.device, tensor.dtype))
    return dataclasses.replace(other, seed=subject.seed + variation)


def meeting(subject: Subject, variation: int) -> Subject:
    """The same with inputs in which equal values meet: few of the whole numbers that are there, and rounded others.

    The first variation has one whole number alone, each further one has one more.
    """
    other = subject.fresh()
    generator = torch.Generator().manual_seed(subject.seed + variation)
    with torch.no_grad():
        for _, tensor in tensors_in((other.args, other.kwargs)):
            if tensor.is_floating_point() and tensor.layout == torch.strided:
                tensor.round_()
            elif tensor.dtype in _INDICES and tensor.numel():
                few = tensor.unique().cpu()[-variation - 1 :]
                drawn = few[torch.randint(few.numel(), (tensor.numel(),), generator=generator)]
                tensor.copy_(drawn.view(tensor.shape))
    return other


def _drawn(values: torch.Tensor, spread: float, generator: torch.Generator) -> torch.Tensor:
    size = values.shape
    if values.dtype == torch.bool:
        return torch.randint(2, size, generator=generator).bool()
    known = values.reshape(-1)
    if not values.is_floating_point() and not values.is_complex() and known.unique().numel() == 1:
        known = torch.tensor([0, 1])
    drawn = known[torch.randint(known.numel(), (values.numel(),), generator=generator)].view(size)
    if not values.is_floating_point():
        return drawn
    noise = torch.randn(size, generator=generator)
    return (drawn + noise) * spread if spread > 1 else drawn + noise * 0.1


def scaled(subject: Subject, scale: int) -> Subject | None:
    """The same with more rows, where the module takes them; indices of a graph get longer instead of its nodes."""
    for grow in (_more_rows, _longer_indices, _more_edges(subject)):
        args, kwargs = grow(subject.args, scale), grow(subject.kwargs, scale)
        elements = sum(tensor.numel() for _, tensor in tensors_in((args, kwargs)))
        if elements > _MOST_ELEMENTS:
            continue
        larger = dataclasses.replace(subject, args=args, kwargs=kwargs)
        try:
            larger.run()
        except Exception:  # noqa: BLE001, S112 - sizes that the module does not take are no finding
            continue
        return larger
    return None


def growing(subject: Subject, least: int, enough: int) -> Iterator[int]:
    """Scales in steps of four: `least` of them, and on until the inputs hold `enough` elements once."""
    elements = sum(tensor.numel() for _, tensor in tensors_in((subject.args, subject.kwargs)))
    step = 0
    while step < least or 0 < elements * 4 ** (step - 1) < enough:
        yield 4**step
        step += 1


def _more_rows(value: Any, scale: int) -> Any:  # noqa: ANN401 - any input
    return _grown(value, lambda tensor: _with_rows(tensor, scale) if tensor.ndim else tensor)


def _with_rows(tensor: torch.Tensor, scale: int) -> torch.Tensor:
    """Rows behind the given ones: of floating-point values other mixtures, as equal ones add up alike in any order."""
    rows = tensor.repeat(scale, *([1] * (tensor.ndim - 1)))
    if tensor.is_floating_point() and tensor.layout == torch.strided and tensor.numel():
        generator = torch.Generator().manual_seed(scale)
        added = rows[len(tensor) :]
        places = torch.randint(tensor.numel(), (added.numel(),), generator=generator).to(tensor.device)
        added.copy_(tensor.reshape(-1)[places].view_as(added))
    return rows


def _longer_indices(value: Any, scale: int) -> Any:  # noqa: ANN401
    def longer(tensor: torch.Tensor) -> torch.Tensor:
        if tensor.is_floating_point() or not tensor.ndim:
            return tensor
        return tensor.repeat(*([1] * (tensor.ndim - 1)), scale)

    return _grown(value, longer)


def _more_edges(subject: Subject) -> Callable[[Any, int], Any]:
    """Pairs of nodes, and what belongs to each pair; the nodes and the graphs that they belong to stay."""
    tensors = [tensor for _, tensor in tensors_in((subject.args, subject.kwargs))]
    edges = {each.shape[-1] for each in tensors if each.ndim > 1 and not each.is_floating_point()}

    def grow(value: Any, scale: int) -> Any:  # noqa: ANN401 - any input
        def more(tensor: torch.Tensor) -> torch.Tensor:
            if tensor.ndim > 1 and not tensor.is_floating_point():
                return tensor.repeat(*([1] * (tensor.ndim - 1)), scale)
            return _with_rows(tensor, scale) if tensor.ndim and tensor.shape[0] in edges else tensor

        return _grown(value, more)

    return grow


def _grown(value: Any, grow: Any) -> Any:  # noqa: ANN401
    if isinstance(value, torch.Tensor):
        grown: torch.Tensor = grow(value.detach())
        return grown.requires_grad_(value.requires_grad)
    if isinstance(value, PackedSequence):
        return _longer_pack(value, grow)
    if isinstance(value, dict):
        grown_items = {key: _grown(item, grow) for key, item in value.items()}
        return type(value)(grown_items) if isinstance(value, Options) else grown_items
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_grown(item, grow) for item in value))
    if isinstance(value, (list, tuple)):
        return type(value)(_grown(item, grow) for item in value)
    return value


def _longer_pack(packed: PackedSequence, grow: Any) -> PackedSequence:  # noqa: ANN401
    """More sequences of the same lengths: rows of one step alone would fit to no lengths."""
    sequences = unpack_sequence(packed)
    times = len(_grown(torch.zeros(1), grow))
    grown = pack_sequence(sequences * times, enforce_sorted=False)
    return grown._replace(data=grown.data.detach().requires_grad_(packed.data.requires_grad))
