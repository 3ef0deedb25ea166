"""How many causes are named in repositories that were read line by line: `python -m tests.recall [--audit] FOLDER`.

The folder holds clones called `owner+name`, at the commits of `causes.tsv`. What is absent is left out. `--audit` says
what the pages of `torchlint audit` make of each cause.
"""

from __future__ import annotations

import argparse
import statistics
from collections import Counter
from pathlib import Path

from tests.recall.audit_scoring import VERDICTS, scored
from tests.recall.scoring import Read, causes, judged, named
from torchlint.api import CheckOptions, audit_paths, check_paths
from torchlint.config import Overrides
from torchlint.diagnostics import Severity

_FIRST = 3


def audit(folder: Path) -> None:
    """Print a line a repository, each cause that its pages do not name, and the sums."""
    total, ambers, places = Counter[str](), list[int](), list[int]()
    for repository in sorted({one.repository for one in causes()}):
        clone = folder / repository.replace("/", "+")
        if not clone.is_dir():
            continue
        there = [one for one in causes() if one.repository == repository and one.is_still_there(clone)]
        found = scored(there, audit_paths([str(clone)], CheckOptions(overrides=Overrides(), isolated=True)).pages)
        counts = Counter(found.verdicts.values())
        total, ambers, places = total + counts, [*ambers, *found.ambers], [*places, *found.places.values()]
        print(f"{repository}: {_counted(counts)}; {len(found.ambers)} pages, {found.median_amber:g} amber lines a page")
        for one, verdict in found.verdicts.items():
            if verdict not in ("red", "amber"):
                print(f"  {verdict}: {_shown(one)}")
    first = sum(place <= _FIRST for place in places)
    print(f"{total.total()} causes: {_counted(total)}; {first} among the first {_FIRST} lines of a page; ", end="")
    print(f"{statistics.median(ambers):g} amber lines on the median of {len(ambers)} pages")


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{counts[word]} {word}" for word in VERDICTS if counts[word])


def main(folder: Path) -> None:
    """Print a line a repository, each cause that nothing names, and the sums."""
    total = Counter[str]()
    for repository in sorted({one.repository for one in causes()}):
        clone = folder / repository.replace("/", "+")
        if clone.is_dir():
            total += _score(repository, clone)
    print(
        f"{total['warning']} of {total['causes']} causes named at warning or above, {total['info']} more at info; "
        f"{total['findings at warning']} findings at warning or above, {total['findings at info']} at info; "
        f"{total['false']} false and {total['useless']} useless ones of those that were judged are still there"
    )


def _score(repository: str, clone: Path) -> Counter[str]:
    own = [one for one in causes() if one.repository == repository]
    there = [one for one in own if one.is_still_there(clone)]
    options = CheckOptions(overrides=Overrides(), isolated=True)
    found = check_paths([clone], options).diagnostics
    failing = [one for one in found if one.severity >= Severity.WARNING]
    hits, sure = named(there, found), named(there, failing)
    wrong = [one for one in judged() if one.repository == repository and one.kind != "true"]
    still = named(wrong, found)
    moved = f", {len(own) - len(there)} not where they were read" if len(there) < len(own) else ""
    print(
        f"{repository}: {len(sure)} of {len(there)} named, {len(hits) - len(sure)} more at info, "
        f"{len(still)} of {len(wrong)} false or useless{moved}"
    )
    for one in there:
        if one not in sure:
            print(f"  {'info' if one in hits else 'silent'}: {_shown(one)}")
    for one in still:
        print(f"  {one.kind}: {_shown(one)}")
    return Counter(
        {
            "causes": len(there),
            "warning": len(sure),
            "info": len(hits) - len(sure),
            "findings at warning": len(failing),
            "findings at info": len(found) - len(failing),
            **Counter(one.kind for one in still),
        }
    )


def _shown(one: Read) -> str:
    return f"{one.path}:{one.line} {one.word} {one.kind}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.recall", description=__doc__.partition("\n")[0])
    parser.add_argument("--audit", action="store_true", help="score the pages of `torchlint audit`")
    parser.add_argument("folder", type=Path, help="where the clones lie")
    options = parser.parse_args()
    (audit if options.audit else main)(options.folder)
