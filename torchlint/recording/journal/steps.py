"""The end of each step, and what two runs are held to be equal by: losses, gradients, parameters, buffers, outputs."""

from __future__ import annotations

import functools
import math
import threading
import weakref
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import nn
from torch.optim import optimizer as optimizers
from torch.utils.hooks import RemovableHandle

from torchlint.recording.journal.aside import Aside
from torchlint.recording.journal.digests import Digest, Digests, digest_of_bytes, joined, parts_of, resolved
from torchlint.recording.journal.samples import Sample, Samples, fetched
from torchlint.recording.tensors import tensors_in

_SAMPLED_PARAMETERS = 8
_MOST_READS = 10_000

StepEnd = Callable[[str], None]
"""Told the words for what ended the step: `optimizer 1`."""
ModuleCall = Callable[[nn.Module, object], None]


class StepValues:
    """Digests of the step that runs."""

    def __init__(self, digests: Digests, samples: Samples) -> None:
        self._digests = digests
        self._samples = samples
        self._optimizers: weakref.WeakKeyDictionary[torch.optim.Optimizer, int] = weakref.WeakKeyDictionary()
        self.told_parameters: Callable[[list[torch.Tensor]], None] = lambda _: None
        self._roots: dict[int, tuple[weakref.ref[nn.Module], list[nn.Module]]] = {}
        self.clear()

    def clear(self) -> None:
        self.losses: list[torch.Tensor] = []
        self._digests_of: dict[str, list[Digest]] = {}
        self._samples_of_parameters: list[Sample] = []
        self.is_empty = True

    def add(self, name: str, tensors: Iterable[torch.Tensor]) -> None:
        self._digests_of.setdefault(name, []).extend(self._digests.of(each) for each in tensors)
        self.is_empty = False

    def add_loss(self, tensor: torch.Tensor) -> None:
        self.add("loss", [tensor])
        if tensor.numel() == 1:
            self.losses.append(tensor.detach().clone())

    def add_read(self, value: object) -> None:
        """A number that Python took out of a tensor."""
        reads = self._digests_of.setdefault("reads", [])
        if len(reads) < _MOST_READS:
            reads.append(digest_of_bytes(repr(value).encode()))

    def add_output(self, module: nn.Module, output: object) -> None:
        """What a module gave that no other module called."""
        self._root(module)
        self.add("outputs", (tensor for _, tensor in tensors_in(output)))

    def _root(self, module: nn.Module) -> None:
        known = self._roots.get(id(module))
        if known is None or known[0]() is not module:
            parts = [each for each in module.modules() if each._buffers]  # noqa: SLF001 - `buffers()` walks all modules
            self._roots[id(module)] = (weakref.ref(module), parts)

    def number_of(self, optimizer: torch.optim.Optimizer) -> int:
        return self._optimizers.setdefault(optimizer, len(self._optimizers) + 1)

    def add_gradients(self, optimizer: torch.optim.Optimizer) -> None:
        self.add("gradients", (each.grad for each in _parameters(optimizer) if each.grad is not None))

    def add_parameters(self, optimizer: torch.optim.Optimizer) -> None:
        parameters = list(_parameters(optimizer))
        self.add("parameters", parameters)
        self.told_parameters(parameters)
        every = max(1, -(-len(parameters) // _SAMPLED_PARAMETERS))
        self._samples_of_parameters = [self._samples.of(each) for each in parameters[::every]]
        self.add_buffers()

    def add_buffers(self) -> None:
        roots = [own for own in self._roots.values() if own[0]() is not None]
        owners = [part._buffers for _, parts in roots for part in parts]  # noqa: SLF001 - as above
        self.add("buffers", (each for own in owners for each in own.values() if each is not None))

    @property
    def sample(self) -> tuple[float, ...]:
        """Some elements of some parameters, always the same ones."""
        return tuple(value for each in self._samples_of_parameters for value in fetched(each))

    def closed(self) -> tuple[tuple[float, ...], dict[str, int]]:
        """Losses, and one digest of each kind."""
        losses = tuple(_number(each) for each in self.losses)
        return losses, {name: joined(*map(resolved, own)) for name, own in self._digests_of.items() if own}


def _number(loss: torch.Tensor) -> float:
    value = float(loss.real if loss.is_complex() else loss)
    return value if math.isfinite(value) else math.nan


def _parameters(optimizer: torch.optim.Optimizer) -> Iterable[torch.Tensor]:
    return (each for group in optimizer.param_groups for each in group["params"] if parts_of(each))


class Hooks:
    """Where torch tells of the ends of steps, of calls of modules and of backward passes."""

    def __init__(self, values: StepValues, end_step: StepEnd, aside: Aside) -> None:
        self._values = values
        self._end_step = end_step
        self._aside = aside
        self._threads = threading.local()
        self._handles: list[RemovableHandle] = []
        self.in_optimizer = False
        """Whether an optimizer computes; its closure, which runs the model, does not count."""
        self.mode_to_leave: Callable[[], Any] = lambda: None
        """Gives the mode that is left while an optimizer computes: passing it takes time, and no row may be wanted."""
        self.module_calls: list[ModuleCall] = []
        """Told of each call that ends, at the level of modules."""
        self.enter_thread: Callable[[], None] = lambda: None
        self.end_of_root: Callable[[], None] = lambda: None
        """Called when a module ends that no other module called."""

    def begin(self) -> None:
        optimizers.register_optimizer_step_pre_hook(self._before_update)
        optimizers.register_optimizer_step_post_hook(self._after_update)
        self.resume()
        self._watch_backward()

    def pause(self) -> None:
        """See no module called, so that no hook is compiled with it."""
        while self._handles:
            self._handles.pop().remove()

    def resume(self) -> None:
        """See modules called again."""
        register = nn.modules.module
        self._handles = [
            register.register_module_forward_pre_hook(self._enter_module),
            register.register_module_forward_hook(self._leave_module, always_call=True),
        ]

    def told_call(self, module: nn.Module, output: object) -> None:
        """A module was called while no module was seen."""
        self._enter_module(module, None)
        self._leave_module(module, None, output)

    def _before_update(
        self, optimizer: torch.optim.Optimizer, given: tuple[object, ...], named: dict[str, object]
    ) -> None:
        self._aside.do(self._values.add_gradients, optimizer)
        has_closure = any(callable(each) for each in (*given, *named.values()))
        self.in_optimizer = not has_closure
        if self.in_optimizer:
            self._threads.left = mode = self.mode_to_leave()
            if mode is not None:
                mode.__exit__(None, None, None)

    def _after_update(self, optimizer: torch.optim.Optimizer, *_: object) -> None:
        self.in_optimizer = False
        self._come_back()
        self._aside.do(self._values.add_parameters, optimizer)
        self._end_step(f"optimizer {self._values.number_of(optimizer)}")

    def _come_back(self) -> None:
        """Record this thread again, after an update, or a module later where that ended by an error."""
        mode = getattr(self._threads, "left", None)
        if mode is not None:
            self._threads.left = None
            mode.__enter__()

    def _running(self) -> list[nn.Module]:
        running: list[nn.Module] | None = getattr(self._threads, "running", None)
        if running is None:
            running = self._threads.running = []
            self.enter_thread()
        return running

    def _enter_module(self, module: nn.Module, _: object) -> None:
        self._come_back()
        self._running().append(module)

    def _leave_module(self, module: nn.Module, _: object, output: object) -> None:
        running = self._running()
        while running and running.pop() is not module:
            pass  # one that ended by an error, unseen
        for told in self.module_calls:
            self._aside.do(told, module, output)
        if not running:
            self._aside.do(self._values.add_output, module, output)
            if not self._aside.is_at_work:
                self.end_of_root()

    def _watch_backward(self) -> None:
        plain = torch.autograd.backward

        @functools.wraps(plain)
        def backward(tensors: Any, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - torch's own signature
            self._aside.do(self._add_losses, tensors)
            plain(tensors, *args, **kwargs)

        torch.autograd.backward = backward

    def _add_losses(self, tensors: object) -> None:
        for each in [tensors] if isinstance(tensors, torch.Tensor) else list(tensors):  # type: ignore[call-overload]
            if isinstance(each, torch.Tensor):
                self._values.add_loss(each)
