"""What operations of torch do to a tensor, asked by name of `rules/registry/tensor_methods.toml`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping

from torchlint.catalogue.load import load_tensor_methods, load_values
from torchlint.catalogue.tensor_methods import TensorMethod
from torchlint.catalogue.values import by_name

_UNKNOWN = TensorMethod()
_HOMES = ("torch", "torch.linalg")
_FUNCTIONAL = "torch.nn.functional"


def method_named(name: str | None) -> TensorMethod:
    """What `x.name()` does, and `torch.name(x)` where there is such a function."""
    return load_tensor_methods().methods.get(name or "", _UNKNOWN)


def is_method_of_tensors(name: str) -> bool:
    """Whether tensors have a method of this name."""
    return name in load_tensor_methods().methods


def function_named(name: str | None) -> TensorMethod:
    """What a function does, by its full name."""
    home, _, last = (name or "").rpartition(".")
    if home == _FUNCTIONAL and last in load_tensor_methods().functional:
        return load_tensor_methods().functional[last]
    return method_named(last) if home in (*_HOMES, _FUNCTIONAL) else _UNKNOWN


def operation_named(name: str | None) -> TensorMethod:
    """What a method does, or a function of whichever home, by the last part of its name."""
    return load_tensor_methods().methods.get(name or "") or function_named(f"{_FUNCTIONAL}.{name}")


@functools.cache
def methods_that(holds: Callable[[TensorMethod], bool]) -> frozenset[str]:
    """The names of the methods of which something holds."""
    return frozenset(name for name, entry in load_tensor_methods().methods.items() if holds(entry))


def element_of_type(name: str) -> str | None:
    """The elements of a dtype or class of tensors, by its last word: `integer` of `long` and `LongTensor`."""
    return _elements().get(name)


@functools.cache
def _elements() -> Mapping[str, str]:
    return by_name(load_values().elements)
