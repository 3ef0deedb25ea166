"""The typed form of `rules/registry/libraries/*.toml`: what varies in other libraries, by release."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import msgspec

from torchlint.catalogue.detection import Condition


class Parameter(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A parameter of a call, and its place where it may be given by position."""

    argument: str
    position: int | None = None


class Use(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A call that varies: a function or class in full, or a method by its name in files that import the library."""

    call: str = ""
    method: str = ""
    unless_imported: tuple[str, ...] = ()
    """Of a method: modules whose objects have one of the same name."""
    where: tuple[Condition, ...] = ()
    left_out: tuple[Parameter, ...] = ()
    """What would settle it: none of these is given. None, written out or handed on, says the same as nothing."""
    holding: str = ""
    """Of a call whose first argument is a list: the full name, as a regular expression, of a call that stands in it."""

    def __post_init__(self) -> None:
        if bool(self.call) == bool(self.method):
            raise ValueError("a `use` takes exactly one of `call` and `method`")


class Releases(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Some releases of a library: from the first that is meant to the first that no longer is; empty is open."""

    since: str = ""
    before: str = ""

    def among(self, releases: Sequence[str]) -> frozenset[str]:
        """Those of all `releases` of the library, oldest first. Raises ValueError for a range that fits none."""
        for release in filter(None, (self.since, self.before)):
            if release not in releases:
                raise ValueError(f"`releases` lacks {release}")
        first = releases.index(self.since) if self.since else 0
        last = releases.index(self.before) if self.before else len(releases)
        if last <= first:
            raise ValueError("`since` and `before` allow no release")
        return frozenset(releases[first:last])


class Fact(Releases, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What varies in a library, in which releases, and what ends it."""

    id: str
    rule: str
    use: tuple[Use, ...] = ()
    """Empty where a check of its own knows how it is written."""
    gives: tuple[str, ...] = ()
    """Calls whose result varies, reported only where a program keeps it (TL506)."""
    unless_given: tuple[str, ...] = ()
    """Of these calls: arguments that settle it."""
    is_note: bool = False
    """Known to whoever writes such a call, or small: said as a note."""
    used_by: tuple[str, ...] | None = None
    """Of the result: methods of which one is called, any use for `[]`; left out where the call itself is the use."""
    is_prepared: bool = False
    """The result is mostly kept for other programs: any file of a project that uses torch counts."""
    unless_set: dict[str, tuple[str, ...]] = {}
    """Environment variables that settle it, and the values that do (none: any value)."""
    unless_called: tuple[str, ...] = ()
    """Functions that settle it, called anywhere in the project: `dgl.seed`."""
    unless_named: tuple[str, ...] = ()
    """Words of which any in the project settles it: an argument of another call, such as `use_seedable_sampler`."""
    what: str
    """What happens and what varies, in words that follow the code: `trains with several threads: other ...`."""
    fix: str
    sources: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.sources:
            raise ValueError(f"fact `{self.id}` names no source")


class Library(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, dict=True):
    """A library, as manifests call it, with its releases that were looked at, oldest first."""

    package: str
    module: str = ""
    """How it is imported, where that is not the package's name."""
    replaced_by: tuple[str, ...] = ()
    """Packages that are imported by the same name and behave otherwise."""
    also_packaged_as: tuple[str, ...] = ()
    """Packages that bring the same code, with the same releases."""
    releases: tuple[str, ...]
    fact: tuple[Fact, ...]

    def __post_init__(self) -> None:
        if len(set(self.releases)) < len(self.releases) or not self.releases:
            raise ValueError("`releases` are none, or one stands twice")
        for fact in self.fact:
            try:
                self.affected(fact)
            except ValueError as error:
                raise ValueError(f"fact `{fact.id}`: {error}") from error

    @functools.cached_property
    def import_name(self) -> str:
        return self.module or self.package

    def affected(self, fact: Fact) -> frozenset[str]:
        """The releases where it varies."""
        return fact.among(self.releases)
