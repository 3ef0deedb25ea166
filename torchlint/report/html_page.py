"""Pages for the browser, laid out by `templates/`: files that need nothing else, in which all text is safe."""

from __future__ import annotations

import re
from collections.abc import Iterator

from jinja2 import Environment, PackageLoader, StrictUndefined

from torchlint import __version__
from torchlint.report.fixes import counted
from torchlint.report.paint import one_line

_CODE = re.compile(r"`([^`]+)`")
_JOINT = re.compile(r"(?<=[/_])(?=\w)")


def page_lines(template: str, **shown: object) -> Iterator[str]:
    """Yield the lines of a whole file."""
    yield from templates().get_template(template).render(shown, version=__version__).split("\n")


def templates() -> Environment:
    """The folder of templates: what they print is escaped, and nothing in it is invisible."""
    environment = Environment(
        loader=PackageLoader("torchlint.report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_visible,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"code_line": _code_line, "code_parts": _code_parts, "counted": counted, "pieces": _pieces}
    return environment


def _visible(value: object) -> object:
    """What a template prints; what another one made is markup already."""
    return value if hasattr(value, "__html__") else one_line(str(value))


def _code_line(line: str) -> str:
    """A source line with its indentation."""
    return line.rstrip().expandtabs(4)


def _code_parts(words: object) -> list[str]:
    """Text and what stands in backquotes, by turns."""
    return _CODE.split(str(words))


def _pieces(words: object) -> list[str]:
    """The parts between which a line may break: after a slash or an underscore."""
    return _JOINT.split(str(words))
