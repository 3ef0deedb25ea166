"""An audit for programs: one object, with one object for each program."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator

from torchlint import __version__
from torchlint.audit.page import Audit, Change, Comparison, Line, Page, ProgramChange, Section, Spot


def json_text(audit: Audit) -> Iterator[str]:
    """Yield the lines of the object; ASCII only, so that any output encoding carries it."""
    programs = [_page(page) for page in audit.worst_first().pages]
    record: dict[str, object] = {"torchlint": __version__, "programs": programs}
    if audit.compared is not None:
        record["compared"] = _comparison(audit.compared)
    yield from json.dumps(record, indent=2).splitlines()


def _page(page: Page) -> dict[str, object]:
    subject = page.subject
    return {
        "program": _slashes(subject.name),
        "kind": subject.kind,
        "start": _spot(subject.start),
        "trains": None if subject.trains is None else _spot(subject.trains),
        "torch": subject.torch,
        "devices": list(subject.devices),
        "files": [_slashes(file) for file in subject.files],
        "example": subject.is_example,
        "status": page.light.label,
        "verdict": page.verdict,
        "first": [{"section": title, "label": line.label} for title, line in page.first],
        "sections": [_section(section) for section in page.sections],
        "not_seen": list(page.unseen),
    }


def _section(section: Section) -> dict[str, object]:
    return {
        "key": section.key,
        "title": section.title,
        "status": section.light.label,
        "headline": section.headline,
        "lines": [_line(line) for line in section.lines],
        "looked_for": section.looked_for,
    }


def _line(line: Line) -> dict[str, object]:
    return {
        "status": None if line.light is None else line.light.label,
        "label": line.label,
        "text": line.text,
        "code": line.code or None,
        "url": line.url or None,
        "advice": line.advice or None,
        "run": line.run or None,
        "places": [_spot(spot) for spot in line.spots],
    }


def _spot(spot: Spot) -> dict[str, object]:
    place = spot.location
    return {
        "path": _slashes(place.path),
        "cell": place.cell,
        "line": place.line,
        "column": place.column,
        "note": spot.note or None,
        "source": spot.source_line,
    }


def _comparison(compared: Comparison) -> dict[str, object]:
    return {"against": _slashes(compared.against), "programs": [_program_change(one) for one in compared.programs]}


def _program_change(program: ProgramChange) -> dict[str, object]:
    return {
        "program": program.name,
        "change": program.status,
        "new": [_change(change, "before") for change in program.new],
        "gone": [_change(change, "now") for change in program.gone],
    }


def _change(change: Change, other: str) -> dict[str, object]:
    return {
        "section": change.title,
        "line": _line(change.line),
        other: None if change.other is None else _line(change.other),
    }


def _slashes(path: str) -> str:
    return path if os.sep == "/" else path.replace(os.sep, "/")
