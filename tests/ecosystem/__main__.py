"""What torchlint says about pinned packages, against what it said before: `python -m tests.ecosystem --help`."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.ecosystem.packages import PINS, FetchError, Package, default_cache, fetch, read_pins, unpack
from tests.ecosystem.reading import lines_reader, moved_lines, sample, shown_lines
from tests.ecosystem.snapshot import Row, compare, dump, load, row_of
from torchlint.api import CheckOptions, check_paths
from torchlint.catalogue import load_catalogue
from torchlint.config import Overrides
from torchlint.diagnostics import Confidence

SNAPSHOT = Path(__file__).with_name("snapshot.tsv")
OPTIONS = CheckOptions(
    # No configuration and a fixed torch: the findings must not depend on the machine that runs this.
    overrides=Overrides(select=("ALL",), torch=">=2.1", min_confidence=Confidence.LOW),
    isolated=True,
)


@dataclass(slots=True)
class Findings:
    """What one run found."""

    rows: list[Row] = field(default_factory=list)
    messages: dict[Row, str] = field(default_factory=dict)
    broken: list[str] = field(default_factory=list)
    """Internal errors: there should be none."""


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    packages = _chosen(options.only)
    try:
        wheels = fetch(packages, options.wheels or options.cache / "wheels")
    except FetchError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    folders = {package.name: unpack(package, wheel, options.cache / "sources") for package, wheel in wheels.items()}
    found = _check(folders)
    for line in found.broken:
        print(line, file=sys.stderr)
    if options.show:
        return _show(found, folders, options)
    if options.update:
        return _update(found, packages)
    return _compare(found, folders)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.ecosystem", description=__doc__)
    parser.add_argument("--wheels", type=Path, metavar="DIR", help="where wheels lie and new ones go")
    parser.add_argument(
        "--cache",
        type=Path,
        metavar="DIR",
        default=default_cache(),
        help="where wheels and unpacked sources are kept [default: %(default)s]",
    )
    parser.add_argument("--only", metavar="NAMES", help="these packages only, with commas")
    task = parser.add_mutually_exclusive_group()
    task.add_argument("--update", action="store_true", help="write the snapshot instead of comparing with it")
    task.add_argument("--show", metavar="CODE", help="print the findings of a rule with their source, for reading")
    parser.add_argument("--sample", type=int, default=30, metavar="N", help="findings to show [default: %(default)s]")
    parser.add_argument("--seed", type=int, default=0, help="which ones [default: %(default)s]")
    return parser


def _chosen(only: str | None) -> list[Package]:
    packages = read_pins(PINS.read_text(encoding="utf-8"))
    if only is None:
        return packages
    names = only.split(",")
    unknown = set(names) - {package.name for package in packages}
    if unknown:
        raise SystemExit(f"not in {PINS.name}: {', '.join(sorted(unknown))}")
    return [package for package in packages if package.name in names]


def _check(folders: dict[str, Path]) -> Findings:
    """Check each package as a project of its own."""
    found = Findings()
    for name, folder in folders.items():
        start = time.monotonic()
        report = check_paths([folder], OPTIONS)
        for diagnostic in report.diagnostics:
            path = Path(diagnostic.location.path).absolute().relative_to(folder.absolute()).as_posix()
            row = row_of(name, path, diagnostic)
            found.rows.append(row)
            found.messages.setdefault(row, diagnostic.message)
        found.broken += [f"internal error: {e.check} on {name} {e.path}: {e.message}" for e in report.internal_errors]
        spent = time.monotonic() - start
        counted = f"{len(report.files):>5} files {len(report.diagnostics):>5} findings"
        print(f"{name:<28} {counted} {spent:6.1f} s", file=sys.stderr)
    return found


def _compare(found: Findings, folders: dict[str, Path]) -> int:
    if not SNAPSHOT.exists():
        print(f"error: {SNAPSHOT.name} does not exist: run with --update", file=sys.stderr)
        return 2
    before = [row for row in load(SNAPSHOT.read_text(encoding="utf-8")) if row.package in folders]
    moves = compare(before, found.rows)
    names = {rule.code: rule.name for rule in load_catalogue().rules.values()}
    for line in moved_lines(moves, names, lines_reader(folders)):
        print(line)
    added, removed = sum(len(rule.added) for rule in moves), sum(len(rule.removed) for rule in moves)
    print(f"{len(found.rows)} findings in {len(folders)} packages: {added} added, {removed} removed")
    return 1 if moves or found.broken else 0


def _update(found: Findings, packages: Sequence[Package]) -> int:
    """Write the rows of these packages, and keep those of pinned packages that did not run."""
    ran = {package.name for package in packages}
    pinned = {package.name for package in _chosen(None)}
    before = load(SNAPSHOT.read_text(encoding="utf-8")) if SNAPSHOT.exists() else []
    kept = [row for row in before if row.package in pinned - ran]
    SNAPSHOT.write_text(dump([*kept, *found.rows]), encoding="utf-8", newline="\n")
    print(f"{len(kept) + len(found.rows)} findings written to {SNAPSHOT.name}")
    return 1 if found.broken else 0


def _show(found: Findings, folders: dict[str, Path], options: argparse.Namespace) -> int:
    rows = [row for row in found.rows if row.code == options.show.upper()]
    chosen = sample(rows, options.sample, options.seed)
    for line in shown_lines(chosen, found.messages, lines_reader(folders)):
        print(line)
    print(f"{len(chosen)} of {len(rows)} findings of {options.show.upper()}")
    return 1 if found.broken else 0


if __name__ == "__main__":
    sys.exit(main())
