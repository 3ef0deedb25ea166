"""Executes the text of a file; what its imports lack is stood in for, one attempt after another."""

from __future__ import annotations

import contextlib
import functools
import importlib
import importlib.util
import linecache
import re
import sys
import traceback
import types
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from torchlint.recording.errors import CannotRun
from torchlint.recording.loading.devices import at_hand
from torchlint.recording.loading.left_out import without_what_failed
from torchlint.recording.loading.script import as_script
from torchlint.recording.loading.shells import Shells, package_of, root_of
from torchlint.recording.loading.standing_in import told
from torchlint.recording.loading.stubs import Stubs
from torchlint.recording.loading.weights import without_downloads
from torchlint.recording.messages import Code
from torchlint.recording.originals import UsersCode

_MOST_ATTEMPTS = 60
"""Each attempt stands in for one more import or package; a file with more than that is none of ours."""
_MOST_LEFT_OUT = 40
_LONGEST_WORDS = 200
_LEANING = ("torch.utils.cpp_extension", "torch.utils.tensorboard")
"""They need a compiler, and TensorBoard."""


@dataclass(frozen=True)
class Loaded:
    """The user's file as a module."""

    module: types.ModuleType
    stubs: tuple[str, ...] = ()
    """Imports that were missing and stood in for."""
    left_out: tuple[str, ...] = ()
    """Why statements of the file were left out, each in words."""


def load(code: Code, *, whole: bool = True) -> Loaded:
    """Execute the text. The import system keeps what it was given: this is for a process of one target.

    Where it need not be the `whole` file, statements of its top level that fail are left out: a script reads its data
    there, and a class of it may only want a number of that.
    """
    _extend_search_path(code)
    missing = Missing(Stubs(), Shells())
    try:
        with warnings.catch_warnings(), as_script(code.path), at_hand("cpu"), without_downloads(), UsersCode():
            # A user's run shows warnings; an attempt at loading must not stop at them.
            warnings.simplefilter("ignore")
            module, left_out = _as_far_as_it_runs(code, missing, _MOST_LEFT_OUT if not whole else 0)
            for name in code.registering:
                # A module that does not load here registers nothing, and what wants it says so.
                with contextlib.suppress(Exception):
                    _attempts(functools.partial(importlib.import_module, name), missing)
    except CannotRun:
        raise
    except (Exception, SystemExit) as error:
        raise CannotRun("load", f"{code.module} cannot be imported: {told(error)[:_LONGEST_WORDS]}") from error
    return Loaded(module, tuple(missing.stubs.names), left_out)


def _as_far_as_it_runs(code: Code, missing: Missing, most: int) -> tuple[types.ModuleType, tuple[str, ...]]:
    left_out: list[str] = []
    while True:
        try:
            return _loaded(code, missing), tuple(left_out)
        except (Exception, SystemExit) as error:
            text = without_what_failed(code, error) if len(left_out) < most else None
            if text is None:
                raise
            left_out.append(told(error)[:_LONGEST_WORDS])
            code = msgspec.structs.replace(code, text=text)


def _loaded(code: Code, missing: Missing) -> types.ModuleType:
    """With shells of the packages around it, else with the packages themselves."""
    try:
        missing.shells.around(code)
        return _attempts(lambda: _executed(code), missing)
    except CannotRun:
        raise
    except Exception:
        if not package_of(code):
            raise
        missing.shells.remove()
        # Its parts may lean on what the starts of the packages do: their order, say, or a registry.
        _attempts(lambda: importlib.import_module(package_of(code)), missing)
        return _attempts(lambda: _imported(code) or _executed(code), missing)


def _imported(code: Code) -> types.ModuleType | None:
    """The file as its package imported it, where nothing is left out: a second time its registries would refuse."""
    module = sys.modules.get(code.module)
    whole = Path(code.path).read_text(encoding="utf-8", errors="replace") if Path(code.path).is_file() else ""
    return module if whole == code.text else None


def _extend_search_path(code: Code) -> None:
    """After what stands: the project's `random.py` must not take the place of the verifier's own."""
    for folder in (*code.search_paths, str(root_of(code))):
        if folder not in sys.path:
            sys.path.append(folder)
    importlib.invalidate_caches()


def _executed(code: Code) -> types.ModuleType:
    module = types.ModuleType(_free_name(code))
    module.__file__ = code.path
    module.__package__ = package_of(code)
    if Path(code.path).name == "__init__.py":
        module.__path__ = [str(Path(code.path).parent)]
    compiled = compile(code.text, code.path, "exec", dont_inherit=True)
    linecache.checkcache(code.path)
    sys.modules[module.__name__] = module
    try:
        exec(compiled, module.__dict__)  # noqa: S102 - running the user's code is what this process is for
    except BaseException:
        del sys.modules[module.__name__]
        raise
    parent, _, name = code.module.rpartition(".")
    if parent in sys.modules:
        setattr(sys.modules[parent], name, module)
    return module


