"""The parts that all plots are made of. Templates lay out everything else; what is drawn here they take as it is."""

from __future__ import annotations

import html
from dataclasses import dataclass

from torchlint.report.paint import one_line

WIDTH = 400
"""Of every plot, in its own units: about the pixels that a telephone has, so that letters stay readable."""


@dataclass(frozen=True, slots=True)
class Key:
    """One line of a legend."""

    kind: str
    """The class of the line's colours."""
    words: str


@dataclass(frozen=True, slots=True)
class Figure:
    """A plot with its caption and its legend."""

    caption: str
    words: str
    """They tell those who cannot see it what it shows."""
    height: int
    drawing: tuple[str, ...]
    """The elements inside an SVG element."""
    keys: tuple[Key, ...] = ()
    note: str = ""
    width: int = WIDTH


def text(plain: str) -> str:
    """Any text, safe inside an element, with nothing invisible in it."""
    return html.escape(one_line(plain))


def label(x: float, y: float, words: str, anchor: str, kind: str = "tick") -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{text(words)}</text>'


def upright(y: float, words: str) -> str:
    """What an upright axis counts, along the left edge."""
    return f'<text class="tick" transform="translate(10 {y:.1f}) rotate(-90)" text-anchor="middle">{text(words)}</text>'


def shortened(words: str, most: int) -> str:
    """The beginning and the end of a long name: modules of one model differ in both."""
    if len(words) <= most:
        return words
    head = (most - 1) // 2
    return f"{words[:head]}…{words[len(words) - (most - 1 - head) :]}"
