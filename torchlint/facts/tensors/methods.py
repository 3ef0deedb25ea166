"""What operations of torch do to a tensor and its memory, by name, as `rules/registry/tensor_methods.toml` has it."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from torchlint.catalogue.load import load_tensor_methods, load_values
from torchlint.catalogue.tensor_methods import TensorMethod
from torchlint.catalogue.values import by_name

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

_UNKNOWN = TensorMethod()
_FUNCTIONAL = "torch.nn.functional"
METADATA = frozenset(
    [
        *("shape", "dtype", "device", "layout", "ndim", "requires_grad", "is_leaf", "itemsize", "nbytes", "grad_fn"),
        *("is_cuda", "is_cpu", "is_meta", "is_mps", "is_xpu", "is_sparse", "is_quantized", "is_nested"),
    ]
)
"""Attributes that tell about a tensor without reading its memory."""
SAME_MEMORY = frozenset({"data", "T", "mT", "H", "mH"})
"""Attributes that give the same memory."""
LOOKING = frozenset(f"builtins.{name}" for name in ["isinstance", "type", "id", "len", "print"])
"""Functions that look at a tensor's description alone. What is only printed changes nothing that goes on."""
_READING = frozenset({"builtins.float", "builtins.int"})


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
    return method_named(last) if home in ("torch", "torch.linalg", _FUNCTIONAL) else _UNKNOWN


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


def only_describes(name: str) -> bool:
    """Whether a function, by its full name, looks at a tensor's description alone."""
    return name in LOOKING or function_named(name).describes


def reads_all(name: str) -> bool:
    """Whether a function, by its full name, computes from all that a tensor holds and writes nothing."""
    return name in _READING or function_named(name).reads


def joins(facts: FileFacts, call: ast.Call) -> bool:
    """Whether a call copies several tensors into one: `torch.cat([x, y])`."""
    return function_named(facts.names(call.func, facts.index.inner_scope_of(call)).only).values == "joined"
