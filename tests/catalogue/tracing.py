"""Which aten operators a case really reaches: on tensors of the CPU, and on fake ones of CUDA."""

from __future__ import annotations

import functools
import importlib
import logging
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tests.hardware.case import Case, Maker, Tensor, torch
from tests.hardware.every import CASES
from tests.hardware.measure import determinism
from tests.hardware.verdict import Mode

INSTALLED = f"on torch {torch.__version__}"
"""Ends the message of a test that fails."""


@dataclass(frozen=True)
class Trace:
    forward: frozenset[str] = frozenset()
    backward: frozenset[str] = frozenset()
    error: str = ""
    """Where the call broke off: what it had reached by then is there."""

    @property
    def names(self) -> frozenset[str]:
        return self.forward | self.backward


@contextmanager
def recording() -> Iterator[set[str]]:
    """The names of the operators that are dispatched meanwhile: `aten.index_add.default`."""
    seen: set[str] = set()

    def record(_: object, called: Tensor, __: object, args: Any = (), kwargs: Any = None) -> Tensor:  # noqa: ANN401
        seen.add(str(called))
        return called(*args, **(kwargs or {}))

    mode = importlib.import_module("torch.utils._python_dispatch").TorchDispatchMode
    with type("Recorder", (mode,), {"__torch_dispatch__": record})():
        yield seen


def generator() -> Tensor:
    return torch.Generator().manual_seed(0)


@functools.cache
def on_cpu(identity: str, call: str) -> Trace:
    """Forward and backward pass of a call of a case, on small inputs, without the mode."""
    case = CASES[identity]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        inputs = case.build("cpu", "small", generator())
        with recording() as forward:
            outputs = case.outputs(call, inputs)
        with recording() as backward:
            case.gradients(outputs, inputs)
    return Trace(frozenset(forward), frozenset(backward))


def passes(forward: Callable[[], Tensor]) -> Trace:
    """The forward pass of anything, and the backward pass of its sum."""
    with recording() as ahead:
        output = forward()
    with recording() as back:
        if output.requires_grad:
            output.sum().backward()
    return Trace(frozenset(ahead), frozenset(back))


@dataclass(frozen=True)
class FakeMaker(Maker):
    """Tensors that have a shape, a type and a device, and nothing in them: no GPU is needed."""

    def floats(self, *shape: int, grad: bool = False, dtype: Tensor = None) -> Tensor:  # noqa: ARG002
        return torch.empty(shape, dtype=dtype or torch.float32, device=self.device)

    def positive(self, *shape: int, low: float = 0.5, high: float = 1.5, grad: bool = False) -> Tensor:  # noqa: ARG002
        return self.floats(*shape)

    def indices(self, below: int, *shape: int) -> Tensor:  # noqa: ARG002
        return torch.empty(shape, dtype=torch.int64, device=self.device)


@functools.cache
def on_fake_cuda(identity: str, call: str, mode: Mode) -> Trace:
    """The forward pass of a call of a case. Gradients are out of reach: a build for the CPU alone would abort."""
    case = CASES[identity]
    fake = importlib.import_module("torch._subclasses.fake_tensor")
    logging.getLogger(fake.__name__).setLevel(logging.CRITICAL)
    seen: set[str] = set()
    with warnings.catch_warnings(), torch.no_grad(), fake.FakeTensorMode(), determinism(mode):
        warnings.simplefilter("ignore")
        inputs = case.make(FakeMaker("cuda", "small", None))
        try:
            with recording() as seen:
                case.outputs(call, inputs)
        except Exception as error:  # noqa: BLE001 - the tests say which errors they await
            return Trace(frozenset(seen), error=str(error))
    return Trace(frozenset(seen))


def refusal(case: Case, call: str, mode: Mode) -> tuple[str, list[str]]:
    """What the call raises in this mode, forward and backward, on small inputs of the CPU, and what it warns of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        inputs = case.build("cpu", "small", generator())
        with determinism(mode):
            try:
                case.run(call, inputs)
            except RuntimeError as error:
                return str(error), []
    return "", [str(warning.message) for warning in caught]
