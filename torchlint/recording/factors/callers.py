"""Whose code calls: the machinery's own waiting and bookkeeping keep the real clock and process id."""

from __future__ import annotations

import os
import sys

STANDARD = "the standard library"
_LIBRARY = os.path.dirname(os.__file__).replace("\\", "/") + "/"  # noqa: PTH120 - pathlib is not loaded by now
_OWN = os.path.abspath(__file__).replace("\\", "/").rpartition("/torchlint/")[0] + "/torchlint/"  # noqa: PTH100
_OF_TIMERS = ("<timeit-src>", "<magic-timeit>")
"""Code that measures until enough time has passed: a clock that moves by ticks would never let it end."""
_MACHINERY = frozenset({STANDARD, "torch", "numpy", "torchlint"})
_known: dict[str, str] = {}


def calling_package(depth: int = 2) -> str:
    """The package that called the function which asks: `torch`, the standard library, or nothing for a user's file."""
    try:
        path = sys._getframe(depth).f_code.co_filename  # noqa: SLF001 - documented, and quicker than `inspect`
    except ValueError:  # a thread that C started with the function itself
        return STANDARD
    package = _known.get(path)
    if package is None:
        package = _known[path] = _package(path.replace("\\", "/"))
    return package


def machinery_calls() -> bool:
    """Whether the caller of the function that asks is the standard library, torch, NumPy or torchlint."""
    return calling_package(3) in _MACHINERY


def _package(path: str) -> str:
    if path.startswith("<frozen ") or path in _OF_TIMERS:
        return STANDARD
    if path.startswith(_OWN):
        return "torchlint"
    for folder in ("/site-packages/", "/dist-packages/"):
        if folder in path:
            return path.rpartition(folder)[2].partition("/")[0].removesuffix(".py")
    if path.startswith(_LIBRARY):
        return STANDARD
    return next((name for name in ("torch", "numpy") if path.startswith(_folder_of(name))), "")


def _folder_of(name: str) -> str:
    """Where a package lies that was built in place, and runs from there."""
    file = getattr(sys.modules.get(name), "__file__", None) or "\0"
    return file.replace("\\", "/").rpartition("/")[0] + "/" if "/" in file.replace("\\", "/") else "\0"
