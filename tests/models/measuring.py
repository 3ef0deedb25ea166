"""One pass forward and backward through a model, and the operators of the registry that it reached."""

from __future__ import annotations

import contextlib
import functools
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

from torchlint.catalogue import load_catalogue
from torchlint.catalogue.registry import Operator
from torchlint.recording.in_command.observer import event_of
from torchlint.recording.messages import OperatorFacts
from torchlint.recording.tensors import tensors_in
from torchlint.recording.tracing.dispatch_mode import PlainMode
from torchlint.recording.tracing.events import Event
from torchlint.recording.tracing.operands import operands_of, windows_overlap
from torchlint.recording.tracing.recorder import arguments_by_name
from torchlint.recording.tracing.registry_conditions import condition_of, only_reads
from torchlint.verify.operator_facts import operator_facts

_DRAWING = ("bernoulli", "dropout", "exponential", "multinomial", "normal", "rand", "uniform")
"""Parts of the names of operators that draw random numbers."""
_UNWRITTEN = "TL118"
"""Memory that is handed out unwritten: operators that write it at once ask for it, too."""
_ATTENTION = "attention_modules"
_SAID_BY_OTHERS = frozenset(
    {
        *("sdpa_flash", "sdpa_efficient", "sdpa_cudnn"),  # attention_modules: which one runs is chosen then
        *("interpolate_area1d", "interpolate_area2d", "interpolate_area3d"),  # adaptive_avg_pool2d and 3d
        "max_pool3d_with_indices",  # max_pool3d
        "stft_frames",  # as_strided_backward
    }
)
"""Entries that list what another one lists first: a trace does not tell them apart."""
_CONVOLUTION = "convolution"


@dataclass(frozen=True)
class Held:
    """What a model was seen to run."""

    operators: tuple[str, ...]
    """Ids of the registry, sorted."""
    draws: bool
    """Whether its forward pass draws random numbers in training."""

    @property
    def convolutions(self) -> bool:
        return _CONVOLUTION in self.operators


@dataclass
class _Seen:
    forward: set[str] = field(default_factory=set)
    met: set[str] = field(default_factory=set)
    """Ids of operators whose conditions a call met."""


class UnreachedError(Exception):
    """A part of a model that did not run, so that nobody knows what it holds."""


class _Recorder(PlainMode):
    """Compares each call with the entries of the registry that list its name."""

    def __init__(self, seen: _Seen, *, is_backward: bool) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._seen = seen
        self._is_backward = is_backward

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:  # noqa: ANN401
        name = str(func)
        if not self._is_backward:
            self._seen.forward.add(name)
        entries = [
            entry
            for entry in _entries().get(name, ())
            if entry.id not in self._seen.met
            and entry.direction in ("both", "backward" if self._is_backward else "forward")
        ]
        if entries:
            arguments = arguments_by_name(func, args, kwargs or {})
            event = _event(name, arguments, is_backward=self._is_backward)
            self._seen.met |= {
                entry.id
                for entry in entries
                if _is_so_called(entry.id, arguments)
                and not only_reads(entry, event)
                and condition_of(entry, event).is_met
            }
        return func(*args, **(kwargs or {}))


class _Attention(TorchFunctionMode):
    """Sees attention by its public name: each device makes other operators of it."""

    def __init__(self) -> None:
        super().__init__()
        self.is_seen = False

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:  # noqa: ANN401
        self.is_seen = self.is_seen or func is nn.functional.scaled_dot_product_attention
        return func(*args, **(kwargs or {}))


def _is_so_called(identity: str, arguments: dict[str, Any]) -> bool:
    """Whether a call has the word that an entry asks for: `scatter_reduce` with "sum" is not the one with "amax"."""
    wanted = [condition for spelling in load_catalogue().operator(identity).spelling for condition in spelling.where]
    words = [
        (arguments[one.argument], one.equals)
        for one in wanted
        if one.equals and isinstance(arguments.get(one.argument), str)
    ]
    return not words or any(word in equals for word, equals in words)


