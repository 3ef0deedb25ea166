"""Smaller arguments for a module that takes too long, or too much memory."""

from __future__ import annotations

import copy
import inspect
import re
from collections.abc import Iterator, Mapping
from typing import Any

from torchlint.recording.building.scope import InventedConfig

_WIDE, _NARROWEST = 32, 8
_FACTORS = (4, 16)
_SHALLOW = 2
_DEPTH = re.compile(r"(num_|n_|nb_)?(.*_)?(layers?|blocks?|depths?|stages?|repeats?|stacks?)", re.IGNORECASE)
_CONFIGURATION = re.compile(r"(Config|Configuration|Options|Args|Arguments|Params)$")
_DECIDED = re.compile(r".*(resol|image|img|patch|class|vocab|token|len|pretrain|max|frames|seed).*", re.IGNORECASE)
"""What the data decides, or tables are looked up by."""


def is_too_large(error: BaseException) -> bool:
    return isinstance(error, (TimeoutError, MemoryError)) or "allocate memory" in str(error)


def shrunk(values: Mapping[str, Any], known: Mapping[str, inspect.Parameter]) -> Iterator[dict[str, Any]]:
    """Narrower, then as narrow as it may get and of few layers: given arguments, their options, and defaults."""
    defaults = {name: each.default for name, each in known.items() if each.default is not each.empty}
    for factor in _FACTORS:
        for deep in (True, False):
            small = {name: _smaller(name, value, factor, deep=deep) for name, value in {**defaults, **values}.items()}
            yield {name: value for name, value in small.items() if name in values or value is not defaults[name]}


def _smaller(name: str, value: Any, factor: int, *, deep: bool) -> Any:  # noqa: ANN401 - any argument
    if isinstance(value, InventedConfig):
        for path, inner in list(value.read()):
            other = _smaller(path[-1], inner, factor, deep=deep)
            value = value if isinstance(inner, InventedConfig) or other is inner else value.changed(path, other)
        return value
    if hasattr(value, "__dict__") and _CONFIGURATION.search(type(value).__name__):
        return _smaller_configuration(value, factor, deep=deep)
    if isinstance(value, (list, tuple)) and value and all(type(each) is int for each in value):
        small = [_smaller(name, each, factor, deep=deep) for each in value]
        return value if small == list(value) else type(value)(small)
    if type(value) is not int or _DECIDED.fullmatch(name):
        return value
    if _DEPTH.fullmatch(name):
        return value if deep or value <= _SHALLOW else _SHALLOW
    return max(_NARROWEST, value // factor) if value > _WIDE else value


def shrink(configuration: Any, factor: int) -> None:  # noqa: ANN401 - an object of a library's
    """Few layers, and narrower by a factor: in place, for what reads it next."""
    for name, inner in list(vars(configuration).items()):
        other = _smaller(name, inner, factor, deep=False)
        if other is not inner:
            setattr(configuration, name, other)


def _smaller_configuration(value: Any, factor: int, *, deep: bool) -> Any:  # noqa: ANN401 - an object of the user's
    """A copy of an object of options, such as transformers has for each model."""
    smaller = copy.copy(value)
    for name, inner in list(vars(value).items()):
        other = _smaller(name, inner, factor, deep=deep)
        if other is not inner:
            object.__setattr__(smaller, name, other)  # some are frozen
    return smaller
