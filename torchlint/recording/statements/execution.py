"""Bringing a flagged line to run: by loading its text, else by its main guard, its function or its class."""

from __future__ import annotations

import ast
import contextlib
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from torchlint.recording.errors import CannotRun
from torchlint.recording.loading import load
from torchlint.recording.loading.devices import at_hand
from torchlint.recording.loading.script import as_script
from torchlint.recording.messages import Request
from torchlint.recording.options import options
from torchlint.recording.originals import UsersCode, call_users
from torchlint.recording.statements.invented import Arguments, Invention, invented_arguments, literal_arguments
from torchlint.recording.statements.line_watch import TimeOver, stopped_after
from torchlint.recording.statements.places import Place

MAIN_GUARD = "<main guard>"
"""The name of the code of a main guard's body, which runs in the file's own scope."""
TOP_LEVEL = ("<module>", MAIN_GUARD)


@dataclass
class Execution:
    """One run of the flagged line, and what came of it as far as it got."""

    request: Request
    place: Place
    invention: Invention = field(default_factory=Invention)
    module: ModuleType | None = None
    """None where loading failed."""
    stubs: tuple[str, ...] = ()
    entered: str = "the file"
    """What was run to reach the line."""
    call: Callable[..., Any] | None = None
    """The function or class that was called."""
    arguments: Arguments = field(default_factory=Arguments)
    result: Any = None

    def run(self, is_reached: Callable[[], bool]) -> None:
        """Load the text and, where that does not reach the line, enter what holds it.

        What the code raises comes out as it is, or as CannotRun where the loader says so.
        """
        loaded = load(self.request.code)
        self.module, self.stubs = loaded.module, tuple(loaded.stubs)
        if is_reached():
            return
        if self.place.function is not None:
            self._enter(loaded.module, self.place.function.name)
        elif self.place.guard is not None:
            self._run_guard(loaded.module, self.place.guard)

    def ended(self, work: Callable[[], Any], seconds: float) -> tuple[Any, str, str]:
        """What the work returns; else why it did not come to its end, in words and as a kind."""
        try:
            return work(), "", ""
        except TimeOver:
            return None, stopped_after(seconds, self.request.seconds), "time"
        except CannotRun as error:
            return None, error.reason, error.kind
        except BaseException as error:  # noqa: BLE001 - the user's code may end in any way, `sys.exit` among them
            return None, self.arguments.told(error), "raised"

    def _run_guard(self, module: ModuleType, guard: ast.If) -> None:
        self.entered = "its main guard"
        path = self.request.code.path
        body = compile(ast.Module(body=guard.body, type_ignores=[]), path, "exec").replace(co_name=MAIN_GUARD)
        with self._as_loaded(), UsersCode():
            exec(body, vars(module))  # noqa: S102 - running the user's program is what this process is for

    def _enter(self, module: ModuleType, function: str) -> None:
        name = self.place.owner.name if self.place.owner else function
        target = getattr(module, name, None)
        target = getattr(target, "callback", None) or target  # a command of click wraps its function
        if not callable(target):
            raise CannotRun("load", f"`{name}` is not among what was loaded")
        self.entered, self.call = f"`{name}`", target
        self.arguments = self.arguments_for(module, name, inspect.unwrap(target))
        with self._as_loaded():
            self.result = self.called(self.arguments)

    def called(self, arguments: Arguments) -> Any:  # noqa: ANN401 - whatever the user's code returns
        assert self.call is not None
        return call_users(self.call, *arguments.args, **arguments.kwargs)

    @contextlib.contextmanager
    def _as_loaded(self) -> Iterator[None]:
        """A started program finds what the file found when it was loaded: no options, and the device at hand."""
        with as_script(self.request.code.path), at_hand("cpu"):
            yield

    def arguments_for(self, module: ModuleType, name: str, target: Callable[..., Any]) -> Arguments:
        """The user's words first, then the project's literals, then what is invented."""
        hooks = self.request.hooks
        if hooks.args or hooks.kwargs:
            return Arguments(tuple(map(options, hooks.args)), options(hooks.kwargs), "the configuration")
        sites = self.request.target.calls.get(name, ()) if self.invention.folder is None else ()
        for arguments in (literal_arguments(site, vars(module)) for site in sites):
            if arguments.fit(target):
                return arguments
        return invented_arguments(target, self.invention)
