"""Python imports this at its start when the folder is on PYTHONPATH: it waits for torch, then starts the recorder.

It must cost nothing and break nothing where no torch is imported, so it uses what Python has loaded by now. The user's
own `sitecustomize`, which it hides, is run as well.
"""

from __future__ import annotations

import os
import sys
import time

TYPE_CHECKING = False  # `typing` takes a while to import
if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any

_FOLDER = os.environ.get("TORCHLINT_RECORDS", "")
_IS_JOURNAL = bool(_FOLDER) and os.path.exists(os.path.join(_FOLDER, "journal.json"))  # noqa: PTH110, PTH118
"""Whether the whole run is recorded, as `torchlint diverge` does, and not what findings are about."""
_HERE = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 - pathlib is not loaded by now
_PACKAGE_TOP = os.path.normpath(os.path.join(_HERE, *[os.pardir] * 4))  # noqa: PTH118


class _TorchWatcher:
    """Finds nothing itself: it asks the other finders for torch, and has the recorder started once torch ran.

    `importlib.util.find_spec("torch")` asks, and imports nothing: the wait goes on.
    """

    def find_spec(self, name: str, path: object = None, target: ModuleType | None = None) -> ModuleSpec | None:
        del path, target
        if name != "torch" or self not in sys.meta_path:
            return None
        from importlib.util import find_spec  # noqa: PLC0415 - not before it is needed

        sys.meta_path.remove(self)
        try:
            spec = find_spec(name)
        finally:
            sys.meta_path.insert(0, self)
        try:
            self._start_after(spec)
        except Exception as error:  # noqa: BLE001 - the user's program goes on without a recorder
            _complain(error)
        return spec

    def _start_after(self, spec: ModuleSpec | None) -> None:
        loader: Any = None if spec is None else spec.loader
        if loader is None:
            return
        plain = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            del loader.exec_module  # torch keeps its loader as it was
            if self in sys.meta_path:
                sys.meta_path.remove(self)
            plain(module)
            _start()

        loader.exec_module = exec_module


def _start() -> None:
    if _IS_JOURNAL:
        _call("journal.start", "begin_with_torch", _FOLDER)
    else:
        _call("in_command.session", "begin", _FOLDER)


def _call(module: str, name: str, *args: str) -> None:
    """Call a function of torchlint's, which need not be on the path of the program."""
    from importlib import import_module  # noqa: PLC0415 - not before it is needed

    sys.path.insert(0, _PACKAGE_TOP)
    try:
        getattr(import_module(f"torchlint.recording.{module}"), name)(*args)
    except Exception as error:  # noqa: BLE001 - the user's program goes on without a recorder
        _complain(error)
    finally:
        sys.path.remove(_PACKAGE_TOP)


def _complain(error: Exception) -> None:
    """Leave word of what broke, for the report."""
    _leave("trouble", f"{sys.executable}: {type(error).__name__}: {error}")


def _leave(kind: str, words: str) -> None:
    name = os.path.join(_FOLDER, f"{os.getpid()}-{time.time_ns()}.{kind}")  # noqa: PTH118
    try:
        with open(name, "x", encoding="utf-8", errors="surrogateescape") as file:  # noqa: PTH123
            file.write(words)
    except OSError:
        pass  # the command line is gone, and nobody reads it any more


def _run_users_own() -> None:
    """Import the `sitecustomize` that would have been found without this folder."""
    sys.path[:] = [each for each in sys.path if os.path.abspath(each) != _HERE]  # noqa: PTH100
    this = sys.modules.pop("sitecustomize")
    try:
        __import__("sitecustomize")
    except ImportError as error:
        if error.name != "sitecustomize":
            raise
    finally:
        sys.modules.setdefault("sitecustomize", this)  # the import that is under way expects one


if os.path.isdir(_FOLDER):  # noqa: PTH112
    _leave("started", "\0".join(sys.orig_argv))
    if _IS_JOURNAL:
        _call("journal.start", "begin")
    if "torch" in sys.modules:
        _start()
    else:
        sys.meta_path.insert(0, _TorchWatcher())
_run_users_own()
