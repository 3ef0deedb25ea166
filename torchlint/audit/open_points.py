"""What the pages of the checked programs leave open, as findings: for editors, and for the end of a check."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from torchlint.audit.build import audit
from torchlint.audit.page import Light, Line, Page, topic
from torchlint.diagnostics import Confidence, Diagnostic, Location, OpenPoints, Report, Severity
from torchlint.engine.run import RunOptions
from torchlint.errors import TorchlintError
from torchlint.facts.notation import is_in

CODE, NAME = "TL000", "open-point"
"""No rule: nothing selects, ignores or silences it, and it fails no run."""


def with_open_points(report: Report, paths: Sequence[Path], options: RunOptions) -> Report:
    """The report of a check of these paths with a finding for each amber line of the pages of its programs."""
    try:
        found = audit(_entries(paths), _for_pages(options))
    except TorchlintError as error:  # the files of other roots have been checked
        return replace(report, errors=tuple(dict.fromkeys([*report.errors, str(error)])))
    checked = set(report.files)
    pages = [page for page in found.worst_first().pages if page.subject.start.location.path in checked]
    told = {(each.code, each.location) for each in report.diagnostics}
    points = _findings(pages, told)
    return replace(
        report,
        diagnostics=tuple(sorted([*report.diagnostics, *points], key=lambda each: each.sort_key)),
        internal_errors=tuple(dict.fromkeys([*report.internal_errors, *found.internal_errors])),
        open=tuple(
            OpenPoints(page.subject.name, page.count(Light.AMBER), _command(page))
            for page in pages
            if page.subject.trains and page.count(Light.AMBER)
        ),
    )


def _entries(paths: Sequence[Path]) -> list[str]:
    """The folders to look for programs in: not every file that is checked starts one."""
    return list(dict.fromkeys(str(path if path.is_dir() else path.parent) for path in paths))


def _for_pages(options: RunOptions) -> RunOptions:
    """As `torchlint audit` would run: a page leaves out no rule, and no finding for its severity."""
    pages = replace(
        options.overrides, select=None, ignore=(), extend_ignore=(), min_severity=None, fail_on=None, baseline=None
    )
    return replace(options, overrides=pages, baseline=False, since=None, progress=None)


def _findings(pages: Sequence[Page], told: set[tuple[str, Location]]) -> Iterator[Diagnostic]:
    """One for each place and text, whichever programs it is about; what another finding says there is left out."""
    programs: dict[tuple[Location, str], list[tuple[Page, Line]]] = {}
    for page in pages:
        for section in page.sections:
            for line in section.lines:
                if line.light is Light.AMBER and not any((line.code, spot.location) in told for spot in line.spots):
                    place = (line.spots[0] if line.spots else page.subject.start).location
                    programs.setdefault((place, f"{topic(section.title, line)}: {line.text}"), []).append((page, line))
    for (place, text), about in programs.items():
        yield _finding(place, text, about)


def _finding(place: Location, text: str, about: Sequence[tuple[Page, Line]]) -> Diagnostic:
    page, line = about[0]
    command = _command(page)
    spot = line.spots[0] if line.spots else page.subject.start
    return Diagnostic(
        code=CODE,
        name=NAME,
        severity=Severity.INFO,
        confidence=Confidence.HIGH,
        message=f"{text}{_owner(place, [each.subject.name for each, _ in about])}",
        location=place,
        url=line.url,
        advice=line.advice or f"The code alone does not tell: check it yourself. `{command}` shows what is known.",
        source_line=spot.source_line,
        lines=(place.line, place.line),
        explanation=command,
    )


def _owner(place: Location, names: Sequence[str]) -> str:
    """` (in train.py and 2 more programs)`, unless the place is the one program's own file."""
    if len(names) == 1 and is_in(names[0], place.path):
        return ""
    more = len(names) - 1
    others = f" and {more} more program{'' if more == 1 else 's'}" if more else ""
    return f" (in {names[0]}{others})"


def _command(page: Page) -> str:
    return f"torchlint audit {shlex.quote(page.subject.name)}"
