"""Memory that torch hands out unwritten: where it was asked for, and filled with values of our choice."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from torchlint.recording.originals import Judging
from torchlint.recording.tensors import described
from torchlint.recording.tracing.dispatch_mode import PlainMode
from torchlint.recording.tracing.lines import user_line

Fill = Callable[[torch.Tensor, int], None]
"""Writes into unwritten memory; the number counts the fills."""

_ALLOCATING = frozenset(
    f"aten::{name}"
    for name in (
        *("empty", "empty_like", "empty_strided", "empty_permuted", "empty_quantized"),
        *("new_empty", "new_empty_strided", "resize_", "resize_as_"),
    )
)


class Allocations(PlainMode):
    """Watches what is allocated unwritten, and fills what the lines `first` to `last` of a file ask for.

    All other unwritten memory is set to one, so that what differs between two fills came from these lines.
    """

    def __init__(self, path: str, first: int, last: int, fill: Fill | None = None) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.path = Path(path).resolve()
        self.lines = range(first, last + 1)
        self.fill = fill
        self.at_the_lines: list[str] = []
        """What they asked for, as `float32[4,1]`."""
        self.elsewhere: set[str] = set()
        """Other places of the user's code, as `models.py:12`."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:  # noqa: ANN401
        name = func._schema.name  # noqa: SLF001 - the name without the overload
        before = args[0].untyped_storage().nbytes() if name.startswith("aten::resize") else 0
        result = func(*args, **(kwargs or {}))
        if name in _ALLOCATING:
            with Judging():
                self._note(result, before)
        return result

    def _note(self, tensor: torch.Tensor, written_bytes: int) -> None:
        file, line = user_line()
        new = _unwritten(tensor, written_bytes)
        if not new.numel():
            return
        if line not in self.lines or Path(file).resolve() != self.path:
            self.elsewhere.add(f"{Path(file).name}:{line}")
            if self.fill is not None:
                new.fill_(1)
            return
        if self.fill is not None:
            self.fill(new, len(self.at_the_lines))
        self.at_the_lines.append(described(tensor))


def _unwritten(tensor: torch.Tensor, written_bytes: int) -> torch.Tensor:
    """All of a new tensor; of a resized one the part that was added."""
    if not written_bytes:
        return tensor
    size = tensor.element_size()
    whole = tensor.untyped_storage()
    return tensor.new_tensor([]).set_(whole, 0, (whole.nbytes() // size,))[written_bytes // size :]  # type: ignore[call-overload, no-any-return]


def one_pattern(tensor: torch.Tensor, count: int) -> None:
    """Numbers of both signs, zeros and ones, or both truths: the same in every process."""
    _write(tensor, count, other=False)


def other_pattern(tensor: torch.Tensor, count: int) -> None:
    """Elsewhere in value, and with the opposite sign: what one pattern leaves below a threshold, the other does not."""
    _write(tensor, count, other=True)


def nothing_finite(tensor: torch.Tensor, count: int) -> None:
    """NaN; whole numbers have none, and get the pattern."""
    if tensor.is_floating_point() or tensor.is_complex():
        tensor.fill_(float("nan"))
    else:
        one_pattern(tensor, count)


def _write(tensor: torch.Tensor, count: int, *, other: bool) -> None:
    values = torch.view_as_real(tensor) if tensor.is_complex() else tensor
    generator = torch.Generator().manual_seed(count)
    coin = torch.randint(0, 2, values.shape, generator=generator)
    if not values.is_floating_point():
        values.copy_(1 - coin if other else coin)
        return
    # Sizes of their own for either: where values are normalised, a multiple of the first pattern would be the same.
    sizes, others = (torch.rand(values.shape, generator=generator, dtype=torch.float64) + 0.25 for _ in range(2))
    values.copy_((1 - 2 * coin) * others if other else (2 * coin - 1) * sizes)
