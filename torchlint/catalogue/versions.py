"""Torch releases and ranges of them, at the grain the registry knows: minor versions."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence

import msgspec

Minor = tuple[int, int]
"""A minor release such as (2, 6)."""

FIRST_WITH_MODE: Minor = (1, 7)
"""The release that brought the determinism mode, as `torch.set_deterministic`."""

_VERSION = re.compile(r"(\d+)\.(\d+)")
_RANGE = re.compile(r"\s*(?:>=\s*(?P<since>\d+\.\d+))?\s*,?\s*(?:<\s*(?P<before>\d+\.\d+))?\s*")


def parse_minor(text: str) -> Minor:
    """Read `2.6` (or `2.6.1`). Raises ValueError for anything else."""
    match = _VERSION.match(text)
    if match is None:
        raise ValueError(f"`{text}` is not a torch version such as 2.6")
    return int(match[1]), int(match[2])


def format_minor(minor: Minor) -> str:
    return f"{minor[0]}.{minor[1]}"


class VersionRange(msgspec.Struct, frozen=True):
    """The minor releases from `since` (inclusive) to `before` (exclusive); None is open."""

    since: Minor | None = None
    before: Minor | None = None

    @classmethod
    def parse(cls, text: str) -> VersionRange:
        """Read `>=2.1`, `<2.6`, `>=2.1,<2.6` or the empty string (every release). Raises ValueError."""
        match = _RANGE.fullmatch(text)
        if match is None:
            raise ValueError(f"`{text}` is not a range such as >=2.1,<2.6")
        since = parse_minor(match["since"]) if match["since"] else None
        before = parse_minor(match["before"]) if match["before"] else None
        if since and before and since >= before:
            raise ValueError(f"`{text}` allows no release")
        return cls(since, before)

    def complement(self) -> tuple[VersionRange, ...]:
        """The releases before this range and those after it, as far as there are any."""
        before = () if self.since is None else (VersionRange(before=self.since),)
        after = () if self.before is None else (VersionRange(since=self.before),)
        return (*before, *after)

    def __contains__(self, minor: object) -> bool:
        if not isinstance(minor, tuple):
            return False
        return (self.since is None or minor >= self.since) and (self.before is None or minor < self.before)

    def __str__(self) -> str:
        since = f">={format_minor(self.since)}" if self.since else ""
        before = f"<{format_minor(self.before)}" if self.before else ""
        return ",".join(filter(None, (since, before)))


_PATCHES = range(10)
"""A minor release is admitted when any of its patch releases is."""
_MOST_MINORS = 100


@functools.lru_cache(maxsize=256)
def admitted_releases(specifier: str, releases: tuple[Minor, ...]) -> tuple[Minor, ...]:
    """The minor releases that a PEP 440 specifier admits. Raises ValueError for text that is none."""
    from packaging.specifiers import SpecifierSet  # noqa: PLC0415 - only a few runs need it

    allowed = SpecifierSet(specifier)
    return tuple(
        release
        for release in releases
        if any(allowed.contains(f"{format_minor(release)}.{patch}") for patch in _PATCHES)
    )


def nearest_release(specifier: str, releases: Sequence[Minor]) -> Minor | None:
    """For a specifier that admits none of the `releases`: the newest or oldest, where it admits newer or older ones."""
    (first, minor), (last, newest) = releases[0], releases[-1]
    newer = [(last, n) for n in range(newest + 1, _MOST_MINORS)] + [(last + 1, n) for n in range(_MOST_MINORS)]
    older = [(0, n) for n in range(_MOST_MINORS)] + [(first, n) for n in range(minor)]
    if admitted_releases(specifier, tuple(newer)):
        return releases[-1]
    return releases[0] if admitted_releases(specifier, tuple(older)) else None


class TorchTarget(msgspec.Struct, frozen=True):
    """The torch releases a project admits, oldest first, and where that is said."""

    releases: tuple[Minor, ...]
    source: str
    pinned: bool = True
    """False when nothing in the project says which torch it wants."""
    declared: bool = True
    """False when no file and no option says so, only what happens to be installed."""
    is_known: bool = True
    """False for a torch that is newer or older than every release the registry knows: the nearest stands for it."""

    @property
    def newest(self) -> Minor:
        return self.releases[-1]

    @property
    def oldest(self) -> Minor:
        return self.releases[0]

    @property
    def words(self) -> dict[str, str]:
        """How messages name it: `{torch}` in a sentence, `{in_torch}` behind one, `{and_torch}` behind other remarks.

        Of a release that nobody named only the closing line speaks (`{judged_for}`).
        """
        if not self.pinned:
            return {"torch": "current releases", "in_torch": "", "and_torch": "", "judged_for": str(self)}
        shown = f"torch {self}"
        return {"torch": shown, "in_torch": f" ({shown})", "and_torch": f", {shown}", "judged_for": ""}

    def __str__(self) -> str:
        if self.oldest == self.newest:
            return format_minor(self.newest)
        return f"{format_minor(self.oldest)} to {format_minor(self.newest)}"
