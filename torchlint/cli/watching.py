"""`torchlint check --watch`: the answer again after each save, with what the files said before."""

from __future__ import annotations

import dataclasses
import gc
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from torchlint.cli import exits
from torchlint.cli.printing import say, say_error
from torchlint.errors import ConfigError, TorchlintError
from torchlint.source.discovery import tells_facts
from torchlint.source.exclusion import NOT_PROJECT

if TYPE_CHECKING:
    from torchlint.cli.session import Session

_MOMENT = 200
"""Milliseconds from one look to the next."""
_CLEAR = "\x1b[2J\x1b[H"
_ENDS = "Ctrl-C ends it"


def watch(session: Session) -> int:
    """Check, and check again whenever a file that tells facts changes. Raises ConfigError without watchfiles."""
    changes = _watching()
    from torchlint.engine.cache.results import ResultCache

    gc.enable()  # this process stays
    cache = session.cache or ResultCache()
    cache.stays = True
    session = dataclasses.replace(session, cache=cache)
    written = {os.path.realpath(path) for path in session.written}
    folders = session.folders()
    code = None
    try:
        for changed in changes(folders, lambda path: os.path.realpath(path) not in written and _counts(path, folders)):
            code = _again(session, changed, code)
    except KeyboardInterrupt:
        return exits.INTERRUPTED if code is None else code
    return exits.CLEAN if code is None else code


def _again(session: Session, changed: list[str], code: int | None) -> int | None:
    """Check, the first time without a change; the exit code stays where a configuration is being written."""
    from torchlint.catalogue import load_catalogue
    from torchlint.engine.process_state import close_states

    if any(path.endswith(".toml") for path in changed):
        load_catalogue.cache_clear()  # rules of the user's own
    if changed and sys.stdout.isatty():
        sys.stdout.write(_CLEAR)
    try:
        code = session.check()
    except (TorchlintError, FileNotFoundError) as error:  # the latter where the current folder is gone
        say_error(str(error))
    finally:
        close_states()
    say(f"checked again after {_named(changed)}: {_ENDS}" if changed else f"watching: {_ENDS}")
    return code


def _watching() -> Callable[[Iterable[Path], Callable[[str], bool]], Iterator[list[str]]]:
    """What yields the paths that changed, a list for each moment; an empty one first, when it begins to look."""
    try:
        import watchfiles
    except ImportError as error:
        raise ConfigError(f"--watch needs watchfiles: pip install watchfiles ({error})") from None

    def changes(folders: Iterable[Path], counts: Callable[[str], bool]) -> Iterator[list[str]]:
        moments = watchfiles.watch(
            *folders, watch_filter=lambda _, path: counts(path), rust_timeout=_MOMENT, yield_on_timeout=True
        )
        try:
            for index, found in enumerate(moments):
                if found or index == 0:
                    yield sorted(path for _, path in found)
        except OSError as error:
            raise ConfigError(f"--watch: {error}") from None

    return changes


def _counts(path: str, folders: Iterable[Path]) -> bool:
    """Whether a file tells facts, and lies where a project's own files lie."""
    changed = Path(path)
    root = next((folder for folder in folders if folder in changed.parents), None)
    return root is not None and tells_facts(changed.name) and NOT_PROJECT.isdisjoint(changed.relative_to(root).parts)


def _named(changed: list[str]) -> str:
    """`train.py`, or `train.py and 2 more`."""
    more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
    return f"{Path(changed[0]).name}{more}"
