"""What a check costs, against ruff on the same files in the same run: `python tests/benchmarks/check_cost.py FOLDER`.

It measures CPU seconds (user and system, with child processes), which a busy machine spoils less than the clock, and
prints the median of several rounds. Nothing here passes or fails.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

RUFF = (sys.executable, "-m", "ruff", "check", "--select", "ALL", "--no-cache", "--isolated", "--quiet", "--exit-zero")
TORCHLINT = (sys.executable, "-m", "torchlint", "check", "--no-cache", "--isolated", "--exit-zero")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="a package, such as kornia")
    parser.add_argument("--rounds", type=int, default=3, help="[default: %(default)s]")
    options = parser.parse_args(arguments)
    files = sorted(options.folder.rglob("*.py"))
    print(f"{options.folder}: {len(files)} files, {sum(map(_line_count, files)):,} lines, {options.rounds} rounds")

    ruff = _median(options.rounds, [*RUFF, str(options.folder)])
    whole = _median(options.rounds, [*TORCHLINT, str(options.folder)])
    serial = _median(options.rounds, [*TORCHLINT, "--jobs", "1", str(options.folder)])
    bare = _median(options.rounds * 5, [sys.executable, "-c", ""])
    version = _median(options.rounds * 5, [sys.executable, "-m", "torchlint", "--version"])

    print(f"{'':<34} {'CPU s':>8} {'clock s':>8} {'CPU / ruff':>11}")
    for name, (cpu, clock) in (
        ("ruff check --select ALL --no-cache", ruff),
        ("torchlint check", whole),
        ("torchlint check --jobs 1", serial),
    ):
        print(f"{name:<34} {cpu:>8.2f} {clock:>8.2f} {cpu / ruff[0]:>11.2f}")
    print(f"{'python -c pass':<34} {bare[0]:>8.3f} {bare[1]:>8.3f}")
    print(f"{'python -m torchlint --version':<34} {version[0]:>8.3f} {version[1]:>8.3f}")
    return 0


def _median(rounds: int, command: Sequence[str]) -> tuple[float, float]:
    """CPU seconds and clock seconds of a command; the first, unmeasured run fills the file system's cache."""
    spent = [_measure(command) for _ in range(rounds + 1)][1:]
    return statistics.median(cpu for cpu, _ in spent), statistics.median(clock for _, clock in spent)


def _measure(command: Sequence[str]) -> tuple[float, float]:
    before, start = os.times(), time.perf_counter()
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    after, end = os.times(), time.perf_counter()
    user, system = after.children_user - before.children_user, after.children_system - before.children_system
    return user + system, end - start


def _line_count(path: Path) -> int:
    return path.read_bytes().count(b"\n")


if __name__ == "__main__":
    sys.exit(main())
