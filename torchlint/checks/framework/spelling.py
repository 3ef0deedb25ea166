"""How messages quote code: short, on one line, with the argument that matters."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Sequence

from torchlint.checks.framework.visit import Visit

_LONGEST = 44
"""A line of the report is read in one go up to about 140 characters; the quote leaves room for what is said of it."""
_LONGEST_WORD = 2 * _LONGEST
"""No name is as long: this is data in a string."""
_CUT = "..."
_DOTTED = re.compile(r"[\w.]+")
_WORDS = re.compile(r"\w+|\W")


def spelling_of(visit: Visit, part: ast.AST | None = None, *, argument: str | None = None) -> str:
    """The code of the node at hand, or of a part of it, for a message: `nn.Conv2d(..., padding_mode='replicate')`.

    Of a long call it quotes the argument of that name; without a name the last one that is a string.
    """
    node = visit.node if part is None else part
    text = _code_of(visit, node)
    if len(text) <= _LONGEST or not isinstance(node, ast.Call):
        return shortened(text)
    telling = [
        f"{given.arg}={shortened(visit.code(given.value))}" for given in node.keywords if _is_telling(given, argument)
    ]
    function = shortened(_code_of(visit, node.func))
    return f"{function}(..., {telling[-1]})" if telling else f"{function}(...)"


def _is_telling(given: ast.keyword, name: str | None) -> bool:
    if name is not None:
        return given.arg == name
    return given.arg is not None and isinstance(given.value, ast.Constant) and isinstance(given.value.value, str)


def shortened(text: str) -> str:
    """Code on one line. Where it gets long it is cut between words: what is called stands first, what is asked last.

    A dotted name keeps its end, as it is written; the last name of anything else stays whole, however long it is.
    """
    line = " ".join(text.split())
    if len(line) <= _LONGEST:
        return line
    if _DOTTED.fullmatch(line):
        parts = line.split(".")
        return next((end for at in range(len(parts)) if len(end := ".".join(parts[at:])) <= _LONGEST), parts[-1])
    words = _WORDS.findall(line)
    tail = _ending(words)
    head = _beginning(words, _LONGEST - len(tail) - len(_CUT))
    return f"{head.rstrip(' .')}{_CUT}{tail.lstrip(' .')}"


def _beginning(words: Sequence[str], most: int) -> str:
    """As many of the first words as there is room for."""
    fitting = itertools.takewhile(lambda text: len(text) <= most, itertools.accumulate(words))
    return max(fitting, key=len, default="")


def _ending(words: Sequence[str]) -> str:
    """The last name, with what goes before it as far as a third of the quote has room."""
    text = ""
    for word in reversed(words):
        if len(text) + len(word) > _LONGEST // 3 and any(map(str.isalnum, text)):
            break
        text = word[-_LONGEST_WORD:] + text
    return text


def _code_of(visit: Visit, node: ast.AST) -> str:
    """As it is written; what goes over several lines is written anew, without its comments and outer brackets."""
    is_on_one_line = isinstance(node, ast.expr | ast.stmt) and node.lineno == node.end_lineno
    return visit.code(node).strip() if is_on_one_line else ast.unparse(node)
