"""Colour where it is wanted, and text that cannot break a line or a terminal."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from torchlint.diagnostics import Severity

if TYPE_CHECKING:
    from torchlint.diagnostics import Diagnostic
    from torchlint.report.context import Context

_SEVERITY_COLOURS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "cyan"}


@dataclass(frozen=True, slots=True)
class Paint:
    """Styles text, or leaves it alone when `colour` is false."""

    colour: bool

    def bold(self, text: str) -> str:
        return click.style(text, bold=True) if self.colour else text

    def faint(self, text: str) -> str:
        return click.style(text, dim=True) if self.colour else text

    def coloured(self, text: str, colour: str) -> str:
        return click.style(text, fg=colour, bold=True) if self.colour else text

    def by_severity(self, text: str, severity: Severity) -> str:
        return click.style(text, fg=_SEVERITY_COLOURS[severity], bold=True) if self.colour else text


def one_line(text: str) -> str:
    """The text with control characters (line ends, escape sequences, directional marks) written out."""
    if text.isprintable():
        return text
    return "".join(_escaped(char) if unicodedata.category(char) in ("Cc", "Cf", "Zl", "Zp") else char for char in text)


def first_words(text: str, width: int) -> str:
    """The first `width` characters of a text, without the part of a word that the end would cut."""
    kept = text[:width]
    is_cut = re.fullmatch(r"\w\w", text[max(width - 1, 0) : width + 1])
    return (re.sub(r"\w+$", "", kept) or kept) if is_cut else kept


def heading(diagnostic: Diagnostic, context: Context) -> str:
    """`path:line:column: CODE severity: message`, the form of flake8 with a word more."""
    paint = Paint(context.colour)
    place = paint.bold(one_line(str(context.placed(diagnostic.location))))
    return f"{place}: {statement(diagnostic, paint)}"


def statement(diagnostic: Diagnostic, paint: Paint) -> str:
    """`CODE severity: message`, and the verdict of an earlier verification in a word or two."""
    code = paint.by_severity(f"{diagnostic.code} {diagnostic.severity.label}", diagnostic.severity)
    verdict = diagnostic.verdict.partition(" on ")[0]
    shown = paint.faint(f" [{one_line(verdict)}]") if verdict else ""
    return f"{code}: {one_line(diagnostic.message)}{shown}"


def _escaped(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")
