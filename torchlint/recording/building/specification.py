"""Makes the inputs that are written down: in the user's configuration, or in a call of the project."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from torchlint.input_notation import TensorInput, parse_input
from torchlint.recording.errors import CannotRun
from torchlint.recording.messages import CallSite


@dataclass(frozen=True)
class Shown:
    """What a call in the project is given, made anew each time: a run may write to it."""

    call: CallSite
    namespace: Mapping[str, Any]

    def values(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Positional and keyword arguments. Raises what evaluating them raises."""
        names = {"device": torch.device("cpu"), **self.namespace}
        exec("\n".join(self.call.imports), names)  # noqa: S102 - imports of torch and NumPy
        args = tuple(eval(source, names) for source in self.call.args)  # noqa: S307 - of the user's own
        return args, {name: eval(source, names) for name, source in self.call.kwargs.items()}  # noqa: S307 - likewise


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
