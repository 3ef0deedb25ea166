"""Puts functions in the place of others, so that names, signatures, pickles and earlier imports go on as they did."""

from __future__ import annotations

import copyreg
import sys
from functools import update_wrapper

TYPE_CHECKING = False  # `typing` takes a while to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def replace(holder: Any, name: str, make: Callable[[Any], Any]) -> None:  # noqa: ANN401 - a module or a class
    """Put in the place of `holder.name` what `make` makes of it; where there is none, nothing happens."""
    original = getattr(holder, name, None)
    if original is None:
        return
    new = dressed(make(original), original)
    if not isinstance(holder, type):  # a builtin says `posix`, where the original stays: a pickle looks there
        new.__module__, new.__qualname__ = holder.__name__, name
    setattr(holder, name, new if hasattr(original, "__get__") else _like_builtin(new))


def _like_builtin(function: Any) -> Any:  # noqa: ANN401 - a function of any signature
    """The function as one that becomes no method: `class Timer: now = time.time` takes no `self`."""
    copyreg.pickle(staticmethod, _qualified_name)
    return staticmethod(function)


def _qualified_name(function: Any) -> str:  # noqa: ANN401
    """A pickle holds the name, as that of a function does, and a copy is the thing itself."""
    return str(function.__qualname__)


def dressed(new: Any, original: Any) -> Any:  # noqa: ANN401 - functions of any signature
    """The new function with the name, the words and the signature of the original."""
    update_wrapper(new, original)
    new._torchdynamo_disable = True  # noqa: SLF001 - torch's own mark: it is called, and not compiled, like what C wrote
    return new


def replace_in_type(cls: type, name: str, make: Callable[[Any], Any]) -> None:
    """Put in the place of a method what `make` makes of its descriptor, also in a type that C made immutable.

    The class stays the same object: `isinstance`, subclasses, pickles and C code that knows it see no difference.
    """
    new = make(cls.__dict__[name])
    try:
        setattr(cls, name, new)
    except TypeError:
        import ctypes  # noqa: PLC0415 - slow to import, and needed for these types only
        import gc  # noqa: PLC0415

        [table] = gc.get_referents(cls.__dict__)  # the dictionary behind the read-only view
        table[name] = new
        ctypes.pythonapi.PyType_Modified(ctypes.py_object(cls))
    if cls.__dict__[name] is not new:
        raise TypeError(f"{cls.__module__}.{cls.__qualname__}.{name} cannot be replaced")


def renew_names(pairs: dict[Any, Any]) -> None:
    """Give what was imported by name before, as `from time import time` did, the new functions too.

    At Python's start few modules are loaded; of classes only those of pathlib and glob keep such functions.
    """
    for module_name, module in list(sys.modules.items()):
        if not getattr(module, "__file__", None) or module_name.startswith("torchlint."):
            continue  # builtin modules keep the originals, and what replaces them does
        _renew(module, pairs)
        if module_name.partition(".")[0] in ("pathlib", "glob"):
            for value in list(vars(module).values()):
                if isinstance(value, type):
                    _renew(value, pairs)


def _renew(holder: Any, pairs: dict[Any, Any]) -> None:  # noqa: ANN401 - a module or a class
    for name, value in list(vars(holder).items()):
        plain = value.__func__ if isinstance(value, staticmethod) else value
        try:
            new = pairs.get(plain)
        except TypeError:  # not hashable, so none of the functions
            continue
        if new is not None:
            setattr(holder, name, new)
