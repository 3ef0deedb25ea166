"""Draws module classes from the sources of pinned packages: `python -m tests.verify.sampled_modules.draw`."""

from __future__ import annotations

import argparse
import ast
import random
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
SIZE = 200
SEEDS = {"modules.tsv": 5, "held_out.tsv": 1729}
"""Rules may be written after looking at the first list, never after looking at the second."""


@dataclass(frozen=True, order=True)
class Drawn:
    """One class of one package."""

    package: str
    version: str
    file: str
    name: str


def read_pins(path: Path) -> dict[str, str]:
    lines = (line.partition("#")[0].strip() for line in path.read_text(encoding="utf-8").splitlines())
    return dict(line.split("==", 1) for line in lines if line)


def read(path: Path) -> list[Drawn]:
    return [Drawn(*line.split("\t")) for line in path.read_text(encoding="utf-8").splitlines()]


def classes_of(folder: Path, package: str, version: str) -> Iterator[Drawn]:
    for path, name in module_classes(sorted((folder / package).rglob("*.py"))):
        yield Drawn(package, version, path.relative_to(folder).as_posix(), name)


def module_classes(files: Iterable[Path]) -> Iterator[tuple[Path, str]]:
    """Classes at the top of a file that derive from `Module`, by the names of their bases within these files."""
    found: list[tuple[Path, ast.ClassDef]] = []
    for path in files:
        try:
            tree = ast.parse(path.read_bytes())
        except (SyntaxError, ValueError):
            continue  # written for Python 2
        found += [(path, node) for node in tree.body if isinstance(node, ast.ClassDef)]
    modules = _deriving({node.name: _bases(node) for _, node in found})
    yield from ((path, node.name) for path, node in found if node.name in modules)


def _bases(node: ast.ClassDef) -> set[str]:
    """The last words of its bases; `Generic[T]` counts as `Generic`, a distribution of torch as none of these."""
    plain = [base.value if isinstance(base, ast.Subscript) else base for base in node.bases]
    others = [base for base in plain if not ast.unparse(base).startswith("torch.distributions.")]
    return {base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", "") for base in others}


def _deriving(bases: dict[str, set[str]]) -> set[str]:
    """All that come from `Module` or a container of modules, however far down."""
    known = {"Module", "Sequential", "ModuleList", "ModuleDict"}
    while True:
        more = {name for name, parents in bases.items() if parents & known} - known
        if not more:
            return known
        known |= more


def draw(classes: Iterable[Drawn], seed: int, size: int = SIZE) -> list[Drawn]:
    ordered = sorted(set(classes))
    return sorted(random.Random(seed).sample(ordered, size))  # noqa: S311 - which classes is no secret


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.verify.sampled_modules.draw", description=__doc__)
    parser.add_argument("folder", type=Path, help="holds each package's unpacked wheel, as NAME-VERSION")
    folder = parser.parse_args(arguments).folder
    every = []
    for package, version in read_pins(HERE / "packages.txt").items():
        classes = list(classes_of(folder / f"{package}-{version}", package, version))
        sys.stdout.write(f"{package:<28} {len(classes):>5} modules\n")
        every += classes
    for name, seed in SEEDS.items():
        text = "".join(f"{d.package}\t{d.version}\t{d.file}\t{d.name}\n" for d in draw(every, seed))
        (HERE / name).write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