def _free_name(code: Code) -> str:
    """The file's own name; a `random.py` goes by another one, since Python's own is in use."""
    taken = sys.modules.get(code.module)
    is_other = taken is not None and getattr(taken, "__file__", None) != code.path
    return f"{code.module}_of_the_project" if is_other and not package_of(code) else code.module


def _attempts(action: Callable[[], types.ModuleType], missing: Missing) -> types.ModuleType:
    for _ in range(_MOST_ATTEMPTS):
        try:
            return action()
        except Exception as error:
            if not missing.stands_in(error):
                raise
    raise CannotRun("load", f"more than {_MOST_ATTEMPTS} imports are missing")


@dataclass(frozen=True)
class Missing:
    """What has been stood in for so far."""

    stubs: Stubs
    shells: Shells

    def stands_in(self, error: Exception) -> bool:
        """Answer an import that failed; False where there is nothing to be done, or it has been done before."""
        if self.shells.any_around and "partially initialized module" in str(error):
            return False  # a circle of imports that works in the package's own order only
        if isinstance(error, ModuleNotFoundError) and error.name:
            return self.stubs.add(_absent_part(error.name))
        leaning = _leaning_part(error)
        if leaning:
            return self.stubs.add(leaning)
        return (
            self._stands_in_for_a_name(error)
            or self._stands_in_for_a_package(error)
            or self._stands_in_for_a_module(error)
        )

    def _stands_in_for_a_name(self, error: Exception) -> bool:
        """`cannot import name 'x' from 'library'`: a release of the library that has it no more."""
        found = re.match(r"cannot import name '(\w+)' from '([\w.]+)'", str(error))
        if not isinstance(error, ImportError) or not found:
            return False
        name, owner = found.groups()
        module = sys.modules.get(owner)
        if module is None or owner.partition(".")[0] == self.shells.own:
            return False
        return self.stubs.add_name(module, name)

    def _stands_in_for_a_package(self, error: Exception) -> bool:
        """A package whose start fails, as without its compiled parts: its modules may load without it."""
        packages = list(dict.fromkeys(_packages_that_failed(error)))
        if any(self.shells.add(package) for package in reversed(packages)):
            return True
        tops = [package.partition(".")[0] for package in packages]
        return any(self.stubs.add(top) for top in tops if top != self.shells.own)

    def _stands_in_for_a_module(self, error: Exception) -> bool:
        """A module that reads a file that is not here, or asks for a GPU, as it is imported."""
        failed = list(_modules_that_failed(error))
        return bool(failed) and self.stubs.add(failed[-1], _bound_by(failed[-1], error))


def _leaning_part(error: BaseException) -> str:
    """The part of torch that asked for what is not in here; nothing where it is none of those that do."""
    names = [frame.f_globals.get("__name__", "") for frame, _ in traceback.walk_tb(error.__traceback__)]
    return next((part for part in _LEANING if any(name.startswith(part) for name in names)), "")


def _absent_part(name: str) -> str:
    """The first part of a dotted name that cannot be found: a whole library, or one module of it."""
    parts = name.split(".")
    for count in range(1, len(parts)):
        known = ".".join(parts[:count])
        if known not in sys.modules and not _is_found(known):
            return known
    return name


def _is_found(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError, AttributeError):
        return False


def _packages_that_failed(error: Exception) -> list[str]:
    """Third-party or project packages whose `__init__` was running when it failed, the outermost first."""
    return [name for name, path in _starts(error) if path.name == "__init__.py"]


def _modules_that_failed(error: Exception) -> Iterator[str]:
    """Modules that were being imported by the file at hand when they failed, the outermost first."""
    for name, path in list(_starts(error))[1:]:
        if path.name != "__init__.py":
            yield name


def _bound_by(module: str, error: Exception) -> Mapping[str, object]:
    """What a module that failed had bound by then: constants above a folder that it makes, say."""
    names = (frame.f_globals for frame, _ in traceback.walk_tb(error.__traceback__))
    return next(each for each in names if each.get("__name__") == module)


def _starts(error: Exception) -> Iterator[tuple[str, Path]]:
    """The modules that were being executed, with their files, the outermost first."""
    for frame, _ in traceback.walk_tb(error.__traceback__):
        name = str(frame.f_globals.get("__name__", ""))
        if frame.f_code.co_name == "<module>" and name.partition(".")[0] not in _OWN:
            yield name, Path(frame.f_code.co_filename)


_OWN = frozenset({"torch", "torchlint", "numpy"}) | frozenset(sys.stdlib_module_names)
"""What is never replaced."""
