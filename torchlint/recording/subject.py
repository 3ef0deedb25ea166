"""What is run: a module or function with inputs, from the same state as often as wanted."""

from __future__ import annotations

import copy
import copyreg
import inspect
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, cast

import torch
from torch import nn
from torch.nn.utils.rnn import PackedSequence

from torchlint.recording.global_state.randomness import seed_everything
from torchlint.recording.options import Options
from torchlint.recording.originals import call_users
from torchlint.recording.ragged import given
from torchlint.recording.tensors import modules_in, tensors_in

Loss = Callable[[Any], torch.Tensor]

_COMPRESSED = (torch.sparse_csr, torch.sparse_csc, torch.sparse_bsr, torch.sparse_bsc)


@dataclass(frozen=True)
class Pass:
    """One forward and, where one flows, backward pass: every tensor by its place."""

    outputs: dict[str, torch.Tensor]
    gradients: dict[str, torch.Tensor]
    buffers: dict[str, torch.Tensor]
    """After the pass: BatchNorm's running statistics, say."""
    has_backward: bool

    @property
    def tensors(self) -> dict[str, torch.Tensor]:
        """All of them, by `output[0]`, `gradient of head.weight`, `buffer norm.running_mean`."""
        return {
            **{f"output{place}": tensor for place, tensor in self.outputs.items()},
            **{f"gradient of {name}": tensor for name, tensor in self.gradients.items()},
            **{f"buffer {name}": tensor for name, tensor in self.buffers.items()},
        }


@dataclass(frozen=True)
class Subject:
    """A module, or a function, with all that a run of it needs.

    `model` and the inputs are the pristine state; every run works on a copy, so that buffers, counters and gradients
    of one run never reach the next. `make_input_grad` says that the inputs take part in the backward pass: as they do
    where the module stands inside another one.
    """

    name: str
    call: Callable[..., Any]
    """The module itself, or a function."""
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)
    loss: Loss | None = None
    device: str = "cpu"
    seed: int = 0
    make_input_grad: bool = False
    has_invented_inputs: bool = False
    """Their sizes and values are nobody's: what was observed of indices and windows may be other in the program."""
    build: Callable[[], nn.Module] | None = None
    """Constructs the module anew, where that can be had: what the constructor leaves unwritten shows only then."""

    @property
    def model(self) -> nn.Module | None:
        return self.call if isinstance(self.call, nn.Module) else None

    @property
    def models(self) -> dict[str, nn.Module]:
        """The module itself, without a name; or those that a function is called with, as a training step is."""
        return {"": self.model} if self.model is not None else dict(_named_modules(self.call, self.args, self.kwargs))

    def named_modules(self) -> Iterator[tuple[str, nn.Module]]:
        """Every module, as `head` or, in a training step, `critic.head`."""
        for name, model in self.models.items():
            yield from model.named_modules(prefix=name)

    def fresh(self) -> Subject:
        """A copy that shares nothing with this one, with every generator seeded alike."""
        seed_everything(self.seed)
        # One copy of all three, so that what they share stays shared.
        target = self.call if isinstance(self.call, nn.Module) else None
        pristine = (target, self.args, self.kwargs)
        model, args, kwargs = copy.deepcopy(pristine, _copies(pristine))
        for parameter in model.parameters() if model is not None else ():
            if not parameter.is_leaf:  # those of TorchScript hang on what they were copied from
                parameter.detach_().requires_grad_()
        seed_everything(self.seed)
        return replace(self, call=self.call if model is None else model, args=args, kwargs=kwargs)

    def on(self, device: str, dtype: torch.dtype | None = None) -> Subject:
        """The same on another device, or with its floating-point tensors in another precision."""
        moved = self.fresh()
        for model in moved.models.values():
            # Not `to(dtype=...)`: that makes real numbers of complex ones.
            model._apply(lambda tensor: _moved(tensor, device, dtype))  # noqa: SLF001
        args, kwargs = (_moved(value, device, dtype) for value in (moved.args, moved.kwargs))
        return replace(moved, args=args, kwargs=kwargs, device=device)

    def forward(self) -> Any:  # noqa: ANN401 - whatever the user's code returns
        """Run this very copy once, forward. Take `fresh()` first."""
        if self.make_input_grad:
            for _, tensor in tensors_in((self.args, self.kwargs)):
                if tensor.is_floating_point() or tensor.is_complex():
                    tensor.requires_grad_()
        kwargs = {name: given(value) for name, value in self.kwargs.items()}
        return call_users(self.call, *map(given, self.args), **kwargs)

    def backward(self, outputs: Any) -> bool:  # noqa: ANN401 - whatever the user's code returned
        """Run the backward pass of a weighted sum of the outputs, or of the user's loss; False where none flows."""
        loss = call_users(self.loss, outputs) if self.loss else weighted_sum(outputs)
        if loss is None or not loss.requires_grad:
            return False
        call_users(loss.backward)
        return True

    def run(self) -> Pass:
        """One pass from the pristine state."""
        copied = self.fresh()
        outputs = copied.forward()
        has_backward = copied.backward(outputs)
        return copied.passed(outputs, has_backward=has_backward)

    def passed(self, outputs: Any, *, has_backward: bool) -> Pass:  # noqa: ANN401
        """What a run of this copy left behind."""
        models = self.models.items()
        named = {name: leaf for prefix, model in models for name, leaf in model.named_parameters(prefix=prefix)}
        inputs = dict(tensors_in((self.args, self.kwargs)))
        leaves = {**named, **{f"input{place}": tensor for place, tensor in inputs.items() if tensor.is_leaf}}
        return Pass(
            outputs={place: tensor.detach() for place, tensor in tensors_in(outputs)},
            gradients={name: leaf.grad for name, leaf in leaves.items() if leaf.grad is not None},
            buffers={name: value for prefix, model in models for name, value in model.named_buffers(prefix=prefix)},
            has_backward=has_backward,
        )


