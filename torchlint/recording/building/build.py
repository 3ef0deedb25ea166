"""From a request to a subject that runs: a module with the modules around it, a function, or an object of the file."""

from __future__ import annotations

import contextlib
import copy
import importlib
import itertools
import re
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import nn

from torchlint.recording.building.autograd_functions import through_what_applies
from torchlint.recording.building.failures import short
from torchlint.recording.building.globals import told
from torchlint.recording.building.memory import in_half_of
from torchlint.recording.building.methods import MethodOf
from torchlint.recording.building.modules import Builder, Ready
from torchlint.recording.clock import Deadline
from torchlint.recording.errors import CannotRun
from torchlint.recording.global_state.randomness import seed_everything
from torchlint.recording.loading import Loaded
from torchlint.recording.loading.devices import at_hand
from torchlint.recording.loading.script import as_script
from torchlint.recording.loading.weights import without_downloads
from torchlint.recording.messages import Executed, Request
from torchlint.recording.originals import Judging, call_users
from torchlint.recording.subject import Subject
from torchlint.recording.tensors import described

_SHARE = 0.4
"""The part of the request's time that may go into the search."""
_LONGEST = 30.0
_BUILDS = re.compile(
    r"_*(build|make|create)|"
    r"(?!.*(train|eval|test|save|load|updat|freez|count|print|plot|weight|param|loss|optim|sched|grad|input|output))"
    r"(_*(build|make|create|get|define|construct|init|set_?up|new)_?\w*"
    r"(model|net|backbone|coder|generator|discriminator|classifier|detector|module|layer|block|head|actor|critic|policy)\w*"
    r"|\w*(net|former|vit)(_?\d*\w{0,8}\d\w*|_(tiny|small|base|large|huge)\w*)?|define_\w+)",
    re.IGNORECASE,
)
"""Functions called so make models. Search for a constructor's arguments takes time that others need for inputs."""
_MOST_BUILT = 6


def build(request: Request, loaded: Loaded) -> tuple[Subject, Executed]:
    """Bring the target to run. Raises CannotRun with the reason."""
    deadline = Deadline(min(_LONGEST, request.seconds * _SHARE))
    builder = Builder(request, vars(loaded.module), deadline)
    with (
        warnings.catch_warnings(),
        as_script(request.code.path),
        at_hand("cpu"),
        in_half_of(request.memory_bytes),
        without_downloads() as without,
        builder.hub.installed(),
    ):
        # Attempts are not the user's run: what they warn of is no news.
        warnings.simplefilter("ignore")
        ready = _by_factory(builder) if request.hooks.factory else _of_kind(builder)
    lacking = ", without its pretrained weights" if without or builder.hub.fetched else ""
    lacking += ", its models of transformers with few layers" if builder.hub.has_shrunk else ""
    if loaded.left_out:
        count = len(loaded.left_out)
        failing = "a statement of its file that fails" if count == 1 else f"{count} statements of its file that fail"
        lacking += f", without {failing} here ({loaded.left_out[0]})"
    return ready.subject, _executed(ready, loaded, lacking + told(builder.names))


def _executed(ready: Ready, loaded: Loaded, lacking: str) -> Executed:
    subject, construction = ready.subject, ready.construction
    positional = tuple(described(value) for value in subject.args)
    named = tuple(f"{name}={described(value)}" for name, value in subject.kwargs.items())
    return Executed(
        name=subject.name,
        built_by=", ".join(filter(None, (construction.origin if construction else "", ready.inputs_of))) + lacking,
        construction=construction.source(subject.name) if construction else "",
        inputs=positional + named,
        invented_inputs=ready.invented_inputs,
        passes=ready.passes,
        stubs=loaded.stubs,
        attempts=ready.attempts,
    )


def _of_kind(builder: Builder) -> Ready:
    target = builder.request.target
    if target.kind == "module":
        return _module(builder)
    if target.kind == "function":
        return _function(builder)
    if target.kind == "object":
        return _object(builder)
    raise CannotRun("refused", f"{target.name} is a statement: there is nothing to construct")


def _module(builder: Builder) -> Ready:
    """The outermost module that holds it and can be built; else the class itself, with inputs that want a gradient."""
    target = builder.request.target
    named = _named(builder, target.name)
    if isinstance(named, type) and issubclass(named, torch.autograd.Function):
        return through_what_applies(builder, named)
    cls = _class(builder, target.name)
    # Arguments and inputs in the user's words are those of the class itself.
    for name in target.enclosing if builder.request.hooks.is_empty else ():
        try:
            around = _class(builder, name)
            ready = builder.within(_SHARE).of_class(around)
        except CannotRun:
            continue  # the next one, or the class itself, whose own failure is told
        model = ready.subject.model
        if model is not None and any(isinstance(part, cls) for part in model.modules()):
            return ready
    return builder.of_class(cls, make_input_grad=bool(target.enclosing))


