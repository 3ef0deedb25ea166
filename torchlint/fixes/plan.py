"""What a fix would change: plain data, not yet written anywhere."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from torchlint.source.edits import Replacement


class Plan(msgspec.Struct, frozen=True):
    """The changes that end one finding, such as `sorted(` before a listing and `)` behind it."""

    changes: tuple[Replacement, ...]
    is_safe: bool = True
    """Whether the program cannot start to fail, and its results change only as the finding says."""


def plan(changes: Iterable[Replacement] | None, *, is_safe: bool = True) -> Plan | None:
    """These changes; None where there are none, or a part of the code could not be found."""
    found = () if changes is None else tuple(changes)
    return Plan(found, is_safe) if found else None
