"""Functions that the user's code may replace, as they were before it ran: what judges it must not be changed by it.

A program may put `torch.equal = ...` or `builtins.sorted = ...` in place. That holds while its own code runs, and not
while its results are compared, hashed and answered.
"""

from __future__ import annotations

import builtins
import collections
import copy
import ctypes
import functools
import inspect
import itertools
import json
import math
import operator
import os
import random
import re
import select
import signal
import sys
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any, TypeVar

import msgspec
import torch
from typing_extensions import Self

Result = TypeVar("Result")

_OWNERS = (
    *(builtins, collections, copy, ctypes, functools, inspect, itertools, json, math, operator, os, os.path, random),
    *(re, select, signal, sys, time, zlib, Path, msgspec, msgspec.json, msgspec.msgpack),
    *(torch, torch._C, torch.Tensor, torch.nn.Parameter, torch.random, torch.cuda, torch.autograd),  # noqa: SLF001
    *(sys.modules[name] for name in ("numpy", "numpy.random") if sys.modules.get(name) is not None),
)
_CONSTANTS = (torch.dtype, torch.layout, ModuleType)
"""What is kept of modules beside functions and classes. Other values are state, `sys.stdout` say: the program's own."""

# The functions that this module needs itself, whatever becomes of their names.
_absent, _callable, _delattr, _isinstance, _setattr, _tuple, _vars, _dict, _type = (
    *(object(), callable, delattr, isinstance, setattr, tuple, vars, dict, type),
)

_Change = tuple[Any, str, object, object]
"""The owner and the name of what was replaced, the original, and what stands there."""


class _Kept:
    """What one owner has, and a quick look whether it still has that."""

    __slots__ = ("_last", "_names", "owner")

    def __init__(self, owner: Any) -> None:  # noqa: ANN401 - a module or a class
        self.owner = owner
        self._names = _dict(_vars(owner))
        self._last = _tuple(self._names.values())

    def changes(self) -> list[_Change]:
        values = _tuple(_vars(self.owner).values())
        if values is self._last or _are_same(values, self._last):
            return []
        now, is_class = _dict(_vars(self.owner)), _isinstance(self.owner, _type)
        found: list[_Change] = [
            (self.owner, name, value, now.get(name, _absent))
            for name, value in self._names.items()
            if now.get(name, _absent) is not value and (is_class or _callable(value) or _isinstance(value, _CONSTANTS))
        ]
        if is_class:  # a new name hides that of a base
            found += [(self.owner, name, _absent, value) for name, value in now.items() if name not in self._names]
        if not found:
            self._last = values  # state that changed, or modules that were imported: not to be looked at again
        return found


def _are_same(values: tuple[object, ...], others: tuple[object, ...]) -> bool:
    try:
        return values == others  # identity first: only what was replaced is asked
    except Exception:  # noqa: BLE001 - an object of the user's may refuse to be compared
        return False


class _Standing:
    """Whose functions are in place: those of the judge, or of the user's code."""

    def __init__(self) -> None:
        self.kept: list[_Kept] = []
        """The judge's own, where the user's code is running; empty where nothing was kept."""
        self.theirs: list[_Change] = []
        """What the user's code had in place when it was last left."""
        self.is_judging = False

    def leave_users_code(self) -> None:
        self.theirs = [change for kept in self.kept for change in kept.changes()]
        for owner, name, original, _ in self.theirs:
            _put(owner, name, original)
        self.is_judging = True

    def enter_users_code(self) -> None:
        for owner, name, _, replacement in self.theirs:
            _put(owner, name, replacement)
        self.is_judging = False


_standing = _Standing()


def _put(owner: Any, name: str, value: object) -> None:  # noqa: ANN401 - a module or a class
    if value is _absent:
        _delattr(owner, name)
    else:
        _setattr(owner, name, value)


def attribute_of_user(owner: object, name: str, default: object) -> object:
    """What the user's code has under a name of a module or class, also while the originals are in place."""
    if _standing.is_judging:
        for changed, each, _, value in _standing.theirs:
            if changed is owner and each == name:
                return default if value is _absent else value
    return getattr(owner, name, default)


class _Section:
    """A part of the work, as a context manager. It is no generator: `next` may be replaced as well."""

    _is_entered = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        raise NotImplementedError


class KeptOriginals(_Section):
    """Within this, functions stay what they are now, apart from sections of `UsersCode`."""

    def __enter__(self) -> Self:
        self._is_entered = not _standing.is_judging and not _standing.kept
        if self._is_entered:
            _standing.is_judging = True
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_entered:
            _standing.kept, _standing.theirs, _standing.is_judging = [], [], False


class UsersCode(_Section):
    """The user's code runs here, with what it has put in place of functions."""

    def __enter__(self) -> Self:
        self._is_entered = _standing.is_judging
        if self._is_entered:
            _standing.kept = [_Kept(owner) for owner in _OWNERS]
            _standing.enter_users_code()
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_entered:
            _standing.leave_users_code()


def call_users(function: Callable[..., Result], *args: Any, **kwargs: Any) -> Result:  # noqa: ANN401 - of the user's own
    """What a function of the user's code returns."""
    with UsersCode():
        return function(*args, **kwargs)


class Judging(_Section):
    """In the midst of the user's code its results are looked at: with the original functions."""

    def __enter__(self) -> Self:
        self._is_entered = bool(_standing.kept) and not _standing.is_judging
        if self._is_entered:
            _standing.leave_users_code()
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_entered:
            _standing.enter_users_code()
