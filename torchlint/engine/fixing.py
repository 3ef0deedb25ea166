"""Fixes what a check found, in rounds until nothing is left to fix. To write the files is for the caller."""

from __future__ import annotations

import dataclasses
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from torchlint.catalogue import load_catalogue
from torchlint.config import Settings
from torchlint.diagnostics import Diagnostic, FixEdits, InternalError, Report
from torchlint.fixes.applying import applied
from torchlint.fixes.planning import planned

if TYPE_CHECKING:
    from torchlint.fixes.planning import Planned

_MOST_ROUNDS = 100
"""No file needs as many: fixes that meet wait for the next round, and each round leaves less."""
Check = Callable[[Mapping[Path, bytes]], Report]
"""Checks with these texts in the place of the files."""
SettingsOf = Callable[[Path], Settings]
"""The settings for the files of a folder."""


class FixedFile(msgspec.Struct, frozen=True):
    """A file before and after its fixes."""

    path: Path
    before: bytes
    after: bytes
    fixed: tuple[tuple[str, str, int], ...]
    """Code and name of each rule, and how many of its findings were fixed; sorted."""

    @property
    def count(self) -> int:
        return sum(count for _, _, count in self.fixed)


class Fixed(msgspec.Struct, frozen=True):
    """What was fixed, and what a check of the result says."""

    report: Report
    files: tuple[FixedFile, ...] = ()


class FixChoice(msgspec.Struct, frozen=True):
    """Which fixes the user wants; None leaves it to the configuration."""

    fix: bool | None = None
    unsafe: bool | None = None

    def takes(self, edits: FixEdits, settings: Settings) -> bool:
        is_wanted = settings.fix if self.fix is None else self.fix
        is_bold = settings.unsafe_fixes if self.unsafe is None else self.unsafe
        return is_wanted and (edits.is_safe or is_bold)


def with_edits(report: Report, settings_of: SettingsOf, contents: Mapping[Path, bytes]) -> Report:
    """The same report, with the fix of each finding that has one."""
    return _Rounds(settings_of, contents, FixChoice()).with_edits(report)


def fixed(
    report: Report, check: Check, settings_of: SettingsOf, contents: Mapping[Path, bytes], choice: FixChoice
) -> Fixed:
    """Fix what a report says, check again, and so on until a round changes nothing."""
    rounds = _Rounds(settings_of, contents, choice)
    for _ in range(_MOST_ROUNDS):
        before = dict(rounds.contents)
        taken = rounds.apply(report)
        if not taken:
            break
        after = check(rounds.contents)
        if rounds.take_back(report, after, before, taken):
            after = check(rounds.contents)
        report = after
    return Fixed(dataclasses.replace(rounds.with_edits(report), is_fixed=True), rounds.files())


class _Rounds:
    """The files as they are after some rounds."""

    def __init__(self, settings_of: SettingsOf, contents: Mapping[Path, bytes], choice: FixChoice) -> None:
        self.contents = dict(contents)
        self._settings_of = settings_of
        self._choice = choice
        self._originals: dict[Path, bytes] = {}
        self._fixed: dict[Path, Counter[tuple[str, str]]] = defaultdict(Counter)
        self._slow: set[Path] = set()
        """Files where a round ended less than it should have: from then on they get one fix a round."""
        self._barred: set[tuple[str, str, str]] = set()
        """Findings that their fix does not end: path, code and line."""
        self._errors: list[InternalError] = []

    def apply(self, report: Report) -> dict[Path, list[Planned]]:
        """Put fixes into the files, and tell which."""
        taken: dict[Path, list[Planned]] = {}
        for path, plans in self._plans(report).items():
            settings = self._settings_of(path.parent)
            allowed = (one for one in plans if self._choice.takes(one.edits, settings))
            wanted = [one for one in allowed if _key(one.finding) not in self._barred]
            data = _data(path, self.contents)
            if not wanted or data is None:
                continue
            after, chosen = applied(data, wanted[0].finding.location.path, wanted[:1] if path in self._slow else wanted)
            if chosen:
                self._originals.setdefault(path, data)
                self.contents[path] = after
                self._fixed[path].update((one.finding.code, one.finding.name) for one in chosen)
                taken[path] = chosen
        return taken

    def take_back(
        self, before: Report, after: Report, contents: Mapping[Path, bytes], taken: Mapping[Path, list[Planned]]
    ) -> bool:
        """Undo the round in files where it did not end what it fixed; whether there are any."""
        old, new = _counts(before), _counts(after)
        failed = []
        for path, plans in taken.items():
            shown = plans[0].finding.location.path
            ended = Counter(one.finding.code for one in plans)
            is_read = new[shown, "TL001"] <= old[shown, "TL001"]
            if is_read and all(new[shown, code] <= old[shown, code] - count for code, count in ended.items()):
                continue
            failed.append(path)
            if len(plans) == 1:
                self._barred.add(_key(plans[0].finding))
            self._slow.add(path)
            self._fixed[path].subtract((one.finding.code, one.finding.name) for one in plans)
            self.contents[path] = contents.get(path, self._originals[path])
        return bool(failed)

    def with_edits(self, report: Report) -> Report:
        """A report on the files as they are, with the fix of each finding that has one."""
        plans = self._plans(report).values()
        found = {id(one.finding): one.edits for each in plans for one in each if _key(one.finding) not in self._barred}
        diagnostics = tuple(dataclasses.replace(one, edits=found.get(id(one))) for one in report.diagnostics)
        errors = dict.fromkeys((*report.internal_errors, *self._errors))
        return dataclasses.replace(report, diagnostics=diagnostics, internal_errors=tuple(errors))

    def _plans(self, report: Report) -> dict[Path, list[Planned]]:
        """The fixes of each file with findings that may have one."""
        by_file: dict[str, list[Diagnostic]] = defaultdict(list)
        files = set(report.files)
        for diagnostic in report.diagnostics:
            if diagnostic.fix_safety and diagnostic.location.path in files:
                by_file[diagnostic.location.path].append(diagnostic)
        held = {path.absolute(): path for path in self.contents}
        plans: dict[Path, list[Planned]] = {}
        for shown, findings in by_file.items():
            path = held.get(Path(shown).absolute(), Path(shown))
            data = _data(path, self.contents)
            if data is not None:
                found = planned(data, shown, findings, load_catalogue(self._settings_of(path.parent).extensions))
                plans[path] = found.found
                self._errors += found.errors
        return plans

    def files(self) -> tuple[FixedFile, ...]:
        """Those that are other ones now, sorted."""
        return tuple(
            FixedFile(path, before, self.contents[path], tuple(_sums(self._fixed[path])))
            for path, before in sorted(self._originals.items())
            if self.contents[path] != before
        )


def _sums(counts: Counter[tuple[str, str]]) -> list[tuple[str, str, int]]:
    return [(code, name, count) for (code, name), count in sorted(counts.items()) if count]


def _key(finding: Diagnostic) -> tuple[str, str, str]:
    return finding.location.path, finding.code, finding.source_line.strip()


def _counts(report: Report) -> Counter[tuple[str, str]]:
    return Counter((one.location.path, one.code) for one in report.diagnostics)


def _data(path: Path, contents: Mapping[Path, bytes]) -> bytes | None:
    """The bytes of a file; None where it is gone since it was checked."""
    kept = contents.get(path)
    if kept is not None:
        return kept
    try:
        return path.read_bytes()
    except OSError:
        return None
