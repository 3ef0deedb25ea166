"""What operations of torch do to a tensor, asked by name of `rules/registry/tensor_methods.toml`."""

from __future__ import annotations

import functools
from collections.abc import Callable

from torchlint.catalogue.load import load_tensor_methods
from torchlint.catalogue.tensor_methods import TensorMethod

_UNKNOWN = TensorMethod()
_HOMES = ("torch", "torch.linalg")
_FUNCTIONAL = "torch.nn.functional"

ELEMENT_OF_DTYPE = {
    **dict.fromkeys(
        ("long", "int64", "int32", "int", "int16", "short", "int8", "uint8", "uint16", "uint32", "uint64"), "integer"
    ),
    **dict.fromkeys(("float", "float32", "float64", "double", "float16", "half", "bfloat16"), "float"),
    **dict.fromkeys(("cfloat", "cdouble", "complex64", "complex128"), "complex"),
    "bool": "bool",
}
ELEMENT_OF_CLASS = {
    **dict.fromkeys(("LongTensor", "IntTensor", "ShortTensor", "CharTensor", "ByteTensor"), "integer"),
    **dict.fromkeys(("FloatTensor", "DoubleTensor", "HalfTensor", "BFloat16Tensor"), "float"),
    "BoolTensor": "bool",
}


def method_named(name: str | None) -> TensorMethod:
    """What `x.name()` does, and `torch.name(x)` where there is such a function."""
    return load_tensor_methods().methods.get(name or "", _UNKNOWN)


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
