"""What closes a point: the run that tells, and which points to look at first."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

from torchlint.audit.material import Material
from torchlint.audit.page import Light, Line, Section
from torchlint.catalogue.load import load_causes
from torchlint.facts.entries import EntryKind
from torchlint.project.shown import shown_path

_RULES = {"mode": "TL210", "seeds": "TL301", "restarts": "TL313", "operators": "TL210"}
"""What lines without a code are about, by their section."""
_UNSETTLED = frozenset({"torch"})
"""Sections that no run on this machine settles."""


def settled(sections: Iterable[Section], material: Material, command: str) -> tuple[Section, ...]:
    """The sections, where each red or amber line says which run tells: `command`, or a check of its own place."""
    return tuple(
        section
        if section.key in _UNSETTLED
        else dataclasses.replace(section, lines=tuple(_with_run(line, material, command) for line in section.lines))
        for section in sections
    )


def _with_run(line: Line, material: Material, command: str) -> Line:
    if not line.light:
        return line
    rule = material.project.catalogue.rules.get(line.code)
    places = {one.location for one in material.suspicions({line.code})}
    found = next((spot for spot in line.spots if spot.location in places), None)
    run = f"torchlint verify {found}" if found is not None and rule is not None and rule.probe else command
    return dataclasses.replace(line, run=run)


def command_of(material: Material) -> str:
    """The command that runs a program twice and names the first difference: `torchlint diverge -- python train.py`."""
    program = material.program
    path = shown_path(material.project.root, program.path)
    if program.entry.kind is EntryKind.NOTEBOOK:
        return f"torchlint diverge {path}"
    command = f" {program.entry.symbol}" if program.entry.kind is EntryKind.COMMAND else ""
    return f"torchlint diverge -- python {path}{command}"


def ranked(sections: Sequence[Section]) -> tuple[tuple[str, Line], ...]:
    """The red and amber lines: reasons before open points, and what was a cause more often before the rest."""
    counts = load_causes().causes
    found = [(section, line) for section in sections for line in section.lines if line.light]
    found.sort(key=lambda one: -counts.get(one[1].code or _RULES.get(one[0].key, ""), 0))
    found.sort(key=lambda one: -(one[1].light or Light.GREEN))
    return tuple((section.title, line) for section, line in found)
