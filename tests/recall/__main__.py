"""How many causes are named in repositories that were read line by line: `python -m tests.recall FOLDER`.

The folder holds clones called `owner+name`, at the commits of `causes.tsv`. What is absent is left out.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.recall.scoring import Read, causes, judged, named
from torchlint.api import CheckOptions, check_paths
from torchlint.config import Overrides


def main(folder: Path) -> None:
    """Print a line a repository, each cause that nothing names, and the sums."""
    every, all_named = 0, 0
    for repository in sorted({one.repository for one in causes()}):
        clone = folder / repository.replace("/", "+")
        if clone.is_dir():
            read, found = _score(repository, clone)
            every, all_named = every + read, all_named + found
    print(f"{all_named} of {every} causes named")


def _score(repository: str, clone: Path) -> tuple[int, int]:
    own = [one for one in causes() if one.repository == repository]
    there = [one for one in own if one.is_still_there(clone)]
    options = CheckOptions(overrides=Overrides(), isolated=True)
    found = check_paths([clone], options).diagnostics
    hits = named(there, found)
    wrong = [one for one in judged() if one.repository == repository and one.kind != "true"]
    still = named(wrong, found)
    moved = f", {len(own) - len(there)} not where they were read" if len(there) < len(own) else ""
    print(f"{repository}: {len(hits)} of {len(there)} named, {len(still)} of {len(wrong)} false or useless{moved}")
    for one in there:
        if one not in hits:
            print(f"  silent: {_shown(one)}")
    for one in still:
        print(f"  {one.kind}: {_shown(one)}")
    return len(there), len(hits)


def _shown(one: Read) -> str:
    return f"{one.path}:{one.line} {one.word} {one.kind}"


if __name__ == "__main__":
    main(Path(sys.argv[1]))
