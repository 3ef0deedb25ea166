"""Makes the inputs that the user's configuration asks for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from torchlint.input_notation import TensorInput, parse_input
from torchlint.recording.errors import CannotRun


def specified(inputs: Sequence[str], generator: torch.Generator) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The positional and the keyword inputs (`mask=bool[2,5]`)."""
    args, kwargs = [], {}
    for text in inputs:
        try:
            given = parse_input(text)
        except ValueError as error:
            raise CannotRun("inputs", str(error)) from error
        value = _filled(given.value, generator) if isinstance(given.value, TensorInput) else given.value
        if given.name:
            kwargs[given.name] = value
        else:
            args.append(value)
    return tuple(args), kwargs


def _filled(wanted: TensorInput, generator: torch.Generator) -> torch.Tensor:
    """Values in the range; without bounds normal, 0 and 1, or either truth."""
    dtype = getattr(torch, wanted.dtype, None)
    if not isinstance(dtype, torch.dtype):
        raise CannotRun("inputs", f"torch {torch.__version__} has no element type `{wanted.dtype}`")
    sizes, low, high = wanted.sizes, wanted.low, wanted.high
    if dtype == torch.bool:
        return torch.rand(sizes, generator=generator) < 0.5
    if dtype.is_floating_point or dtype.is_complex:
        if low is None or high is None:
            return torch.randn(sizes, generator=generator, dtype=torch.complex64 if dtype.is_complex else None).to(
                dtype
            )
        return (low + (high - low) * torch.rand(sizes, generator=generator)).to(dtype)
    return torch.randint(int(low or 0), int(high if high is not None else 2), sizes, generator=generator).to(dtype)
