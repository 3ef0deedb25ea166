"""Names that a file reads and that nothing in it makes here: what its main function would bind is invented."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable
from typing import Any, TypeVar

from torchlint.recording.building.arguments import value_of
from torchlint.recording.building.failures import user_line
from torchlint.recording.building.scope import Scope
from torchlint.recording.building.usage import use_in
from torchlint.recording.loading.frames import user_frames
from torchlint.recording.loading.standing_in import missing_behind
from torchlint.recording.tensors import described

Guess = TypeVar("Guess")
Result = TypeVar("Result")

_MOST = 20


def with_names(
    attempt: Callable[[Guess], Result], scope: Scope, invented: dict[str, object], text: str
) -> Callable[[Guess], Result]:
    """The attempt again and again, until no name is missing.

    `invented` gets those that were made up, by what `text` does with them.
    """

    def named(guess: Guess) -> Result:
        for _ in range(_MOST):
            try:
                return attempt(guess)
            except NameError as error:
                if not _is_bound(error, scope, invented, text):
                    raise
        return attempt(guess)

    return named


def told(invented: dict[str, object]) -> str:
    """For the report: `, with invented n_class=5`."""
    pairs = ", ".join(f"{name}={described(value)}" for name, value in invented.items())
    return f", with invented {pairs}" if pairs else ""


def _is_bound(error: NameError, scope: Scope, invented: dict[str, object], text: str) -> bool:
    """Bind the name that is missing; False where a function or class is, or something of a missing library."""
    frame = next((frame for frame, _ in user_frames(error)), None)
    name = error.name
    if frame is None or not name or isinstance(error, UnboundLocalError) or name in frame.f_globals:
        return False
    if missing_behind(error) or _is_called(name, user_line(error)) or f"super({name}," in user_line(error):
        return False
    uses = {name: use_in(text, name)}
    invented[name] = frame.f_globals[name] = value_of(name, None, dataclasses.replace(scope, uses=uses))
    return True


def _is_called(name: str, line: str) -> bool:
    try:
        tree: Any = ast.parse(line.rstrip(":") if not line.endswith(":") else f"{line} pass")
    except SyntaxError:
        return f"{name}(" in line
    return any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name
        for node in ast.walk(tree)
    )
