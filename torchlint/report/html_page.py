"""What the pages for the browser have in common: one file that needs nothing else, and text that is safe in it."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator
from importlib.resources import files

from torchlint.report.paint import one_line

_CODE = re.compile(r"`([^`]+)`")
_JOINT = re.compile(r"(?<!<)([/_])(?=\w)")
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""Nothing is fetched and nothing runs, whatever a file's name holds."""


def page_lines(title: str, style: str, body: Iterable[str]) -> Iterator[str]:
    """The lines of a whole file. `style` names the sheet that the page has beside the common one."""
    yield "<!doctype html>"
    yield '<html lang="en">'
    yield "<head>"
    yield '<meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{text(title)}</title>"
    yield "<style>"
    for sheet in ("page.css", style):
        yield from (files("torchlint.report") / sheet).read_text(encoding="utf-8").splitlines()
    yield "</style>"
    yield "</head>"
    yield "<body>"
    yield "<main>"
    yield from body
    yield "</main>"
    yield "</body>"
    yield "</html>"


def text(plain: str) -> str:
    """Any text, safe inside an element and inside a quoted attribute, with nothing invisible in it."""
    return html.escape(one_line(plain), quote=True)


def breakable(markup: str) -> str:
    """Escaped text that may break after a slash or an underscore, but not in `</code>`."""
    return _JOINT.sub(r"\1<wbr>", markup)


def rich(plain: str) -> str:
    """Text whose `code` is set as code."""
    return _CODE.sub(r"<code>\1</code>", text(plain))


def code_text(line: str) -> str:
    """A source line, escaped, with its indentation."""
    return text(line.rstrip().expandtabs(4))


def items(markups: Iterable[str]) -> str:
    return "".join(f"<li>{markup}</li>" for markup in markups)
