"""A `torch.autograd.Function` as what is run: by what applies it, else alone."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn

from torchlint.recording.building.modules import Builder, Ready
from torchlint.recording.errors import CannotRun

Function = type[torch.autograd.Function]
_SHARE = 0.5


def through_what_applies(builder: Builder, function: Function) -> Ready:
    """The first of the file's classes and functions that runs and does apply it; else its own `apply`."""
    for name in builder.request.target.applied_by if builder.request.hooks.is_empty else ():
        found = builder.namespace.get(name)
        if not callable(found) or found == function.apply:  # another name for what comes last
            continue
        try:
            with _counted(function) as runs:
                ready = _ready(builder.within(_SHARE), name, found)
                runs.clear()
                ready.subject.run()
        except Exception:  # noqa: BLE001, S112 - the next one, or the function alone, whose own failure is told
            continue
        if runs:
            return ready
    return builder.of_call(f"{function.__name__}.apply", _alone(function), make_input_grad=True)


def _ready(builder: Builder, name: str, found: Callable[..., Any]) -> Ready:
    if not isinstance(found, type):
        return builder.of_call(name, found, make_input_grad=True)
    if not issubclass(found, nn.Module):
        raise CannotRun("constructor", f"{name} is not a module class")
    return builder.of_class(found)


@contextmanager
def _counted(function: Function) -> Iterator[list[None]]:
    """Meanwhile each application leaves an entry."""
    runs: list[None] = []
    own: Callable[..., Any] = function.forward

    def forward(*args: object) -> Any:  # noqa: ANN401 - whatever the function returns
        runs.append(None)
        return own(*args)

    function.forward = staticmethod(forward)  # type: ignore[method-assign]
    try:
        yield runs
    finally:
        function.forward = staticmethod(own)  # type: ignore[method-assign]


def _alone(function: Function) -> Callable[..., Any]:
    """`apply` with the parameters of `forward`, of which the context is nobody's input."""
    signature = inspect.signature(function.forward)
    has_context = function.setup_context is torch.autograd.Function.setup_context
    taken = signature.replace(parameters=list(signature.parameters.values())[has_context:])

    def call(*args: object, **kwargs: object) -> Any:  # noqa: ANN401 - whatever the function returns
        bound = taken.bind(*args, **kwargs)
        bound.apply_defaults()
        return function.apply(*bound.args)

    call.__wrapped__ = function.forward  # type: ignore[attr-defined] # what it does with its inputs is read there
    call.__signature__ = taken  # type: ignore[attr-defined]
    return call
