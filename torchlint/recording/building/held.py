"""A target that is part of another module: that one is built, and shows how its parts are called."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import torch
from torch import nn

from torchlint.recording.building.build import build
from torchlint.recording.building.modules import passes_of
from torchlint.recording.building.plans import detached
from torchlint.recording.building.trial import checked
from torchlint.recording.errors import CannotRun
from torchlint.recording.loading import load
from torchlint.recording.messages import Executed, Holder, Request
from torchlint.recording.subject import Subject
from torchlint.recording.tensors import described, tensors_in

_SHARE = 0.4
"""The part of the request's time that may go into one holder."""


def held(request: Request, holder: Holder) -> tuple[Subject, Executed]:
    """A module that holds the target, or derives from it. CannotRun where it cannot be built, or holds none."""
    target = msgspec.structs.replace(request.target, name=holder.name, enclosing=(), holders=())
    inner = msgspec.structs.replace(
        request, code=holder.code, hooks=holder.hooks, target=target, seconds=request.seconds * _SHARE
    )
    subject, executed = build(inner, load(holder.code, whole=False))
    model = subject.model
    if model is None or not any(_is_target(type(part), request) for part in model.modules()):
        raise CannotRun("constructor", f"{holder.name} holds no {request.target.name} here")
    return subject, msgspec.structs.replace(executed, path=holder.code.path)


def as_called(request: Request, holder: Holder) -> tuple[Subject, Executed]:
    """The target alone, as its holder makes and calls it; a holder that derives from it is run itself."""
    subject, executed = held(request, holder)
    model = subject.model
    assert model is not None
    if _is_target(type(model), request):
        return subject, executed
    named = [each for each in model.named_modules() if not isinstance(each[1], torch.jit.ScriptModule)]  # without hooks
    names = [name for name, part in named if _is_target(type(part), request)]
    running = subject.fresh()
    with _overheard(running, names) as calls:
        running.forward()
    for name, (args, kwargs, wants_grad) in calls.items():
        part = Subject(request.target.name, model.get_submodule(name), args, kwargs, seed=subject.seed)
        part = replace(part, make_input_grad=wants_grad)
        try:
            passed = checked(part)
        except Exception:  # noqa: BLE001, S112 - it leans on what its holder does before: perhaps the next does not
            continue
        return part, _told(part, msgspec.structs.replace(executed, passes=passes_of(part, passed)), holder)
    raise CannotRun("inputs", f"{holder.name} does not call {request.target.name} here")


def _told(part: Subject, executed: Executed, holder: Holder) -> Executed:
    inputs = (*map(described, part.args), *(f"{name}={described(value)}" for name, value in part.kwargs.items()))
    return msgspec.structs.replace(
        executed, name=part.name, built_by=f"as {holder.name} makes and calls it ({executed.built_by})", inputs=inputs
    )


Call = tuple[tuple[Any, ...], dict[str, Any], bool]


@contextmanager
def _overheard(subject: Subject, names: list[str]) -> Iterator[dict[str, Call]]:
    """With what the parts of these names are called, each the first time, and whether a gradient reaches that."""
    calls: dict[str, Call] = {}

    def listener(name: str) -> Any:  # noqa: ANN401 - a hook
        def hear(_module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
            wants_grad = any(tensor.requires_grad for _, tensor in tensors_in((args, kwargs)))
            calls.setdefault(name, (detached(args), detached(kwargs), wants_grad))

        return hear

    model = subject.model
    assert model is not None
    hooks = [model.get_submodule(name).register_forward_pre_hook(listener(name), with_kwargs=True) for name in names]
    try:
        yield calls
    finally:
        for hook in hooks:
            hook.remove()


def _is_target(cls: type, request: Request) -> bool:
    """Whether it is the class of that name and file, or made of it; another run of the file makes other classes."""
    home = Path(request.code.path)
    return any(
        base.__name__ == request.target.name and _file_of(base) == home for base in cls.__mro__ if base is not object
    )


def _file_of(cls: type) -> Path | None:
    path = getattr(sys.modules.get(cls.__module__), "__file__", None)
    return None if path is None else Path(path).resolve()
