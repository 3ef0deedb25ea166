"""Text that Markdown, and GitHub's on top of it, shows as it is: no mark-up, no mention, no reference to an issue."""

from __future__ import annotations

import html
import re

from torchlint.report.paint import one_line

_CODE = re.compile(r"`([^`]+)`")
_MARKUP = re.compile(r"[\\`*_{}\[\]<>|~$&]")
_REFERENCE = re.compile(r"([@#])(?=\w)")
_NO_LETTER = re.compile(r"[^A-Za-z0-9 ./-]")


def prose(text: str) -> str:
    r"""A sentence of torchlint's: what stands in backquotes is set as code, and the rest is plain.

    "`a|b` is *not* seeded" becomes "`a|b` is \*not\* seeded".
    """
    return "".join(
        code(part) if index % 2 else _REFERENCE.sub(r"\1<!-- -->", _MARKUP.sub(r"\\\g<0>", part))
        for index, part in enumerate(_CODE.split(one_line(text)))
    )


def code(text: str) -> str:
    """Code in a sentence, between more backquotes than it holds itself: `train.py:3`."""
    shown = one_line(text)
    fence = "`" * (max(map(len, re.findall("`+", shown)), default=0) + 1)
    space = " " if "`" in shown or shown != shown.strip() else ""
    return f"{fence}{space}{shown}{space}{fence}"


def html_code(text: str) -> str:
    """Code where HTML stands or a table's cell ends at a bar: each special letter by its number."""
    numbered = _NO_LETTER.sub(lambda found: f"&#{ord(found[0])};", one_line(text))
    return f"<code>{numbered}</code>"


def html_text(text: str) -> str:
    """Words where HTML stands."""
    return html.escape(one_line(text))
