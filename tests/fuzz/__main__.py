"""Changes real files at random and checks them: `python -m tests.fuzz [FOLDER ...] [--count N] [--seed N]`.

A text of which something does not hold is kept in `tests/fuzz/kept`, where the tests find it from then on.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

from tests.fuzz.checking import check
from tests.fuzz.mutations import mutated

KEPT = Path(__file__).with_name("kept")
FIXTURES = Path(__file__).parents[2] / "fixtures"


def main(arguments: Sequence[str] | None = None) -> int:
    """1 where something did not hold."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("folders", nargs="*", type=Path, default=[FIXTURES], help="[default: the fixtures]")
    parser.add_argument("--count", type=int, default=2000, help="texts to check [default: %(default)s]")
    parser.add_argument("--seed", type=int, default=0, help="of the first text [default: %(default)s]")
    options = parser.parse_args(arguments)
    texts = corpus(options.folders)
    wrong = 0
    for seed in range(options.seed, options.seed + options.count):
        text = text_of(texts, seed)
        try:
            check(text)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is what is looked for
            wrong += 1
            print(f"seed {seed}: {keep(text)}: {traceback.format_exception_only(error)[-1].strip()[:300]}", flush=True)
    print(f"{options.count} texts, {wrong} wrong")
    return 1 if wrong else 0


def corpus(folders: Sequence[Path]) -> list[list[str]]:
    """The lines of each Python file, in the order of their paths."""
    paths = sorted(path for folder in folders for path in folder.rglob("*.py"))
    return [path.read_text(encoding="utf-8", errors="replace").split("\n") for path in paths]


def text_of(texts: Sequence[list[str]], seed: int) -> str:
    """The text of a seed: always the same for the same files."""
    chance = random.Random(seed)  # noqa: S311 - texts that can be made again
    return mutated(chance.choice(texts), chance.choice(texts), chance)


def keep(text: str) -> Path:
    """Where a text is kept from now on; not as `.py`, so that nothing else reads it."""
    data = text.encode(errors="surrogatepass")
    path = KEPT / f"{hashlib.sha256(data).hexdigest()[:12]}.txt"
    path.write_bytes(data)
    return path


if __name__ == "__main__":
    sys.exit(main())
