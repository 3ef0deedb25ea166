"""Text to `ast`, with one exception for everything that can go wrong on the way.

CPython's own parser refuses deep nesting (SyntaxError, MemoryError or RecursionError) where LibCST's dies,
so it comes first and unguarded; LibCST is asked only about short chains and shallow brackets.
"""

from __future__ import annotations

import ast
import re
import sys
import warnings
from typing import NoReturn

from torchlint.errors import Python2Source, SkippedSource, UnreadableSource
from torchlint.source.decoding import position_at
from torchlint.source.nesting import bracket_depth_exceeds, is_safe_to_parse_natively
from torchlint.source.old_python import is_python_2, parse_with_free_names
from torchlint.source.text import Source

__all__ = [
    "TOO_DEEP",
    "NewerSyntax",
    "bracket_depth_exceeds",
    "can_be_parsed",
    "deep_place",
    "first_line",
    "parse_python",
    "parse_text",
]

_ahead: dict[str, ast.Module] = {}
"""The tree that was parsed ahead, by its text."""
_DEEP = 1000
TOO_DEEP = "nested too deeply to analyse"
_DEEP_MESSAGES = ("too many nested parentheses", "too many levels of indentation", "nested too deeply", "too complex")

# What no Python before the version can read, as it looks on the line of the error. The word alone would not
# do: LibCST must accept the file as well.
_NEWER = (
    ((3, 14), re.compile(r"\b(?:[tT][rR]?|[rR][tT])[\"']|^\s*except\b[^(:]*,")),
    ((3, 13), re.compile(r"^\s*(?:(?:async\s+)?def|class|type)\s+\w+\s*\[[^\]()]*=")),
    ((3, 12), re.compile(r"^\s*type\s+\w+\s*[=\[]|^\s*(?:(?:async\s+)?def|class)\s+\w+\s*\[")),
    ((3, 12), re.compile(r"\b(?:[fF][rR]?|[rR][fF])[\"']")),
    ((3, 11), re.compile(r"^\s*except\s*\*|\[[^\]]*\*\w|\*\w+\s*:\s*\*")),
)


class NewerSyntax(SkippedSource):
    """Syntax that the running Python is too old for."""

    def __init__(self, version: tuple[int, int], line: int = 1, column: int = 1) -> None:
        self.version = version
        running = f"{sys.version_info[0]}.{sys.version_info[1]}"
        reason = f"line {line} needs Python >= {version[0]}.{version[1]}, and torchlint runs on {running}"
        super().__init__(reason, line, column)


def parse_python(source: Source) -> ast.Module:
    """The tree of a source. Raises UnreadableSource, or its subclass NewerSyntax."""
    return parse_text(source.text)


def can_be_parsed(source: Source) -> bool:
    """Whether `parse_python` gives a tree. That is kept for whoever asks for it next, and given once."""
    _ahead.clear()
    try:
        _ahead[source.text] = parse_python(source)
    except UnreadableSource:
        return False
    return True


def parse_text(text: str) -> ast.Module:
    """The tree of normalised text. Raises UnreadableSource, or its subclass NewerSyntax."""
    tree = _ahead.pop(text, None)
    if tree is not None:
        return tree
    try:
        return _parsed(text)
    except SyntaxError as error:
        _raise_if_null(text)
        tree = parse_with_free_names(text, _parsed)
        return tree if tree is not None else _raise_syntax(text, error)
    except UnicodeEncodeError as error:
        line, column = position_at(text, error.start)
        raise UnreadableSource("contains a lone surrogate, which is not a character", line, column) from None
    except (RecursionError, MemoryError):
        raise UnreadableSource(TOO_DEEP, *_deepest_place(text)) from None
    except ValueError as error:
        _raise_if_null(text)
        raise UnreadableSource(f"does not parse: {error}") from None


def _parsed(text: str) -> ast.Module:
    with warnings.catch_warnings():
        # Invalid escapes are the author's business; a warning on stderr would name no file.
        warnings.simplefilter("ignore")
        return ast.parse(text)


def deep_place(tree: ast.Module) -> tuple[int, int] | None:
    """Line and column of a tree's first code that is nested more than a thousand deep. Goes through all of it."""
    level: list[ast.AST] = [tree]
    for _ in range(_DEEP):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
    places = [(node.lineno, node.col_offset + 1) for node in level if isinstance(node, (ast.expr, ast.stmt))]
    return min(places, default=None)


def _raise_if_null(text: str) -> None:
    # Older releases raise ValueError here, newer ones SyntaxError, and neither says where.
    offset = text.find("\0")
    if offset >= 0:
        raise UnreadableSource("contains a null byte", *position_at(text, offset)) from None


def _raise_syntax(text: str, error: SyntaxError) -> NoReturn:
    lines = text.split("\n")
    line = min(max(error.lineno or 1, 1), len(lines))
    shown = lines[line - 1]
    column = min(max(error.offset or 1, 1), len(shown) + 1)
    message = error.msg or "invalid syntax"
    if any(words in message for words in _DEEP_MESSAGES):
        raise UnreadableSource(TOO_DEEP, line, column) from None
    # `except A, B:` is Python 2 and Python 3.14 alike; LibCST reads no other Python 2.
    _raise_if_newer(text, shown, line, column)
    if is_python_2(text):
        raise Python2Source(f"Python 2 syntax? {message}", line, column) from None
    raise UnreadableSource(f"does not parse: {message}", line, column) from None


def _raise_if_newer(text: str, shown: str, line: int, column: int) -> None:
    versions = [version for version, mark in _NEWER if version > sys.version_info[:2] and mark.search(shown)]
    if not versions or not is_safe_to_parse_natively(text):
        return
    import libcst  # noqa: PLC0415 - slow to import, and needed for hardly any file

    try:
        libcst.parse_module(text)
    except Exception:  # noqa: BLE001 - whatever it says, it did not accept the text
        return
    raise NewerSyntax(versions[0], line, column) from None


def _deepest_place(text: str) -> tuple[int, int]:
    """The parser gave up without saying where: the longest line is the best guess."""
    lines = text.split("\n")
    return max(range(len(lines)), key=lambda index: len(lines[index])) + 1, 1


def parses(text: str) -> bool:
    """Whether a text is Python."""
    try:
        parse_text(text)
    except UnreadableSource:
        return False
    return True


def first_line(node: ast.stmt | ast.arg | ast.pattern) -> int:
    """Where a node begins, its decorators included."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])
