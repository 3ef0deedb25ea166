"""The command line: turns options into overrides, prints reports, chooses exit codes; nothing else."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from torchlint import __version__


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code. `--version` alone is answered before click is imported."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    if given == ["--version"]:
        sys.stdout.write(f"torchlint {__version__}\n")
        return 0
    try:
        from torchlint.cli.group import run

        return run(given)
    except KeyboardInterrupt:  # while importing
        return 130
