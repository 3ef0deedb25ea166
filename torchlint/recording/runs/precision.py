"""The same subject in double precision, and what precision a run really computes in."""

from __future__ import annotations

from typing import Any

import torch

from torchlint.recording.originals import Judging
from torchlint.recording.subject import Subject
from torchlint.recording.tensors import tensors_in
from torchlint.recording.tracing.dispatch_mode import PlainMode


def in_double(subject: Subject) -> Subject:
    """A copy whose parameters, buffers, plain tensor attributes and inputs are float64.

    Tensors that the code makes follow `torch.set_default_dtype(torch.float64)`, which the caller sets.
    """
    double = subject.on(subject.device, torch.float64)
    for _, module in double.named_modules():
        for name, value in vars(module).items():
            if isinstance(value, torch.Tensor) and value.is_floating_point():
                vars(module)[name] = value.detach().double()
    return double


class PrecisionsSeen(PlainMode):
    """Remembers the floating-point types that were computed in, single elements aside."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.dtypes: set[torch.dtype] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:  # noqa: ANN401
        result = func(*args, **(kwargs or {}))
        with Judging():
            self.dtypes |= {
                tensor.dtype for _, tensor in tensors_in(result) if tensor.is_floating_point() and tensor.numel() > 1
            }
        return result

    @property
    def coarsest(self) -> torch.dtype | None:
        return max(self.dtypes, key=lambda dtype: torch.finfo(dtype).eps, default=None)
