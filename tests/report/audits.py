"""Audits made by hand, for the tests of what prints them."""

from __future__ import annotations

from torchlint.audit.page import Light, Line, Page, Section, Spot, Subject
from torchlint.audit.settling import ranked
from torchlint.diagnostics import Location


def spot(path: str, line: int, note: str = "") -> Spot:
    return Spot(Location(path, None, line, 1, line, 2), note=note)


def red(label: str, text: str = "nothing seeds it", **more: str) -> Line:
    return Line(label, text, Light.RED, (spot("train.py", 3),), **more)


def amber(label: str, text: str = "may vary", **more: str) -> Line:
    return Line(label, text, Light.AMBER, (spot("train.py", 4),), **more)


def green(label: str, text: str = "seeded") -> Line:
    return Line(label, text, Light.GREEN)


def page(name: str, *lines: Line, is_example: bool = False) -> Page:
    """A page with one section, that of seeds."""
    subject = Subject(
        name=name,
        kind="main guard",
        start=spot(name, 1),
        trains=None,
        torch="2.13",
        devices=("cuda",),
        files=(name,),
        is_example=is_example,
    )
    section = Section("seeds", "Seeds", "", tuple(lines), "calls")
    return Page(subject, (section,), (), ranked([section]))
