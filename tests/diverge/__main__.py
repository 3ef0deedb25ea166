"""How often `torchlint diverge` finds what was planted: `python -m tests.diverge [NAMES]`, about a minute a program."""

from __future__ import annotations

import sys
import time

from tests.diverge.planted import Planted, compared, planted


def main(names: list[str]) -> None:
    """Print a line for each program, and the sums."""
    right, clean, left = 0, 0, []
    chosen = [each for each in planted() if each.name in names or not names]
    for program in chosen:
        if program.missing:
            left.append(program.name)
            continue
        faults = _faults(program)
        right += not faults and not program.clean
        clean += not faults and program.clean
    of_right, of_clean = (
        sum(each.clean is is_clean for each in chosen if each.name not in left) for is_clean in (False, True)
    )
    print(f"{right} of {of_right} planted causes found, {clean} of {of_clean} clean programs equal")
    if left:
        print(f"left out, for what they need is not installed: {', '.join(left)}")


def _faults(program: Planted) -> list[str]:
    began = time.monotonic()
    try:
        found, files = compared(program)
        faults = program.faults(found) + [f"left {each}" for each in files]
        runs = found["experiments"] + 2
    except AssertionError as error:
        faults, runs = [str(error)], 0
    words = "right" if not faults else "; ".join(faults)
    print(f"{program.name}: {words} ({runs} runs, {time.monotonic() - began:.0f} s)", flush=True)
    return faults


if __name__ == "__main__":
    main(sys.argv[1:])