copyreg.pickle(type(threading.Lock()), lambda _lock: (threading.Lock, ()))
"""The copy of a lock is another lock: modules that wait for each other hold some."""


def _generator(device: torch.device, state: torch.Tensor) -> torch.Generator:
    made = torch.Generator(device)
    made.set_state(state)
    return made


if "__reduce__" not in vars(torch.Generator):  # torch 2.2 copies none
    copyreg.pickle(torch.Generator, lambda generator: (_generator, (generator.device, generator.get_state())))


def _copies(pristine: tuple[nn.Module | None, tuple[Any, ...], dict[str, Any]]) -> dict[int, Any]:
    """Copies of the tensors that `deepcopy` cannot copy.

    Those are the ones of compressed sparse layouts, and those that the constructor computed, as `weight_norm` does:
    a forward computes them again.
    """
    model, *inputs = pristine
    buffers = [] if model is None else [*model.buffers(), *model.parameters()]
    tensors = [*buffers, *(tensor for _, tensor in tensors_in(inputs))]
    modules = [] if model is None else list(model.modules())
    computed = [tensor for module in modules for _, tensor in tensors_in(vars(module)) if not tensor.is_leaf]
    compressed = {id(each): _compressed_copy(each) for each in tensors if each.layout in _COMPRESSED}
    return compressed | {id(each): each.detach().clone() for each in computed}


def _compressed_copy(tensor: torch.Tensor) -> torch.Tensor:
    copied = tensor.detach().clone().requires_grad_(tensor.requires_grad)
    return nn.Parameter(copied, tensor.requires_grad) if isinstance(tensor, nn.Parameter) else copied


def weighted_sum(outputs: Any) -> torch.Tensor | None:  # noqa: ANN401 - whatever the user's code returned
    """A scalar whose gradient differs from element to element (that of a plain sum vanishes behind a softmax)."""
    total: torch.Tensor | None = None
    for _, tensor in tensors_in(outputs):
        if not tensor.requires_grad or tensor.layout != torch.strided or not tensor.numel():
            continue
        values = torch.view_as_real(tensor) if tensor.is_complex() else tensor
        values = torch.cat([row.reshape(-1) for row in tensor.unbind()]) if tensor.is_nested else values
        weights = torch.linspace(0.5, 1.5, values.numel(), dtype=torch.float64).to(values.device, values.dtype)
        part = (values * weights.view_as(values)).sum().to("cpu", torch.float64)
        total = part if total is None else total + part
    return total


def _named_modules(
    call: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Iterator[tuple[str, nn.Module]]:
    """The modules in the arguments, by the names of the parameters."""
    if not any(True for _ in modules_in((args, kwargs))):
        return
    for name, value in inspect.signature(call).bind(*args, **kwargs).arguments.items():
        yield from modules_in(value, name)


def _moved(value: Any, device: str, dtype: torch.dtype | None) -> Any:  # noqa: ANN401 - any input
    if isinstance(value, torch.Tensor):
        return value.to(device, _counterpart(value, dtype))
    if isinstance(value, dict):
        moved = {key: _moved(item, device, dtype) for key, item in value.items()}
        return type(value)(moved) if isinstance(value, Options) else moved
    if isinstance(value, PackedSequence):
        return cast("Any", value).to(device, _counterpart(value.data, dtype))  # indices move with it, sizes stay
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_moved(item, device, dtype) for item in value))
    if isinstance(value, (list, tuple)):
        return type(value)(_moved(item, device, dtype) for item in value)
    return value


def _counterpart(tensor: torch.Tensor, dtype: torch.dtype | None) -> torch.dtype | None:
    """The precision for a tensor of real numbers, the complex one beside it, and none for whole numbers."""
    if dtype is not None and tensor.is_complex():
        return dtype.to_complex()
    return dtype if tensor.is_floating_point() else None
