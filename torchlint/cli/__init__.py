"""The command line: turns options into overrides, prints reports, chooses exit codes; nothing else."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence

from torchlint import __version__


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code. `--version` alone is answered before click is imported."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    if given == ["--version"]:
        sys.stdout.write(f"torchlint {__version__}\n")
        return 0
    is_short = arguments is None and given[:1] == ["check"]
    if is_short:
        gc.disable()  # all that a check makes is asked for until its end, and hardly any of it stands in a circle
    try:
        from torchlint.cli.group import run

        code = run(given)
    except KeyboardInterrupt:  # while importing
        return 130
    if is_short:
        _leave(code)
    return code


def _leave(code: int) -> None:
    """End the process at once: to take apart all that a check holds costs time, and frees what the system frees.

    Where something is left that cannot be printed, Python's own end says so.
    """
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        return
    os._exit(code)
