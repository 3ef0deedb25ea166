"""Code for Pythons that no torch of today runs on: names that became keywords in 3.7, and Python 2."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Callable, Mapping

from torchlint.source.nesting import STRING

_LITERAL = rf"#[^\n]*|{STRING}"
_LITERALS = re.compile(_LITERAL, re.DOTALL)
_NAMES = {
    "async": re.compile(rf"{_LITERAL}|\basync\b(?!\s+(?:def|for|with)\b)", re.DOTALL),
    "await": re.compile(rf"{_LITERAL}|\bawait\b", re.DOTALL),
}
"""What is tried first comes first: Python 3.5 and 3.6 await in an `async def`, and know the names everywhere else."""
_MOVING = frozenset({"cuda", "copy_", "type"})
"""Methods whose argument `non_blocking` was called `async` until torch 0.4 (https://github.com/pytorch/pytorch/pull/4999)."""

_PYTHON_2 = re.compile(
    r"(?:^|[;:])[ \t]*(?:print|exec)(?:[ \t]+(?!(?:if|else|and|or|in|is|for)\b)\w|[ \t]*\")"
    r"|(?:^|[;:])[ \t]*raise[ \t]+[\w.]+[ \t]*,"
    r"|^[ \t]*except\b[^:\n]*[\w)][ \t]*,[ \t]*\w+[ \t]*:"
    r"|[\w\])][ \t]*<>[ \t]*[\w\"(]|[=(,%+][ \t]*`[^`\n]+`|\b[uU][rR]\""
    r"|(?<![\w.])0[0-7]*[1-7][0-7]*\b(?!\.)|\b(?:0[xX][\da-fA-F]+|\d+)[lL]\b"
    r"|\bdef[ \t]+\w+[ \t]*\((?:[^()\n]*,)?[ \t]*\([\w, ]+\)[^()\n]*\)[ \t]*:|\blambda[ \t]*\([\w, ]+\)[ \t]*:",
    re.MULTILINE,
)
_PYTHON_3 = re.compile(
    r"\b(?:[fF][rR]?|[rR][fF])\"|\)[ \t]*->|\bnonlocal\b|\basync[ \t]+def\b|\bawait[ \t]+\w|:=|\byield[ \t]+from\b"
    r"|\bdef[ \t]+\w+[ \t]*\([^()]*\w[ \t]*:[ \t]*\w"
)


def is_python_2(text: str) -> bool:
    """Whether code that Python 3 does not read has what only Python 2 reads, and nothing that only Python 3 does."""
    code = _LITERALS.sub(lambda match: "" if match[0].startswith("#") else '""', text)
    return _PYTHON_2.search(code) is not None and _PYTHON_3.search(code) is None


def parse_with_free_names(text: str, parse: Callable[[str], ast.Module]) -> ast.Module | None:
    """The tree of code in which `async` or `await` is a name, as it was before Python 3.7; None for other code.

    Another name of the same length takes its place while the text is parsed, so that all columns stay right.
    """
    stands_for: dict[str, str] = {}
    for word, pattern in _NAMES.items():
        if word not in text:
            continue
        name = _unused(text)
        stands_for[name] = word
        text = pattern.sub(lambda match, word=word, name=name: name if match[0] == word else match[0], text)  # type: ignore[misc]
        try:
            return _named_back(parse(text), stands_for)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue  # the first error, of the text as it is, says more
    return None


def _unused(text: str) -> str:
    """A name of five letters that a text does not hold."""
    return next(name for letters in itertools.product("zqxjw", repeat=5) if (name := "".join(letters)) not in text)


def _named_back(tree: ast.Module, stands_for: Mapping[str, str]) -> ast.Module:
    for node in ast.walk(tree):
        for field, value in ast.iter_fields(node) if not isinstance(node, ast.Constant) else ():
            if isinstance(value, str):
                setattr(node, field, _restored(value, stands_for))
            elif isinstance(value, list) and value and isinstance(value[0], str):
                setattr(node, field, [_restored(one, stands_for) for one in value])
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _MOVING:
            for keyword in node.keywords:
                keyword.arg = "non_blocking" if stands_for.get(keyword.arg or "") == "async" else keyword.arg
    return tree


def _restored(name: str, stands_for: Mapping[str, str]) -> str:
    for other, word in stands_for.items():
        name = name.replace(other, word)
    return name
