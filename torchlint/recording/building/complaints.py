"""What a forward complains of, and what other arguments of the constructor would do about it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from torch import nn

from torchlint.recording.building.invented_objects import InventedModule
from torchlint.recording.building.repairs import Values, by_types
from torchlint.recording.building.scope import Scope
from torchlint.recording.building.shrinking import is_too_large, shrunk

_NUMBER = re.compile(r"(?<![\w.])\d{1,5}(?![\w.]*\d)")
_PAIR = re.compile(
    r"\(\d+x(\d+) and (\d+)x\d+\)|tensor a \((\d+)\) must match the size of tensor b \((\d+)\)"
    r"|to have (\d+) channels, but got (\d+)|[Ee]xpected (\d+),? (?:but )?got (\d+)"
)
_CALLED_OTHERWISE = re.compile(r"(Linear|Identity)\.forward\(\)")
_REFUSED_BY_LAYER = re.compile(
    rf"cannot be multiplied|{_CALLED_OTHERWISE.pattern}|^linear\(\): argument 'input'|normalized_shape"
)
_LARGE, _LARGEST_SIZE = 64, 4096


def answered(
    complaints: Iterable[BaseException], values: Values, signature: inspect.Signature | None, scope: Scope
) -> Iterator[dict[str, Any]]:
    """Other arguments: of the type, of the size and as small as the errors ask for."""
    known = signature.parameters if signature else {}
    for error in complaints:
        if is_too_large(error):
            yield from shrunk(values, known)
        yield from by_types(error, values, known, scope)
        yield from _by_sizes(str(error), values, known)
        yield from _of_any_shape(str(error), values, scope)


def is_about_a_layer(error: BaseException) -> bool:
    """Whether a layer that was invented for an argument is called otherwise: no inputs help."""
    return _CALLED_OTHERWISE.match(str(error)) is not None


def _of_any_shape(text: str, values: Values, scope: Scope) -> Iterator[dict[str, Any]]:
    """A layer that was invented for an argument, and is given other shapes than it takes, or more than it takes."""
    if _REFUSED_BY_LAYER.search(text):
        layers = {name: each for name, each in values.items() if type(each) in (nn.Linear, nn.Identity)}
        yield from ({**values, name: InventedModule(scope)} for name in layers)
        yield {**values, **{name: InventedModule(scope) for name in layers}}


def _by_sizes(text: str, values: Values, known: Mapping[str, inspect.Parameter]) -> Iterator[dict[str, Any]]:
    """An argument that is one of the sizes becomes another.

    The sizes of residuals and of what attention multiplies have to agree.
    """
    defaults = {name: each.default for name, each in known.items()}
    counts = {name: value for name, value in {**defaults, **values}.items() if type(value) is int and value > 0}
    pair = _PAIR.search(text)
    sizes = [int(size) for size in pair.groups() if size] if pair else []
    for one, other in (sizes, sizes[::-1]) if len(sizes) == 2 else ():
        yield from ({**values, name: other} for name, value in counts.items() if value == one and other > 1)
    numbers = list(dict.fromkeys(int(number) for number in _NUMBER.findall(text)))
    for name, value in counts.items() if numbers else ():
        larger = [_LARGE] if value < _LARGE and value in numbers else []
        for other in [number for number in numbers if 0 < number <= _LARGEST_SIZE] + larger:
            if value in numbers and other != value:
                yield {**values, name: other}
