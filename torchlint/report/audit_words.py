"""What the lights of an audit are called, and how its texts are made safe to print."""

from __future__ import annotations

from torchlint.audit.page import Light, Page, Section
from torchlint.report.paint import one_line

MARKS = {Light.GREEN: "✓", Light.AMBER: "!", Light.RED: "✗"}
"""A sign beside the colour, for those who do not see colours."""
WORDS = {Light.GREEN: "nothing found", Light.AMBER: "left open", Light.RED: "reason found"}
EXPLAINED = {
    Light.GREEN: "the code that was read holds nothing of the kind; see Not seen",
    Light.AMBER: "the code alone does not tell: a run does",
    Light.RED: "a reason why two runs may differ, or why a run would fail",
}
SHORT = {
    "seeds": "seed",
    "mode": "mode",
    "switches": "swit",
    "environment": "env",
    "torch": "torc",
    "operators": "oper",
    "order": "data",
    "workers": "work",
    "restarts": "rest",
    "unread": "file",
    "randomness": "rand",
    "own": "own",
}
"""Heads of narrow columns, by the key of the section."""


def facts_of(page: Page) -> list[str]:
    """What stands under the name of a program."""
    subject = page.subject
    reach = "one file" if len(subject.files) == 1 else f"{len(subject.files)} files"
    place = subject.start.location
    cell = "" if place.cell is None else f"cell {place.cell}, "
    found = [
        *(["example"] if subject.is_example else []),
        f"{subject.kind}, {cell}line {place.line}",
        f"reaches {reach}",
        "trains" if subject.trains else "not seen to train",
        f"torch {subject.torch} on {', '.join(device.upper() for device in subject.devices)}",
    ]
    return [one_line(fact) for fact in found]


def section_of(page: Page, key: str) -> Section | None:
    return next((section for section in page.sections if section.key == key), None)


def source_text(line: str) -> str:
    """A source line as one line of visible characters, without its indentation."""
    return one_line(line.strip().replace("\t", " "))
