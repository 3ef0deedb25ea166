"""The ways of a value, the rules that follow values, and what goes wrong today: the TOML files beside this one."""

from __future__ import annotations

from pathlib import Path

import msgspec

HERE = Path(__file__).parent


class Swap(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a program has in the place of the rule's own; None keeps that."""

    source: str | None = None
    use: str | None = None
    start: str | None = None
    helper: str = ""
    """A function above the code that uses the value, or above `main` where `start` is given."""
    finding: str | None = None


AS_IT_IS = Swap()


class Case(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """What a rule follows; the fields are explained where they are written, in `rules.toml`."""

    noun: str
    imports: tuple[str, ...]
    source: str
    other: str
    use: str
    finding: str
    controls: dict[str, Swap]
    near_misses: dict[str, Swap]
    code: str | None = None
    """None: the case is named like its rule."""
    select: str | None = None
    """A rule that is off by default."""
    start: str = ""
    beside: str = ""
    without: dict[str, str] = {}


class Group(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Ways that are alike, with their programs."""

    name: str
    ways: dict[str, str]


class Known(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """What is missed and what is reported wrongly, by case."""

    gaps: dict[str, tuple[str, ...]]
    """Ways."""
    near_misses: dict[str, tuple[str, ...]]
    """Near misses that silence the rule."""
    false_alarms: dict[str, dict[str, tuple[str, ...]]]
    """Ways, by control."""


class _Ways(msgspec.Struct):
    group: tuple[Group, ...]


GROUPS = msgspec.toml.decode((HERE / "ways.toml").read_bytes(), type=_Ways).group
CASES = msgspec.toml.decode((HERE / "rules.toml").read_bytes(), type=dict[str, Case])
KNOWN = msgspec.toml.decode((HERE / "known.toml").read_bytes(), type=Known)
WAYS = {way: program for group in GROUPS for way, program in group.ways.items()}


def ways_of(case: Case) -> list[str]:
    """The ways that make sense for a rule, in order."""
    return [way for group in GROUPS if group.name not in case.without for way in group.ways if way not in case.without]
