"""The parts that all plots are made of."""

from __future__ import annotations

from collections.abc import Iterable

from torchlint.report.html_page import text

WIDTH = 400.0
"""Of every plot, in its own units: about the pixels that a telephone has, so that letters stay readable."""


def figure(caption: str, words: str, height: float, parts: Iterable[str], below: str = "") -> str:
    """A plot with its caption. `words` tell those who cannot see it what it shows; `below` is markup."""
    said = text(f"{caption}: {words}")
    return "\n".join(
        [
            '<figure class="plot">',
            f"<figcaption>{text(caption)}</figcaption>",
            f'<svg role="img" aria-label="{said}" viewBox="0 0 {WIDTH:.0f} {height:.0f}">',
            f"<title>{said}</title>",
            *parts,
            "</svg>",
            *([below] if below else []),
            "</figure>",
        ]
    )


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
