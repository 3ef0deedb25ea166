"""Numbers that reach a dispatch mode where the operator wants tensors.

The constants of a traced function are tensors that stand for numbers. torch hands a mode the bare number in their
stead, and refuses it when the mode passes it on.
"""

from __future__ import annotations

from typing import Any

import torch

_TYPES = {bool: torch.bool, int: torch.int64, float: torch.float64, complex: torch.complex128}
_places: dict[Any, frozenset[int]] = {}
"""The arguments of each operator that only a tensor can be."""


def as_tensors(called: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:  # noqa: ANN401 - an operator
    """The arguments as the operator takes them."""
    for each in args:
        if type(each) in _TYPES:
            break
    else:
        return args
    places = _places.get(called)
    if places is None:
        places = _places[called] = _only_tensors(called)
    return tuple(_tensor(each) if place in places else each for place, each in enumerate(args)) if places else args


def _only_tensors(called: Any) -> frozenset[int]:  # noqa: ANN401 - an operator
    schema = getattr(called, "_schema", None)
    if schema is None or torch._C._should_allow_numbers_as_tensors(schema.name.partition("::")[2]):  # noqa: SLF001
        return frozenset()
    return frozenset(place for place, each in enumerate(schema.arguments) if str(each.type) == "Tensor")


def _tensor(value: Any) -> Any:  # noqa: ANN401 - an argument of an operator
    kind = _TYPES.get(type(value))
    return value if kind is None else torch.tensor(value, dtype=kind)
