"""The fixes of one file: worked out for its findings, each tried on its own."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Sequence

import msgspec

from torchlint.catalogue import Catalogue
from torchlint.diagnostics import Diagnostic, Edit, FixEdits, InternalError
from torchlint.errors import OverBudget, UnreadableSource
from torchlint.facts.file import FileFacts
from torchlint.facts.full_names import UNKNOWN, Names, NameTable
from torchlint.facts.scopes import ImportTarget
from torchlint.fixes.code import FileCode
from torchlint.fixes.plan import Plan
from torchlint.fixes.spot import Spot
from torchlint.fixes.table import FIXES
from torchlint.source.edits import edited_text
from torchlint.source.syntax import parse_python, parses
from torchlint.source.text import Source
from torchlint.source.written_files import home_of, sources_of


class Planned(msgspec.Struct, frozen=True):
    """A finding of a file, and the fix that it has there."""

    finding: Diagnostic
    plan: Plan
    home: int
    """Which of the file's sources it is in: its own code is 0, then come those that a notebook writes."""
    edits: FixEdits


class Plans(msgspec.Struct):
    """The fixes of one file, and the functions that broke over it."""

    found: list[Planned] = []
    errors: list[InternalError] = []


def planned(data: bytes, shown: str, findings: Sequence[Diagnostic], catalogue: Catalogue) -> Plans:
    """The fixes of the findings of one file that can be fixed; none where it cannot be read any more."""
    plans = Plans()
    try:
        sources = sources_of(data, shown)
    except UnreadableSource:
        return plans
    for home, source in enumerate(sources):
        own = [one for one in findings if one.code in FIXES and home_of(one.location, sources) == home]
        code = read_code(source, catalogue) if own else None
        for finding in own if code is not None else ():
            assert code is not None
            try:
                one = _planned(Spot(code, catalogue, finding), home)
            except Exception as error:  # noqa: BLE001 - one broken fix must not take the others down; it is reported
                said = f"{type(error).__name__}: {error}"
                plans.errors.append(InternalError(f"the fix of {finding.code}", shown, said))
            else:
                plans.found += [] if one is None else [one]
    return plans


def _planned(spot: Spot, home: int) -> Planned | None:
    """A fix that leaves Python behind."""
    source, finding = spot.facts.source, spot.diagnostic
    plan = _plan(spot, FIXES[finding.code])
    if plan is None:
        return None
    after = edited_text(source, plan.changes)
    if after == source.text or not parses(after):
        return None
    return Planned(finding, plan, home, _edits(spot, plan, after))


def read_code(source: Source, catalogue: Catalogue) -> FileCode | None:
    """The code of a source; None where it is no Python, or nested too deeply to be looked at."""
    table = NameTable(catalogue.names, frozenset(), catalogue.programs.starter)
    try:
        return FileCode(FileFacts.read(source.path, source, parse_python(source), table, _Alone()))
    except (UnreadableSource, RecursionError):
        return None


def _plan(spot: Spot, fix: Callable[[Spot], Plan | None]) -> Plan | None:
    """What a rule would change; nothing where the line has become another one since the finding, or takes too long."""
    line = spot.facts.source.joined_line(spot.diagnostic.location)
    shown = spot.diagnostic.source_line
    if line > len(spot.code.lines) or (shown and spot.code.lines[line - 1].strip() != shown.strip()):
        return None
    try:
        plan = fix(spot)
    except OverBudget:
        return None
    return None if plan is None else plan.on(spot.diagnostic.admitted)


def _edits(spot: Spot, plan: Plan, after: str) -> FixEdits:
    source = spot.facts.source
    message = spot.catalogue.rules[spot.diagnostic.code].fix.one
    edits = sorted(Edit(source.locate(*one.start, *one.end), one.text) for one in plan.changes)
    return FixEdits(plan.is_safe, message, tuple(edits), tuple(_preview(source.text, after)))


def _preview(before: str, after: str) -> Iterator[str]:
    """The lines that differ, those that went and those that came."""
    old, new = before.split("\n"), after.split("\n")
    least = min(len(old), len(new))
    head = next((at for at in range(least) if old[at] != new[at]), least)
    tail = next((at for at in range(least - head) if old[-1 - at] != new[-1 - at]), least - head)
    middle = old[head : len(old) - tail], new[head : len(new) - tail]
    for tag, *ends in difflib.SequenceMatcher(None, *middle, autojunk=False).get_opcodes():
        if tag != "equal":
            yield from (f"-{line}" for line in middle[0][ends[0] : ends[1]])
            yield from (f"+{line}" for line in middle[1][ends[2] : ends[3]])


class _Alone:
    """No modules beside the file: what it imports from its project is not known, and then not fixed."""

    def find(self, target: ImportTarget, importer: str) -> None:
        """No file."""

    def locate(self, target: ImportTarget, importer: str) -> None:
        """No file."""

    def locate_submodule(self, package: str, name: str) -> None:
        """No file."""

    def matching(self, pattern: str, importer: str) -> tuple[str, ...]:  # noqa: ARG002 - as Modules has it
        """No files."""
        return ()

    def configured(self, section: str, *, inside: bool) -> tuple[str, ...]:  # noqa: ARG002 - as Modules has it
        """No classes."""
        return ()

    def at(self, path: str) -> None:
        """No file."""

    def whole(self, path: str) -> None:
        """No file."""

    def exported(self, path: str, name: str) -> Names:  # noqa: ARG002 - as Modules has it
        """Nothing."""
        return UNKNOWN

    level = 0

    def cut_short(self, level: int) -> None:
        """There are no circles."""
