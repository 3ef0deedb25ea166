"""The caret stands under what it means, whatever the line is made of."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchlint.report.snippet import WIDTH, make_snippet


def width(text: str) -> int:
    """Terminal columns, written differently from the code under test."""
    wide = sum(unicodedata.east_asian_width(char) in ("F", "W") for char in text)
    return len(text) + wide - sum(unicodedata.category(char) in ("Mn", "Me") for char in text)


@pytest.mark.parametrize(
    ("source", "column", "end", "line", "marks"),
    [
        ("x = f(y)", 5, 9, "x = f(y)", "    ^^^^"),
        ("x = f(y)\n", 5, None, "x = f(y)", "    ^^^^"),
        ("\tx = f()", 6, 9, "    x = f()", "        ^^^"),
        ("x\t= f()", 5, 8, "x    = f()", "       ^^^"),
        ("s = '中文'; f()", 11, 14, "s = '中文'; f()", " " * 12 + "^^^"),
        ("'中文'.x", 1, 5, "'中文'.x", "^^^^^^"),
        ("e\u0301 = f()", 6, 9, "e\u0301 = f()", "    " + " " * 0 + "^^^"),
        ("x = 1", 40, 50, "x = 1", "     ^"),
        ("x = 1", 3, 3, "x = 1", "  ^"),
        ("", 1, 1, "", "^"),
        ("a\x00b\x1b[31m", 2, 3, "a�b�[31m", " ^"),
    ],
)
def test_the_caret_span(source: str, column: int, end: int | None, line: str, marks: str) -> None:
    snippet = make_snippet(source, column, end)
    assert (snippet.line, snippet.marks) == (line, marks)


def test_a_long_line_is_clipped_around_the_caret() -> None:
    source = "a" * 400 + "CALL" + "b" * 400
    snippet = make_snippet(source, 401, 405)
    assert snippet.line.startswith("…aaa")
    assert snippet.line.endswith("bbb…")
    assert width(snippet.line) <= WIDTH + 2
    start = snippet.marks.index("^")
    assert snippet.line[start : start + 4] == "CALL"
    assert snippet.marks.count("^") == 4


def test_no_word_of_a_clipped_line_is_cut() -> None:
    source = "value, " * 40 + "CALL(" + "argument=1, " * 40 + ")"
    snippet = make_snippet(source, 281, 286)
    assert snippet.line.startswith("…")
    assert snippet.line.endswith("…")
    assert set(re.findall(r"\w+", snippet.line)) == {"value", "CALL", "argument", "1"}
    start = snippet.marks.index("^")
    assert snippet.line[start : start + 5] == "CALL("


def test_the_marks_of_a_long_span_end_with_the_line() -> None:
    snippet = make_snippet("f(" + "x" * 500 + ")", 1, 504)
    assert width(snippet.marks) <= width(snippet.line)


def test_the_end_of_a_long_line_fills_the_width() -> None:
    snippet = make_snippet("a" * 300 + "END", 301, 304)
    assert snippet.line.endswith("aEND")
    assert width(snippet.line) == WIDTH + 1


@given(st.text(max_size=300), st.integers(1, 320), st.integers(1, 320) | st.none())
def test_any_line_can_be_drawn(source: str, column: int, end: int | None) -> None:
    snippet = make_snippet(source, column, end)
    assert "^" in snippet.marks
    assert set(snippet.marks) <= {" ", "^"}
    assert not {"\n", "\r", "\t", "\x1b", "\x00", "\u2028"} & set(snippet.line)
    assert width(snippet.line) <= WIDTH + 2
    assert width(snippet.marks) <= width(snippet.line) + 1


@given(st.text(alphabet="ab\t中é", min_size=1, max_size=250), st.data())
def test_the_caret_starts_under_its_character(source: str, data: st.DataObject) -> None:
    body = source.strip("\t") or "x"
    column = data.draw(st.integers(1, len(body)))
    marked = body[: column - 1] + "@" + body[column:]
    snippet = make_snippet(marked, column, column + 1)
    assert width(snippet.line[: snippet.line.index("@")]) == snippet.marks.index("^")
    assert snippet.marks.count("^") == 1
