"""A CTC loss on a GPU, with the lengths on the CPU, as most programs have them.

torch reads such lengths as plain numbers. Under a dispatch mode it takes the path that it has for subclasses of
tensors instead, on which all tensors must be on one device: there the program would fail because it is recorded.
"""

from __future__ import annotations

import functools
from typing import Any

import torch


def take_lengths_as_numbers() -> None:
    """From now on, in this process: lengths on another device than the values go to torch as lists."""
    plain = torch.ctc_loss
    if hasattr(plain, "__wrapped__"):
        return

    @functools.wraps(plain)
    def ctc_loss(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - torch's own signature
        values, lengths = args[:1], args[2:4]
        if len(lengths) == 2 and _is_elsewhere(values[0], lengths):
            args = (*args[:2], *(each.tolist() for each in lengths), *args[4:])
        return plain(*args, **kwargs)

    torch.ctc_loss = ctc_loss


def _is_elsewhere(values: Any, lengths: tuple[Any, ...]) -> bool:  # noqa: ANN401 - whatever the program gives
    if not all(isinstance(each, torch.Tensor) for each in (values, *lengths)):
        return False
    return any(each.device != values.device for each in lengths)