def _event(name: str, arguments: dict[str, Any], *, is_backward: bool) -> Event:
    """Tensors of the device "meta" hold no values, so that no index of theirs is known to repeat."""
    if any(tensor.is_meta for _, tensor in tensors_in(arguments)):
        overlaps = windows_overlap(name.split(".")[1], arguments)
        return Event(name=name, is_backward=is_backward, operands=operands_of(arguments), overlaps=overlaps)
    return event_of(name, arguments, is_backward=is_backward)


@functools.cache
def _entries() -> dict[str, list[OperatorFacts]]:
    """The entries of torch's own operators, by the names that they list."""
    catalogue = load_catalogue()
    found: dict[str, list[OperatorFacts]] = {}
    for entry in operator_facts(filter(_is_told_by_a_trace, catalogue.operators), catalogue.newest):
        for name in entry.aten:
            found.setdefault(name, []).append(entry)
    return found


def _is_told_by_a_trace(operator: Operator) -> bool:
    """Not where the values of data decide: a model holds no values but its own."""
    condition = operator.condition
    of_values = condition.unknown == "silence" and bool(condition.repeated_indices or condition.result)
    is_own = operator.library == "torch" and operator.rule != _UNWRITTEN
    return is_own and not of_values and operator.id not in _SAID_BY_OTHERS


@functools.cache
def _of_layers() -> dict[str, list[Operator]]:
    """The entries of other libraries, by the layers that run them."""
    found: dict[str, list[Operator]] = {}
    for operator in load_catalogue().operators:
        for spelling in operator.spelling if operator.library != "torch" else ():
            if spelling.call and not spelling.where:
                found.setdefault(spelling.call, []).append(operator)
    return found


def measure(model: nn.Module, run: Callable[[nn.Module], object]) -> Held:
    """`run` gives what the model answers in training. Of all its tensors with a gradient the sum goes backward."""
    model.train()
    torch.manual_seed(0)
    seen = _Seen()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with _Attention() as attention, _Recorder(seen, is_backward=False), _called_layers() as called:
            answer = run(model)
        answers = [tensor for _, tensor in tensors_in(answer) if tensor.requires_grad]
        with _Recorder(seen, is_backward=True):
            sum(one.float().sum() for one in answers).backward()  # type: ignore[union-attr]
    _require_all_layers(model, called)
    begun = {one for one in seen.met if _has_begun(one, seen.forward)} | ({_ATTENTION} if attention.is_seen else set())
    return Held(tuple(sorted(begun | set(_by_layers(model)))), any(map(_may_draw, seen.forward)))


@contextlib.contextmanager
def _called_layers() -> Iterator[set[type[nn.Module]]]:
    """The classes of the layers that are called meanwhile."""
    called: set[type[nn.Module]] = set()
    hook = nn.modules.module.register_module_forward_pre_hook(lambda layer, _: called.add(type(layer)))
    try:
        yield called
    finally:
        hook.remove()


def _require_all_layers(model: nn.Module, called: set[type[nn.Module]]) -> None:
    """Of torch's own layers that hold weights, one of each class was called, or got a gradient."""
    layers = [layer for layer in model.modules() if type(layer) in vars(nn).values()]
    held = {type(layer) for layer in layers if list(layer.parameters(recurse=False))}
    reached = {type(layer) for layer in layers if any(one.grad is not None for one in layer.parameters(recurse=False))}
    unreached = sorted(kind.__name__ for kind in held - reached - called)
    if unreached:
        raise UnreachedError(f"no {' or '.join(unreached)} ran")


def _has_begun(identity: str, forward: set[str]) -> bool:
    """Whether the forward pass ran what an entry lists first: several share what adds up in the backward pass."""
    operator = load_catalogue().operator(identity)
    return operator.direction != "backward" or operator.aten[0] in forward


def _by_layers(model: nn.Module) -> Iterator[str]:
    for layer in model.modules():
        package, name = type(layer).__module__.partition(".")[0], type(layer).__name__
        for place in ("ops", "layers"):
            yield from (operator.id for operator in _of_layers().get(f"{package}.{place}.{name}", ()))


def _may_draw(name: str) -> bool:
    return any(part in name.split(".")[1] for part in _DRAWING)
