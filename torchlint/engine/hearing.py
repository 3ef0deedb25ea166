"""What files of one project say, before anything is left out: plain data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from torchlint.catalogue.versions import TorchTarget
from torchlint.diagnostics import Diagnostic, InternalError, Note, Skipped


class Outcome(msgspec.Struct):
    """The findings of a run, and what happened to the others."""

    diagnostics: list[Diagnostic] = msgspec.field(default_factory=list)
    open: list[Diagnostic] = msgspec.field(default_factory=list)
    """Points that rules leave open."""
    internal_errors: list[InternalError] = msgspec.field(default_factory=list)
    suppressed: int = 0
    fixed: int = 0
    """Under `--assume deterministic`: findings that the mode would end."""

    @classmethod
    def of_all(cls, outcomes: Iterable[Outcome]) -> Outcome:
        """Of several projects together."""
        total = cls()
        for one in outcomes:
            total.diagnostics += one.diagnostics
            total.open += one.open
            total.internal_errors += one.internal_errors
            total.suppressed += one.suppressed
            total.fixed += one.fixed
        return total


class Hearing(msgspec.Struct, frozen=True):
    """All that files of one project say, before anything is left out."""

    outcome: Outcome
    notes: tuple[Note | Skipped, ...] = ()
    paths: frozenset[str] = frozenset()
    """The files that were checked, from the root of the settings."""
    targets: Mapping[str, TorchTarget] = msgspec.field(default_factory=dict)
    """The torch that they were judged for, by the file as shown to the user."""
    programs: tuple[str, ...] = ()
    """The files that start programs, as shown to the user, where any of the files trains."""
