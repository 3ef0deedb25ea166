"""Inputs in the user's words: `float32[2,3,64,64]`, `int64[2]{0..10}`, `bool[2,5]`, or a Python literal."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import Any

import torch

from torchlint.recording.errors import CannotRun

_TENSOR = re.compile(r"(?P<dtype>\w+)\s*\[(?P<sizes>[\d\s,]*)\](?:\s*\{(?P<low>[^{}]*?)\.\.(?P<high>[^{}]*)\})?")
_KEYWORD = re.compile(r"(?P<name>[A-Za-z_]\w*)\s*=(?!=)\s*(?P<rest>.+)", re.DOTALL)


def specified(inputs: Sequence[str], generator: torch.Generator) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The positional and the keyword inputs (`mask=bool[2,5]`)."""
    args, kwargs = [], {}
    for text in inputs:
        keyword = _KEYWORD.fullmatch(text.strip())
        if keyword:
            kwargs[keyword["name"]] = _value(keyword["rest"], generator)
        else:
            args.append(_value(text, generator))
    return tuple(args), kwargs


def _value(text: str, generator: torch.Generator) -> Any:  # noqa: ANN401 - a tensor or any literal
    found = _TENSOR.fullmatch(text.strip())
    dtype = getattr(torch, found["dtype"], None) if found else None
    if found and isinstance(dtype, torch.dtype):
        sizes = [int(size) for size in found["sizes"].split(",") if size.strip()]
        return _filled(sizes, dtype, (found["low"], found["high"]), generator)
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError) as error:
        raise CannotRun("inputs", f"`{text}` is neither a tensor such as float32[2,3] nor a literal") from error


def _filled(
    sizes: list[int], dtype: torch.dtype, bounds: tuple[str | None, str | None], generator: torch.Generator
) -> torch.Tensor:
    """Values from the lower bound up to, but not, the upper one; without bounds normal, 0 and 1, or either truth."""
    low, high = (float(bound) if bound else None for bound in bounds)
    if dtype == torch.bool:
        return torch.rand(sizes, generator=generator) < 0.5
    if dtype.is_floating_point or dtype.is_complex:
        if low is None or high is None:
            return torch.randn(sizes, generator=generator, dtype=torch.complex64 if dtype.is_complex else None).to(
                dtype
            )
        return (low + (high - low) * torch.rand(sizes, generator=generator)).to(dtype)
    return torch.randint(int(low or 0), int(high if high is not None else 2), sizes, generator=generator).to(dtype)
