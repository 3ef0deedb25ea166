"""How many module classes of training projects `torchlint verify` runs: `python -m tests.verify.share FOLDER`.

FOLDER holds repositories. Classes are drawn by a seed, at most so many a repository; each repository is copied, and
`torchlint verify FILE::CLASS ...` is run in the copy. What ran forward and backward counts, and what ran forward where
nothing trains; not what called nothing of torch, as a forward that is empty.
"""

from __future__ import annotations

import argparse
import collections
import json
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.verify.sampled_modules.draw import module_classes

COUNTS = ("forward and backward", "forward")


@dataclass(frozen=True, order=True)
class Drawn:
    """One class of one repository."""

    repository: Path
    file: str
    name: str

    def __str__(self) -> str:
        return f"{self.repository.name} {self.file}::{self.name}"


def drawn(repositories: Iterable[Path], seed: int, size: int, most: int) -> list[Drawn]:
    """Classes of all repositories in an order that the seed decides; of each no more than `most`."""
    every = [
        Drawn(each, path.relative_to(each).as_posix(), name)
        for each in repositories
        for path, name in module_classes(sorted(each.rglob("*.py")))
    ]
    every = sorted(set(every), key=lambda one: (one.repository.name, one.file, one.name))
    random.Random(seed).shuffle(every)  # noqa: S311 - which classes is no secret
    taken: collections.Counter[Path] = collections.Counter()
    found: list[Drawn] = []
    for one in every:
        taken[one.repository] += 1
        if taken[one.repository] <= most and len(found) < size:
            found.append(one)
    return sorted(found, key=lambda one: (one.repository.name, one.file, one.name))


def run(of_one: Sequence[Drawn], timeout: int) -> Iterator[dict[str, object]]:
    """The results for classes of one repository."""
    with tempfile.TemporaryDirectory(prefix="torchlint-share-") as folder:
        root = Path(folder) / of_one[0].repository.name
        shutil.copytree(of_one[0].repository, root, symlinks=True)
        (root / ".git").mkdir(exist_ok=True)  # where the project begins
        places = [f"{one.file}::{one.name}" for one in of_one]
        command = [sys.executable, "-m", "torchlint", "verify", *places, "--probe", "trace", "--device", "cpu"]
        command += ["--timeout", str(timeout), "--jobs", "2", "--output-format", "json", "--isolated"]
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    try:
        yield from json.loads(done.stdout)["results"]
    except ValueError:
        sys.stderr.write(f"{root.name}: {done.stderr[-500:]}\n")


def measured(classes: Sequence[Drawn], timeout: int) -> dict[Drawn, dict[str, object]]:
    """The result of each; nothing where the command did not come so far."""
    results: dict[Drawn, dict[str, object]] = {one: {} for one in classes}
    for repository in sorted({one.repository for one in classes}):
        of_one = [one for one in classes if one.repository == repository]
        for result in run(of_one, timeout):
            key = Drawn(repository, str(result["path"]), str(result["target"]))
            results[key] = result
        sys.stderr.write(f"{repository.name}: {sum(outcome(results[one]) in COUNTS for one in of_one)}/{len(of_one)}\n")
    return results


def outcome(result: dict[str, object]) -> str:
    executed = result.get("executed")
    if "called no torch function" in str(result.get("reason")):
        return "nothing of torch"
    return str(executed["passes"]) if isinstance(executed, dict) else "neither"


def table(results: dict[Drawn, dict[str, object]]) -> Iterator[str]:
    for one, result in results.items():
        executed = result.get("executed")
        said = executed["construction"] + " on " + ", ".join(executed["inputs"]) if isinstance(executed, dict) else ""
        tries = executed["attempts"] if isinstance(executed, dict) else ""
        verdict, reason = result.get("verdict", "none"), result.get("reason", "the command failed")
        yield f"{one}\t{outcome(result)}\t{verdict}\t{reason}\t{said}\t{tries}"


def summary(results: dict[Drawn, dict[str, object]]) -> str:
    counts = collections.Counter(outcome(result) for result in results.values())
    share = sum(counts[each] for each in COUNTS) / max(len(results), 1)
    return f"{100 * share:.0f} % of {len(results)}: " + ", ".join(f"{n} {each}" for each, n in counts.most_common())


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.verify.share", description=__doc__)
    parser.add_argument("folders", type=Path, nargs="+", metavar="FOLDER")
    parser.add_argument("--seed", type=int, default=15, help="[default: %(default)s]")
    parser.add_argument("--size", type=int, default=60, help="classes [default: %(default)s]")
    parser.add_argument("--most", type=int, default=8, help="of one repository [default: %(default)s]")
    parser.add_argument("--repositories", type=int, help="so many of those in the folders, by the seed")
    parser.add_argument("--only", default="", metavar="TEXT", help="classes whose place holds this")
    parser.add_argument("--timeout", type=int, default=60, help="[default: %(default)s]")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write what became of each there")
    options = parser.parse_args(arguments)
    repositories = sorted(each.absolute() for folder in options.folders for each in folder.iterdir() if each.is_dir())
    if options.repositories:
        repositories = random.Random(options.seed).sample(repositories, options.repositories)  # noqa: S311
    classes = [one for one in drawn(repositories, options.seed, options.size, options.most) if options.only in str(one)]
    results = measured(classes, options.timeout)
    sys.stdout.write(summary(results) + "\n")
    if options.out:
        options.out.write_text("\n".join(table(results)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
