"""Findings against a baseline: which are known, and which entries name nothing any more."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from torchlint.adoption.baseline import Baseline, Entry
from torchlint.diagnostics import Diagnostic
from torchlint.fingerprints import fingerprints, path_from


class Scope(msgspec.Struct, frozen=True):
    """What a run looked at: entries about other files and other rules are left as they are."""

    root: Path
    files: Collection[str]
    """From the root, with `/`."""
    codes: Collection[str]

    def judges(self, entry: Entry) -> bool:
        """Whether the run would have found what the entry names. What was said of a file that is gone is over."""
        return entry.code in self.codes and (entry.path in self.files or self.is_gone(entry.path))

    def is_gone(self, path: str) -> bool:
        return not (self.root / path).exists()


class Comparison(msgspec.Struct, frozen=True):
    """The outcome."""

    known: frozenset[str]
    """Fingerprints of findings that the baseline holds, of files that were renamed as well."""
    stale: tuple[Entry, ...]
    """Entries that no finding answers to."""
    unjudged: tuple[Entry, ...]
    """Entries that the run can say nothing about."""


def compare(baseline: Baseline, findings: Sequence[Diagnostic], scope: Scope) -> Comparison:
    """Compare all findings of a run, shown or not, with a baseline."""
    entries = {entry.fingerprint: entry for entry in baseline.entries}
    here = {found.fingerprint for found in findings}
    renamed = _renamed([found for found in findings if found.fingerprint not in entries], entries, scope)
    met = (here & entries.keys()) | set(renamed.values())
    left = [entry for entry in baseline.entries if entry.fingerprint not in met]
    return Comparison(
        known=frozenset((here & entries.keys()) | renamed.keys()),
        stale=tuple(entry for entry in left if scope.judges(entry)),
        unjudged=tuple(entry for entry in left if not scope.judges(entry)),
    )


def _renamed(findings: Iterable[Diagnostic], entries: Mapping[str, Entry], scope: Scope) -> dict[str, str]:
    """Fingerprints of findings in files that the baseline knows by another name, with the old fingerprints.

    The old name is that of a file which is gone, and the one under which most of the findings are known.
    """
    names = {entry.path for entry in entries.values()}
    gone = sorted(name for name in names if scope.is_gone(name))
    by_file: dict[str, list[Diagnostic]] = defaultdict(list)
    for found in findings if gone else ():
        if path_from(scope.root, found.location.path) not in names:
            by_file[found.location.path].append(found)
    renamed: dict[str, str] = {}
    for _, of_file in sorted(by_file.items()):
        free = entries.keys() - set(renamed.values())
        candidates = [_known_as(name, of_file, free, scope.root) for name in gone]
        best: dict[str, str] = max(candidates, key=len)
        renamed |= best
    return renamed


def _known_as(name: str, findings: Sequence[Diagnostic], known: Collection[str], root: Path) -> dict[str, str]:
    """As if the file still had its old name: the findings that are known then, by fingerprint, and as what."""
    moved = [
        dataclasses.replace(found, location=msgspec.structs.replace(found.location, path=str(root / name)))
        for found in findings
    ]
    pairs = zip(findings, fingerprints(moved, root), strict=True)
    return {found.fingerprint: old for found, old in pairs if old in known}
