"""All that must hold before a change is done: `python -m tests [--static | --rule CODE] [what pytest should get]`.

The linters come first and fast; pytest's summary comes last. `--static` leaves out what runs torch or builds packages,
`--rule TL401` runs what concerns one rule.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Mapping, Sequence
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
NOT_STATIC = ("tests/verify", "tests/diverge", "tests/hardware", "tests/packaging")
ABOUT_RULES = ("tests/harness", "tests/invariants", "tests/catalogue", "tests/transport")


def main(arguments: Sequence[str]) -> int:
    """Run every linter, then the tests; the exit code is 1 when anything failed."""
    parser = argparse.ArgumentParser(prog="python -m tests", description=__doc__)
    part = parser.add_mutually_exclusive_group()
    part.add_argument("--static", action="store_true", help=f"all but {', '.join(NOT_STATIC)}")
    part.add_argument("--rule", metavar="CODE", help="the rule's page, fixtures, styles, invariants, facts and ways")
    chosen, rest = parser.parse_known_args(arguments)
    linters: Mapping[str, Sequence[str]] = LINTERS
    selected: list[str] = []
    if chosen.static:
        selected = [f"--ignore={folder}" for folder in NOT_STATIC]
    elif chosen.rule:
        linters = {"rule pages": LINTERS["rule pages"]}
        selected = [*ABOUT_RULES, "-k", chosen.rule]
    failed = [name for name, command in linters.items() if not _passes(name, command)]
    tests_pass = _passes("tests", (*TESTS, *selected, *rest))
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
