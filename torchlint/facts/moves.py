"""Methods that give the object itself: `net.cuda()` and `net.to(device).eval()` are `net`."""

from __future__ import annotations

import ast
import functools

from torchlint.catalogue.load import load_values
from torchlint.catalogue.values import Kind
from torchlint.facts.tree import is_method_call, method_called

_OF_OTHERS = frozenset({"apply", "train"})
"""Methods of modules whose names other objects use for what gives something else."""

_MOST = 20
"""Calls one behind the other that are gone through at once: machine-written code has thousands."""


def moved(value: ast.expr) -> ast.expr | None:
    """`net` in `net.cuda()`, `net.to(device).eval()`; None where nothing is called that gives the object itself."""
    found = None
    for _ in range(_MOST):
        if not is_method_call(value) or not is_move(value.func.attr):
            break
        value = found = value.func.value
    return found


@functools.lru_cache(maxsize=8192)  # the same methods are called everywhere
def is_move(method: str) -> bool:
    """Whether a method gives the object itself."""
    return method in load_values().methods[Kind.MODULE] and method not in _OF_OTHERS


def changed(value: ast.expr | None) -> tuple[ast.expr, list[str]] | None:
    """`x`, and `map` and the `""` of a subscript, in `x[0].map(f)`; None where nothing is asked of anything."""
    steps: list[str] = []
    while isinstance(value, ast.Subscript) or is_method_call(value):
        steps.append(method_called(value))
        value = value.value if isinstance(value, ast.Subscript) else value.func.value
    return (value, steps) if value is not None and steps else None
