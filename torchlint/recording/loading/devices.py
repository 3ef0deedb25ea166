"""Runs a program that was written for CUDA on the device at hand: what names a CUDA device means that device."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from types import SimpleNamespace
from typing import Any, TypeVar
from unittest import mock

import torch
from torch.overrides import TorchFunctionMode
from typing_extensions import Self

Entered = TypeVar("Entered")

_MOVES = {torch.Tensor.cuda, torch.Tensor.pin_memory}
_CONVERTS = {torch.Tensor.to, torch.Tensor.type}


@contextmanager
def at_hand(device: str = "cpu") -> Iterator[None]:
    """Within this, `.cuda()`, `device="cuda"` and their like mean `device`. With a CUDA device nothing is changed."""
    if torch.device(device).type == "cuda":
        yield
        return
    with ExitStack() as changes:
        for owner, name, stand_in in _stand_ins(device):
            if hasattr(owner, name):
                changes.enter_context(mock.patch.object(owner, name, stand_in))
        changes.enter_context(_Rewriting(device))
        yield


class _Rewriting(TorchFunctionMode):
    """Rewrites the arguments of every call of torch that name a CUDA device."""

    def __init__(self, device: str) -> None:
        super().__init__()
        self._device = device

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401 - whatever torch returns
        named = dict(kwargs or {})
        if func in _MOVES:
            # A copy in pinned memory is the same tensor to every reader.
            return args[0] if func is torch.Tensor.pin_memory else args[0].to(self._device)
        if "device" in named:
            named["device"] = self._meant(named["device"])
        if "pin_memory" in named:
            named["pin_memory"] = False
        if func in _CONVERTS and len(args) > 1:
            args = (args[0], self._meant(args[1]), *args[2:])
        return func(*args, **named)

    def _meant(self, device: Any) -> Any:  # noqa: ANN401 - a device, its name or number, or an element type
        if isinstance(device, bool) or not isinstance(device, (int, str, torch.device)):
            return device
        if isinstance(device, str):
            return device.replace("torch.cuda.", "torch.") if device.startswith("torch.") else self._named(device)
        return self._device if isinstance(device, int) or device.type == "cuda" else device

    def _named(self, device: str) -> str:
        return self._device if device.partition(":")[0] == "cuda" else device


def _stand_ins(device: str) -> Iterator[tuple[Any, str, Any]]:
    """What fails outside of tensors and factory functions on a torch without a CUDA device."""
    generator = torch.Generator
    yield torch, "Generator", _generator_type(generator, device)
    yield torch, "set_default_device", _set_default_device(torch.set_default_device, device)
    # A function of its own for each: the compiler of torch keeps a table of them that has no doubles.
    for name in ("synchronize", "empty_cache", "set_device", "reset_peak_memory_stats", "ipc_collect", "init"):
        yield torch.cuda, name, _answering(None)
    for name in ("reset_max_memory_allocated", "manual_seed", "manual_seed_all"):
        yield torch.cuda, name, _answering(None)
    for name in ("current_device", "memory_allocated", "max_memory_allocated", "memory_reserved"):
        yield torch.cuda, name, _answering(0)
    yield torch.cuda, "get_device_name", _answering("cpu")
    yield torch.cuda, "get_device_capability", _answering((0, 0))
    yield torch.cuda, "mem_get_info", _answering((0, 0))
    yield torch.cuda, "get_device_properties", _answering(SimpleNamespace(name="cpu", total_memory=0))
    yield torch.cuda, "stream", _answering(nullcontext())
    yield torch.cuda, "device", _answering(nullcontext())
    for name in ("Stream", "Event", "ExternalStream"):
        yield torch.cuda, name, type(name, (_Stream,), {})
    for name in ("current_stream", "default_stream"):
        yield torch.cuda, name, _answering(_Stream())
    for kind in ("Float", "Double", "Half", "Long", "Int", "Byte", "Bool"):
        yield torch.cuda, f"{kind}Tensor", getattr(torch, f"{kind}Tensor")


def _generator_type(original: type[torch.Generator], device: str) -> type:
    class Kind(type(original)):  # type: ignore[misc] # isinstance() must go on to know generators
        def __instancecheck__(cls, value: object) -> bool:
            return isinstance(value, original)

    class Generator(original, metaclass=Kind):  # type: ignore[misc,valid-type] # its class is known at run time
        def __new__(cls, device: Any = device) -> Any:  # noqa: ANN401 - a device; torch's own class
            name = str(device)
            return original(_device if name.startswith("cuda") else name)

    _device = device
    return Generator


def _set_default_device(original: Callable[[Any], None], at: str) -> Callable[[Any], None]:
    def set_default_device(device: Any) -> None:  # noqa: ANN401 - a device or its name
        original(at if str(device).startswith("cuda") else device)

    return set_default_device


def _answering(value: object) -> Callable[..., object]:
    return lambda *_args, **_kwargs: value


def _nothing(*_args: object, **_kwargs: object) -> None:
    """There is nothing to wait for."""


class _Stream:
    """A queue of work, or a mark in one, on a device that has none: all work is done when it is asked for."""

    def __init__(self, *_args: object, **_kwargs: object) -> None:
        pass

    def synchronize(self) -> None:
        """All is done."""

    wait = wait_stream = wait_event = record = record_event = _nothing

    def elapsed_time(self, _other: object) -> float:
        return 0.0

    def query(self) -> bool:
        return True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_details: object) -> None:
        return None
