"""What an error says that a value should have been: text, a number, a function, a tensor, a table."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import nn

from torchlint.recording.building.arguments import callables_for, layer_for, value_of
from torchlint.recording.building.invented_objects import InventedModule, Words
from torchlint.recording.building.names import WIDTH
from torchlint.recording.building.scope import InventedConfig, Scope, config_for, texts
from torchlint.recording.building.usage import TENSOR

_ROWS = 20
_ATTRIBUTE = re.compile(r"'(\w+)' object has no attribute '(\w+)'")
_TOO_FEW = re.compile(r"(\w+)\.__init__\(\) missing \d+ required positional arguments?: (.+)")
_OF_A_HUB = re.compile(r"`(\w+)\(config\)` should be an instance of class")
_UNPACKED = re.compile(r"values to unpack \(expected (\d)\b")
_KEEPS_SIZES: Mapping[str, Mapping[str, object]] = {"kernel_size": {"padding": 1}}
"""A kernel of three keeps the size of an image where it is padded."""

Others = Callable[[str, Any, "re.Match[str]", Scope], list[Any]]


def instead(error: BaseException, name: str, value: object, scope: Scope) -> Iterator[Any]:
    """Other values for an argument or option, where the error is about a value of its type."""
    text = str(error)
    few = _TOO_FEW.search(text)
    if few and isinstance(value, type) and issubclass(value, nn.Module) and value.__name__ == few[1]:
        yield _with_the_rest(value, re.findall(r"'(\w+)'", few[2]), scope)
    of_hub = _OF_A_HUB.search(text)
    if of_hub and isinstance(value, InventedConfig):
        yield from _configurations_of_hub(of_hub[1], value, scope.use(name).attributes, scope)
    unpacked = _UNPACKED.search(text)
    if unpacked and isinstance(value, (list, tuple)):
        yield tuple(value[:1] or (scope.width,)) * int(unpacked[1])
    for pattern, others in _WANTED:
        found = pattern.search(text)
        # Python 3.10 leaves out what it was: a number, as that is what is invented most.
        if found and type(value).__name__.startswith(next(filter(None, found.groups()), "int")):
            yield from others(name, value, found, scope)


def _with_the_rest(called: type, missing: list[str], scope: Scope) -> Any:  # noqa: ANN401 - a function
    """The class with values for what its call leaves out: `block(channels, channels)` of a convolution."""
    given = {name: value_of(name, None, scope) for name in missing}
    takes = inspect.signature(called).parameters
    also = {key: value for name in missing for key, value in _KEEPS_SIZES.get(name, {}).items() if key in takes}
    return partial(called, **{**also, **given})


def _configurations_of_hub(made: str, options: InventedConfig, read: Iterable[str], scope: Scope) -> Iterator[Any]:
    """Those of the classes that the file names, the class that complained first, with all options that are read."""
    classes = [each for each in scope.namespace.values() if isinstance(getattr(each, "config_class", None), type)]
    kinds = [each.config_class for each in sorted(classes, key=lambda each: each.__name__ != made)]
    for kind in dict.fromkeys(kinds):
        configuration = kind()
        for option in read:
            if not hasattr(configuration, option):
                setattr(configuration, option, getattr(options, option))
        yield configuration


def _words(_name: str, value: Any, _found: re.Match[str], _scope: Scope) -> list[Any]:  # noqa: ANN401 - a sequence
    return [Words(max(WIDTH, len(value)))]


def _texts(name: str, _value: object, _found: re.Match[str], _scope: Scope) -> list[Any]:
    return [*texts(name.lower()), "relu", "ReLU"]


def _callables(name: str, value: object, _found: re.Match[str], scope: Scope) -> list[Any]:
    """What is called with tensors or sizes; of a number, a method that tells it, such as `vocabulary.size()`."""
    return [*callables_for(name, scope), *([Telling(value)] if type(value) is int else [])]


@dataclass(frozen=True)
class Telling:
    """A method of an invented object: it answers with a number, whatever it is given."""

    number: int

    def __call__(self, *_args: object, **_kwargs: object) -> int:
        return self.number


def _modules(name: str, _value: object, _found: re.Match[str], scope: Scope) -> list[Any]:
    return [layer_for(name, scope), nn.Identity()]


def _sequences(_name: str, value: object, _found: re.Match[str], _scope: Scope) -> list[Any]:
    return [[value] * 2, [value] * 4, (value,) * 3]


def _listed(_name: str, _value: object, _found: re.Match[str], _scope: Scope) -> list[Any]:
    return [[1, 2], []]


def _numbers(name: str, _value: object, _found: re.Match[str], scope: Scope) -> list[Any]:
    number = scope.number(name)
    return [number if type(number) is int else scope.width]


def _tensors(_name: str, _value: object, _found: re.Match[str], scope: Scope) -> list[Any]:
    """Rows of a table of embeddings, or one row."""
    table = torch.linspace(-1, 1, _ROWS * scope.width).view(_ROWS, scope.width)
    return [table, table[0].clone()]


def _arrays(name: str, value: object, found: re.Match[str], scope: Scope) -> list[Any]:
    return [table.numpy() for table in _tensors(name, value, found, scope)]


def _by_attribute(name: str, value: object, found: re.Match[str], scope: Scope) -> list[Any]:
    """What has an attribute of that name."""
    wanted = found[2]
    if wanted in TENSOR and not hasattr(str, wanted) and not hasattr(dict, wanted):
        return [*_tensors(name, value, found, scope), config_for(name, scope)]
    if hasattr(dict, wanted):
        return [{str(number): number for number in range(WIDTH)}, {}]
    if hasattr(str, wanted):
        return [texts(name.lower())[0]]
    if hasattr(nn.Linear(1, 1), wanted):
        return [layer_for(name, scope), nn.Conv2d(scope.width, scope.width, 3, padding=1)]
    classes = [each for each in scope.namespace.values() if isinstance(each, type) and hasattr(each, wanted)]
    return [*classes[:2], InventedModule(scope) if isinstance(value, nn.Module) else config_for(name, scope)]


_WANTED: tuple[tuple[re.Pattern[str], Others], ...] = (
    (re.compile(r"attribute name must be string(?:, not '(\w+)')?"), _texts),
    (re.compile(r"(?:expected str|must be str|expected string)\w*[^,]*, (?:not|found|got)(?: type)? '?(\w+)"), _texts),
    (re.compile(r"(list|tuple) indices must be integers or slices, not str"), _words),
    (re.compile(r"'(\w+)' object is not callable"), _callables),
    (re.compile(r"'(\w+)' object is not (?:iterable|subscriptable|an iterator)"), _sequences),
    (re.compile(r"object of type '(\w+)' has no len\(\)|cannot unpack non-iterable (\w+) object"), _sequences),
    (re.compile(r"expected np\.ndarray \(got (\w+)\)"), _arrays),
    (re.compile(r"must be (?:a )?Tensor,? (?:not|but got) (\w+)"), _tensors),
    (re.compile(r"(\w+) is not a Module subclass"), _modules),
    (re.compile(r"'in <(str)ing>' requires string as left operand"), _listed),
    (re.compile(r"'(\w+)' object cannot be interpreted as an integer"), _numbers),
    (re.compile(r"(?:found element of|but got|must be \w+, not)(?: type)? (\w+)"), _numbers),
    (re.compile(r"(?:not supported between|unsupported operand).*'(\w+)' and '(?:int|float)'"), _numbers),
    (re.compile(r"(?:not supported between|unsupported operand).*'(?:int|float)' and '(\w+)'"), _numbers),
    (_ATTRIBUTE, _by_attribute),
)
"""Words of an error with the type that was given, and what makes values of the type that was wanted."""
