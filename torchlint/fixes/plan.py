"""What a fix would change: plain data, not yet written anywhere."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from torchlint.source.edits import Replacement

Release = tuple[int, int]
"""A minor release of torch."""
COUNTED_ON: Release = (2, 0)
"""What a project that pins no torch has at least."""


class Plan(msgspec.Struct, frozen=True):
    """The changes that end one finding, such as `sorted(` before a listing and `)` behind it."""

    changes: tuple[Replacement, ...]
    is_safe: bool = True
    """Whether the program cannot start to fail, and its results change only as the finding says."""
    since: Release = (0, 0)
    """The first torch that has what it writes."""

    def on(self, admitted: tuple[Release, Release] | None) -> Plan | None:
        """What it is where these releases run, from the oldest to the newest: unsafe where the oldest lacks something.

        None where all of them do.
        """
        oldest, newest = admitted or (COUNTED_ON, self.since)
        if newest < self.since:
            return None
        return self if oldest >= self.since else msgspec.structs.replace(self, is_safe=False)


def plan(changes: Iterable[Replacement] | None, *, is_safe: bool = True, since: Release = (0, 0)) -> Plan | None:
    """These changes; None where there are none, or a part of the code could not be found."""
    found = () if changes is None else tuple(changes)
    return Plan(found, is_safe, since) if found else None
