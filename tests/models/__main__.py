"""Measures what the models of the installed libraries hold, and writes `rules/registry/models/`.

`python -m tests.models [LIBRARY ...]`; nothing is downloaded: weights stay as they are drawn.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import signal
import sys
from collections.abc import Iterator, Sequence

import torch

from tests.models.measuring import Held
from tests.models.subjects import Subject
from tests.models.table import FOLDER, LIBRARIES, Library, written

_SECONDS = 120
"""Of the processor, of all its cores together: no model needs a third of it, or else hundreds of times as much."""


class TooSlowError(BaseException):
    """A model that would take too long. Nothing else that handles errors is to handle it."""


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit code is 2 where a library that was named is not installed."""
    parser = argparse.ArgumentParser(prog="python -m tests.models", description=__doc__)
    parser.add_argument("library", nargs="*", choices=[[], *(one.package for one in LIBRARIES)])
    named = parser.parse_args(arguments).library
    chosen = [one for one in LIBRARIES if one.package in named or not named]
    installed = [one for one in chosen if importlib.util.find_spec(one.package) is not None]
    for library in installed:
        measure_library(library)
    return 2 if named and len(installed) < len(chosen) else 0


def measure_library(library: Library) -> None:
    """Models that do not run are named, and left out."""
    found: dict[Held, list[Subject]] = {}
    for subject in library.subjects():
        try:
            with _limited():
                found.setdefault(subject.held(), []).append(subject)
        except (Exception, TooSlowError) as error:  # noqa: BLE001 - one of hundreds
            first = str(error).partition("\n")[0]
            sys.stderr.write(f"{library.package}: {subject.label}: {type(error).__name__}: {first}\n")
    count = sum(map(len, found.values()))
    FOLDER.mkdir(exist_ok=True)
    release = torch.__version__.partition("+")[0]
    library.file.write_text(written(library, release, found), encoding="utf-8", newline="\n")
    sys.stdout.write(f"{library.package} {library.release}: {count} builders measured\n")


@contextlib.contextmanager
def _limited() -> Iterator[None]:
    previous = signal.signal(signal.SIGPROF, _stop)
    signal.setitimer(signal.ITIMER_PROF, _SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, previous)


def _stop(*_: object) -> None:
    raise TooSlowError(f"more than {_SECONDS} s")


if __name__ == "__main__":
    sys.exit(main())
