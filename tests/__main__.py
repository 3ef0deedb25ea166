"""All that must hold before a change is done: `python -m tests [what pytest should get]`.

The linters come first and fast; pytest's summary comes last.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
LINTERS = {
    "ruff format": ("ruff", "format", "--check", "--quiet", "."),
    "ruff check": ("ruff", "check", "--quiet", "."),
    "mypy": ("mypy", "--no-error-summary"),
    "import-linter": ("lint-imports", "--no-cache"),
    "rule pages": ("python", "docs/generate.py", "--check"),
}
TESTS = ("pytest", "-n", "auto", "--quiet")


def main(arguments: Sequence[str]) -> int:
    """Run every linter, then the tests; the exit code is 1 when anything failed."""
    failed = [name for name, command in LINTERS.items() if not _passes(name, command)]
    tests_pass = _passes("tests", (*TESTS, *arguments))
    if failed:
        print(f"\nfailed before the tests: {', '.join(failed)}", flush=True)
    return 0 if tests_pass and not failed else 1


def _passes(name: str, command: Sequence[str]) -> bool:
    print(f"== {name}", flush=True)
    tool, *rest = command
    found = sys.executable if tool == "python" else str(Path(sys.executable).with_name(tool))
    return subprocess.run([found, *rest], cwd=REPOSITORY, check=False).returncode == 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
