"""What the lights of an audit are called, and how its texts are made safe to print."""

from __future__ import annotations

from collections.abc import Sequence

from torchlint.audit.page import Change, Comparison, Light, Page, Section
from torchlint.report.fixes import counted
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

STATUSES = {"new": " (new program)", "kept": "", "gone": " (no program any more)"}
"""What stands after the name of a program."""


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


def counts_of(pages: Sequence[Page]) -> str:
    """`5 programs and 1 example`."""
    own = sum(not page.subject.is_example for page in pages)
    kinds = ((own, "program"), (len(pages) - own, "example"))
    return " and ".join(counted(count, noun) for count, noun in kinds if count)


def changes_of(compared: Comparison) -> str:
    """`2 new lines, 1 line gone, 1 new program`."""
    if not compared.programs:
        return "nothing is new or gone"
    kept = [one for one in compared.programs if one.status != "gone"]
    new, gone = (sum(map(len, each)) for each in ([one.new for one in kept], [one.gone for one in kept]))
    appeared, left = (sum(one.status == status for one in compared.programs) for status in ("new", "gone"))
    counts = [
        counted(new, "new line"),
        f"{counted(gone, 'line')} gone",
        *([counted(appeared, "new program")] if appeared else []),
        *([f"{counted(left, 'program')} gone"] if left else []),
    ]
    return ", ".join(counts)


def other_of(change: Change, *, is_new: bool) -> str:
    """`before left open: off`: what stood in the place of a line, or stands there now; empty where nothing did."""
    if change.other is None:
        return ""
    word = "" if change.other.light is None else f"{WORDS[change.other.light]}: "
    return f"{'before' if is_new else 'now'} {word}{change.other.text}"


def section_of(page: Page, key: str) -> Section | None:
    return next((section for section in page.sections if section.key == key), None)


def source_text(line: str) -> str:
    """A source line as one line of visible characters, without its indentation."""
    return one_line(line.strip().replace("\t", " "))