def _class(builder: Builder, name: str) -> type[nn.Module]:
    found = _named(builder, name)
    if not isinstance(found, type) or not issubclass(found, nn.Module):
        raise CannotRun("constructor", f"{name} is not a class of modules once the file is loaded")
    return found


def _named(builder: Builder, name: str) -> Any:  # noqa: ANN401 - whatever the file holds
    first, *rest = name.split(".")
    if first not in builder.namespace:
        raise CannotRun("load", f"{name} does not exist once the file is loaded")
    found = builder.namespace[first]
    for part in rest:
        try:
            found = getattr(found, part)
        except AttributeError as error:
            raise CannotRun("load", f"{name} does not exist once the file is loaded") from error
    return found


def _object(builder: Builder) -> Ready:
    name = builder.request.target.name
    found = _named(builder, name)
    if not isinstance(found, nn.Module):
        raise CannotRun("constructor", f"{name} is a {type(found).__name__}, not a module")
    return builder.of_call(name, found)


def _function(builder: Builder) -> Ready:
    name = builder.request.target.name
    owner_name, _, method = name.rpartition(".")
    found = _named(builder, name)
    if not callable(found):
        raise CannotRun("constructor", f"{name} is a {type(found).__name__}, not a function")
    owner = _named(builder, owner_name) if owner_name else None
    if isinstance(owner, type) and not isinstance(_raw(owner, method), (staticmethod, classmethod)):
        return _method(builder, owner, method)
    built = _built(builder, found) if _BUILDS.fullmatch(method) else None
    if built is not None:
        return built
    ready = builder.of_call(name, found)
    made = ready.subject.fresh().forward()
    # A function that makes a module is a constructor: what it makes is run, with the lines that made it.
    return builder.of_call(name, made) if isinstance(made, nn.Module) else ready


def _built(builder: Builder, function: Callable[..., Any]) -> Ready | None:
    """What a function makes that is called like one that makes a model; None where it makes none that runs."""
    with contextlib.suppress(CannotRun):
        for construction, made, _ in itertools.islice(builder.within(_SHARE).instances(function), _MOST_BUILT):
            if not isinstance(made, nn.Module):
                return None
            with contextlib.suppress(CannotRun):
                ready = builder.within(_SHARE).of_call(function.__name__, made)
                again = partial(builder.hub.again, function, *construction.args, **construction.kwargs)
                return replace(ready, subject=replace(ready.subject, build=again), construction=construction)
    return None


def _raw(owner: type, name: str) -> object:
    return next((vars(base)[name] for base in owner.__mro__ if name in vars(base)), None)


def _method(builder: Builder, owner: type, name: str) -> Ready:
    failure: CannotRun | None = None
    for construction, instance, _ in builder.instances(owner):
        called = MethodOf(instance, name) if isinstance(instance, nn.Module) else _on_copies(instance, name)
        try:
            ready = builder.of_call(f"{owner.__name__}.{name}", called)
        except CannotRun as error:
            failure = failure or error
            continue
        return replace(ready, construction=construction)
    raise failure or CannotRun("constructor", f"{owner.__name__} could not be constructed in time")


def _on_copies(instance: object, method: str) -> Callable[..., Any]:
    """A method whose object is as new on every call: what one run leaves in it must not reach the next."""
    bound = getattr(instance, method)

    def call(*args: object, **kwargs: object) -> Any:  # noqa: ANN401 - whatever the method returns
        with Judging():
            copied = copy.deepcopy(instance)
        return getattr(copied, method)(*args, **kwargs)

    call.__wrapped__ = bound  # type: ignore[attr-defined] # its signature is the method's
    return call


def _by_factory(builder: Builder) -> Ready:
    """The user's own function, which returns (module, args, kwargs[, loss])."""
    factory = builder.request.hooks.factory
    name, _, function = factory.partition(":")
    try:
        seed_everything(builder.request.seed)
        module, args, kwargs, *rest = call_users(getattr(call_users(importlib.import_module, name), function))
    except Exception as error:
        raise CannotRun("constructor", f"{factory} failed: {short(error)}") from error
    called = type(module).__name__ if isinstance(module, nn.Module) else builder.request.target.name
    subject = Subject(called, module, tuple(args), dict(kwargs), rest[0] if rest else None, seed=builder.request.seed)
    return builder.given(subject)
