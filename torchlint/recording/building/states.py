"""What a recurrent module keeps from step to step, where it is an input."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from typing import Any

import torch
from torch import nn

from torchlint.recording.building.plans import Tensor

_MAKES_STATE = re.compile(
    r"_*(init|initialize|get_init|initial|zero)\w*(hidden|state|hx|memor(y|ies)|mems?)\w*", re.IGNORECASE
)
_HALVES = (("hidden", "cell"), ("cell", "hidden"), (r"(^|_)h(?=x|_|\d|$)", r"\1c"), (r"(^|_)c(?=x|_|\d|$)", r"\1h"))
"""What the one half of a state is called, and what the other."""


def is_half_of_state(name: str, names: Iterable[str]) -> bool:
    """`hidden` beside `cell`, `h1` beside `c1`: the state of an LSTM comes as two parameters."""
    others = {new for pattern, replacement in _HALVES if (new := re.sub(pattern, replacement, name)) != name}
    return not others.isdisjoint(names)


def state_of(module: nn.Module, main: Tensor) -> Any:  # noqa: ANN401 - tensors in tuples and lists
    """As its own method makes it, as its recurrent layers take it, or of the shape of the input."""
    batch = main.sizes[0] if main.sizes else 2
    for name in dir(type(module)):
        if _MAKES_STATE.fullmatch(name):
            made = _made(getattr(module, name), batch)
            if made is not None:
                return made
    for layer in module.modules():
        if isinstance(layer, nn.RNNBase):
            rows = layer.num_layers * (2 if layer.bidirectional else 1)
            state = Tensor((rows, batch, layer.hidden_size))
            return (state, state) if isinstance(layer, nn.LSTM) else state
        if isinstance(layer, nn.RNNCellBase):
            state = Tensor((batch, layer.hidden_size))
            return (state, state) if isinstance(layer, nn.LSTMCell) else state
    return main if main.kind != "whole" else Tensor((batch, *main.sizes[1:]))


def _made(method: Any, batch: int) -> Any:  # noqa: ANN401 - a method of the user's
    """What the method makes for a batch of this size; None where it cannot be called so."""
    try:
        given = [each for each in inspect.signature(method).parameters.values() if each.default is each.empty]
        return _planned(method(*[batch][: len(given)]))
    except Exception:  # noqa: BLE001 - then the layers have to do
        return None


def _planned(value: Any) -> Any:  # noqa: ANN401 - tensors in tuples and lists
    if isinstance(value, torch.Tensor):
        return Tensor(tuple(value.shape), "normal" if value.is_floating_point() else "whole")
    if isinstance(value, (list, tuple)):
        return type(value)(map(_planned, value))
    return value
