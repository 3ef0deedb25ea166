"""A way and a rule become a program."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator

from tests.transport.reading import AS_IT_IS, WAYS, Case, Swap

Files = dict[str, str]
Place = tuple[str, int]
"""A file and a line in it."""

_FILE = re.compile(r"^=== (\S+)\n", re.MULTILINE)
_USE = re.compile(r"(?P<indent> *)USE\((?P<value>.*)\)")
_PLACE = re.compile(r'[\w.]+(?:\[(?:\d+|"\w+")\])?')
"""A name, an attribute or an item."""
_MAIN = "def main():\n"
_GUARD = '\n\nif __name__ == "__main__":\n    main()\n'


def program(case: Case, way: str, swap: Swap = AS_IT_IS) -> Files:
    """The files of the program in which the value of a rule travels this way."""
    first, *others = _FILE.split(WAYS[way])
    names, texts = others[::2], others[1::2]
    return {
        "main.py": _file(case, swap, first) + _GUARD,
        **{name: _file(case, swap, text) for name, text in zip(names, texts, strict=True)},
    }


def place(files: Files, words: str) -> Place:
    """The one line of a program on which some words stand."""
    (found,) = (
        (path, number)
        for path, text in files.items()
        for number, line in enumerate(text.splitlines(), 1)
        if words in line
    )
    return found


def _file(case: Case, swap: Swap, template: str) -> str:
    """One file: what it imports, what stands above its own code, that code."""
    body = "\n".join(_lines(case, swap, template))
    start = case.start if swap.start is None else swap.start
    body = body.replace(_MAIN, _MAIN + textwrap.indent(start.strip() + "\n", "    ") if start else _MAIN)
    own = "".join(line for line in body.splitlines(keepends=True) if line.startswith(("import ", "from ")))
    code = [*_above(case, swap, template), body.removeprefix(own)]
    imports = "".join(f"{line}\n" for line in ("import sys", *case.imports) if _is_needed(line, "".join(code)))
    return "\n\n".join(part.strip("\n") + "\n" for part in (imports + own, *code) if part)


def _above(case: Case, swap: Swap, template: str) -> Iterator[str]:
    """What belongs to the source, and a helper of the use or of `main`."""
    if re.search(r"\bSOURCE\b", template):
        yield case.beside
    if (_MAIN if swap.start else "USE(") in template:
        yield swap.helper


def _lines(case: Case, swap: Swap, template: str) -> Iterator[str]:
    words = {"SOURCE": swap.source or case.source, "OTHER": case.other, "NAME": case.noun}
    for line in template.splitlines():
        filled = _filled(line, words)
        used = _USE.fullmatch(filled)
        if used is None:
            yield filled
        else:
            yield textwrap.indent(_use(case, swap, used["value"]), used["indent"])


def _use(case: Case, swap: Swap, value: str) -> str:
    """The statements that use a value; where they name it twice, it gets a name first, unless it has one."""
    use = (swap.use or case.use).strip()
    if use.count("VALUE") > 1 and not _PLACE.fullmatch(value):
        return f"{case.noun} = {value}\n" + _filled(use, {"VALUE": case.noun})
    return _filled(use, {"VALUE": value})


def _filled(text: str, words: dict[str, str]) -> str:
    return re.sub(rf"\b(?:{'|'.join(words)})\b", lambda found: words[found[0]], text)


def _is_needed(line: str, code: str) -> bool:
    """Whether code names what a line imports."""
    names = line.rpartition("import ")[2].rpartition(" as ")[2].split(", ")
    return any(re.search(rf"(?<![\w.]){name}\b", code) for name in names)
