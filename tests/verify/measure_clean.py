"""Runs every clean module again and again at every scale: `python -m tests.verify.measure_clean`.

Any difference is either a race of the CPU, and then the module is not clean, or state that is not restored.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Sequence

import torch

from tests.verify.clean_modules.catalogue import CLEAN
from tests.verify.clean_modules.measuring import Measured, measured


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.verify.measure_clean", description=__doc__)
    parser.add_argument("--runs", type=int, default=20, help="at each scale [default: %(default)s]")
    parser.add_argument("--threads", type=int, default=2, help="[default: %(default)s]")
    parser.add_argument("--seconds", type=float, default=60, help="for a module [default: %(default)s]")
    parser.add_argument("--only", default="", metavar="TEXT", help="modules whose name holds this")
    options = parser.parse_args(arguments)
    torch.set_num_threads(options.threads)
    warnings.simplefilter("ignore")  # sparse layouts announce themselves
    wanted = [name for name in CLEAN if options.only in name]
    found = {}
    sys.stdout.write(f"{'module':<34} {'runs by scale':<38} {'s':>6}  verdict\n")
    for name in wanted:
        start = time.monotonic()
        found[name] = measured(name, options.runs, options.seconds)
        sys.stdout.write(_row(name, found[name], time.monotonic() - start))
        sys.stdout.flush()
    sys.stdout.write(_summary(found, options.threads))
    return int(any(each.repeated.difference is not None for each in found.values()))


def _row(name: str, found: Measured, seconds: float) -> str:
    runs = " ".join(f"{scale}:{count}" for scale, count in found.repeated.runs.items())
    difference = found.repeated.difference
    words = found.answer.verdict if difference is None else f"{found.answer.verdict}: {found.answer.reason}"
    return f"{name:<34} {runs:<38} {seconds:>6.1f}  {words}\n"


def _summary(found: dict[str, Measured], threads: int) -> str:
    runs = sum(sum(each.repeated.runs.values()) for each in found.values())
    differed = sum(each.repeated.difference is not None for each in found.values())
    diverged = sum(each.answer.verdict == "DIVERGED" for each in found.values())
    return (
        f"{len(found)} modules, {runs:,} runs, {threads} threads, torch {torch.__version__}: "
        f"{differed} differed, {diverged} DIVERGED\n"
    )


if __name__ == "__main__":
    sys.exit(main())
