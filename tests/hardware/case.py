"""What one entry of the registry looks like when it runs: its inputs, and the calls that reach the operator.

torch is looked up by name, so that this type-checks where torch is not installed.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

torch: Any = importlib.import_module("torch")

Tensor: TypeAlias = Any
Size = Literal["small", "large"]
Inputs: TypeAlias = dict[str, Any]
Call: TypeAlias = Callable[..., Any]

DEVICES = ("cpu", "cuda", "mps", "xpu")


@dataclass(frozen=True)
class Maker:
    """Makes inputs. They are drawn on the CPU, so that every device gets the same numbers."""

    device: str
    size: Size
    generator: Any

    def by_size(self, small: int, large: int) -> int:
        return small if self.size == "small" else large

    def floats(self, *shape: int, grad: bool = False, dtype: Tensor = None) -> Tensor:
        drawn = torch.randn(*shape, generator=self.generator, dtype=torch.float32)
        return self._place(drawn.to(dtype or torch.float32), grad=grad)

    def positive(self, *shape: int, low: float = 0.5, high: float = 1.5, grad: bool = False) -> Tensor:
        drawn = torch.rand(*shape, generator=self.generator, dtype=torch.float32)
        return self._place(drawn * (high - low) + low, grad=grad)

    def ties(self, below: int, *shape: int) -> Tensor:
        """Floating-point values of which most occur more than once."""
        return self.indices(below, *shape).to(torch.float32)

    def indices(self, below: int, *shape: int) -> Tensor:
        """Integers from 0: with more of them than `below`, some repeat."""
        return torch.randint(below, shape, generator=self.generator).to(self.device)

    def module(self, factory: Callable[[], Any]) -> Tensor:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            return factory().to(self.device)

    def _place(self, drawn: Tensor, *, grad: bool) -> Tensor:
        return drawn.to(self.device).requires_grad_(grad)


@dataclass(frozen=True, kw_only=True)
class Case:
    """How to run the entry `id`; or why it is `not_run` anywhere."""

    id: str
    make: Callable[[Maker], Inputs] = lambda _: {}
    calls: Mapping[str, Call] = field(default_factory=dict)
    """By the name of what is called. Each takes the inputs that its parameters name, and returns tensors."""
    backward: bool = False
    repeats_index: bool = False
    """Indices repeat heavily, so that writes and additions really collide."""
    devices: tuple[str, ...] = DEVICES
    """Those that can run it at all."""
    torch: str = ""
    """Only in these releases does a run tell anything."""
    not_run: str = ""

    def build(self, device: str, size: Size, generator: Tensor) -> Inputs:
        return self.make(Maker(device, size, generator))

    def outputs(self, call: str, inputs: Inputs) -> list[Tensor]:
        function = self.calls[call]
        wanted = inspect.signature(function).parameters
        return list(flat(function(**{name: inputs[name] for name in wanted})))

    def gradients(self, outputs: list[Tensor], inputs: Inputs) -> list[Tensor]:
        """Of the outputs, weighted at random: where all weights are equal, the order of a sum makes no difference."""
        roots = [output for output in outputs if output.requires_grad]
        if not self.backward or not roots:
            return []
        weights = [torch.randn_like(root) for root in roots]
        found = torch.autograd.grad(roots, list(leaves(inputs)), weights, allow_unused=True)
        return [gradient for gradient in found if gradient is not None]

    def run(self, call: str, inputs: Inputs) -> list[Tensor]:
        """The outputs and, where wanted, the gradients of the inputs."""
        outputs = self.outputs(call, inputs)
        return outputs + self.gradients(outputs, inputs)


def flat(output: Tensor) -> Iterator[Tensor]:
    """Every tensor in nested tuples."""
    if isinstance(output, torch.Tensor):
        yield output
    elif isinstance(output, tuple | list):
        for part in output:
            yield from flat(part)


def leaves(inputs: Inputs) -> Iterator[Tensor]:
    """What gradients are asked for: inputs that need them, and the parameters of modules."""
    for value in inputs.values():
        if isinstance(value, torch.nn.Module):
            yield from value.parameters()
        elif isinstance(value, torch.Tensor) and value.requires_grad:
            yield value
