"""What of a root's findings is reported: those that no baseline holds, on lines changed since a revision."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from pathlib import Path

import msgspec

from torchlint.adoption.baseline import Baseline
from torchlint.adoption.changed_lines import Changes
from torchlint.adoption.comparison import Scope, compare
from torchlint.diagnostics import Diagnostic, Note
from torchlint.fingerprints import fingerprints


class Narrowed(msgspec.Struct, frozen=True):
    """What is left, and what became of the rest."""

    diagnostics: tuple[Diagnostic, ...]
    notes: tuple[Note, ...] = ()
    known: int = 0
    unchanged: int = 0


class Narrowing(msgspec.Struct, frozen=True):
    """Nothing is left out where neither is given."""

    baseline: Baseline | None = None
    changes: Changes | None = None

    def apply(self, visible: Sequence[Diagnostic], found: Sequence[Diagnostic], scope: Scope) -> Narrowed:
        """Narrow the visible ones of the findings down."""
        left = list(visible)
        notes: tuple[Note, ...] = ()
        if self.baseline is not None:
            comparison = compare(self.baseline, found, scope)
            left = [diagnostic for diagnostic in left if diagnostic.fingerprint not in comparison.known]
            notes = tuple(_stale_notes(self.baseline, len(comparison.stale)))
        fresh = len(left)
        if self.changes is not None:
            left = [diagnostic for diagnostic in left if self.changes.touch(diagnostic)]
        return Narrowed(tuple(left), notes, len(visible) - fresh, fresh - len(left))


EVERYTHING = Narrowing()


def with_fingerprints(diagnostics: Sequence[Diagnostic], root: Path) -> list[Diagnostic]:
    """Named among all findings of the root, so that what is hidden or known shifts no other's name."""
    names = fingerprints(diagnostics, root)
    pairs = zip(diagnostics, names, strict=True)
    return [dataclasses.replace(diagnostic, fingerprint=name) for diagnostic, name in pairs]


def _stale_notes(baseline: Baseline, stale: int) -> list[Note]:
    if not stale:
        return []
    entries = "1 entry matches" if stale == 1 else f"{stale} entries match"
    shown = os.path.relpath(baseline.path).replace(os.sep, "/")
    return [Note(f"{entries} no finding any more: `torchlint baseline --prune` removes stale entries", shown)]
