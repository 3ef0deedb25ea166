"""Bytes to text: encodings, line ends, and the way back to positions."""

from __future__ import annotations

import codecs
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchlint.diagnostics import Location
from torchlint.errors import UnreadableSource
from torchlint.source.decoding import decode_python
from torchlint.source.text import Source, read_source, source_from_bytes, source_from_text


def read(data: bytes) -> Source:
    return source_from_bytes(data, "a.py", notebook=False)


def refusal(data: bytes) -> UnreadableSource:
    with pytest.raises(UnreadableSource) as caught:
        read(data)
    return caught.value


def test_all_line_ends_of_the_tokenizer_become_newlines() -> None:
    assert read(b"a\r\nb\rc\nd").lines == ("a", "b", "c", "d")


def test_characters_that_only_str_splitlines_splits_at_stay_inside_their_line() -> None:
    text = "a = '\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029'\nb"
    assert read(text.encode()).lines == tuple(text.split("\n"))


def test_an_empty_file_is_one_empty_line() -> None:
    source = read(b"")
    assert (source.text, source.lines, source.cells) == ("", ("",), None)


def test_a_byte_order_mark_is_no_part_of_the_text() -> None:
    assert read(codecs.BOM_UTF8 + b"x = 1\n").text == "x = 1\n"


@pytest.mark.parametrize(
    "head", [b"# coding: latin-1\n", b"#!/usr/bin/python\n# -*- coding: latin-1 -*-\n", b"\f\r# coding=latin-1\r"]
)
def test_an_encoding_comment_on_the_first_two_lines_decides(head: bytes) -> None:
    assert read(head + b"x = '\xe9'\n").lines[-2] == "x = 'é'"


def test_an_encoding_comment_below_code_is_only_a_comment() -> None:
    assert read("import os\n# coding: latin-1\nx = 'é'\n".encode()).lines[2] == "x = 'é'"


def test_bytes_that_do_not_decode_are_named_with_their_place() -> None:
    error = refusal("a = 1\r\nb = 'é".encode() + b"\xff'\n")
    assert (error.line, error.column) == (2, 7)
    assert "utf-8" in error.reason
    assert "0xff" in error.reason


def test_an_unknown_encoding_is_named_with_its_line() -> None:
    error = refusal(b"#!python\n# coding: klingon\n")
    assert (error.line, "klingon" in error.reason) == (2, True)


@pytest.mark.parametrize("name", [b"rot13", b"hex", b"base64", b"undefined", b"zlib"])
def test_an_encoding_that_gives_no_text_is_refused(name: bytes) -> None:
    assert refusal(b"# coding: " + name + b"\nx = 1\n").reason


def test_a_byte_order_mark_with_another_encoding_is_refused() -> None:
    assert "byte order mark" in refusal(codecs.BOM_UTF8 + b"# coding: latin-1\n").reason


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_utf16_and_utf32_source_is_refused_by_name(encoding: str) -> None:
    assert encoding.upper() in refusal("x = 1\n".encode(encoding)).reason


def test_utf16_without_a_mark_is_guessed() -> None:
    assert "UTF-16" in refusal("x = 1\n".encode("utf-16-le")).reason


def test_a_null_byte_is_found_where_it_stands() -> None:
    error = refusal(b"a = 1\r\nb\0 = 2\n")
    assert (error.line, error.column) == (2, 2)


def test_decoding_keeps_the_line_ends_for_those_who_edit() -> None:
    assert decode_python(b"# coding: latin-1\r\nx = '\xe9'\r\n") == ("# coding: latin-1\r\nx = 'é'\r\n", "iso8859-1")


def test_what_the_system_refuses_says_why(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none.py", Path("a\0b.py")):
        with pytest.raises(UnreadableSource, match="cannot be read"):
            read_source(path, "shown.py")


def test_a_notebook_is_known_by_its_suffix(tmp_path: Path) -> None:
    path = tmp_path / "a.ipynb"
    path.write_text(json.dumps({"cells": []}))
    assert read_source(path, "a.ipynb").cells == ()


def test_a_plain_file_is_located_as_it_stands() -> None:
    assert source_from_text("a\rb", "a.py").locate(2, 1, 2, 2) == Location("a.py", None, 2, 1, 2, 2)


@given(st.binary() | st.text().map(str.encode), st.booleans())
def test_any_bytes_give_a_source_or_a_reason(data: bytes, notebook: bool) -> None:  # noqa: FBT001
    result = attempt(data, notebook=notebook)
    if isinstance(result, UnreadableSource):
        assert result.reason
        assert min(result.line, result.column) >= 1
    else:
        assert "\n".join(result.lines) == result.text
        assert not {"\r", "\0"} & set(result.text)


def attempt(data: bytes, *, notebook: bool) -> Source | UnreadableSource:
    try:
        return source_from_bytes(data, "a", notebook=notebook)
    except UnreadableSource as error:
        return error


@given(st.lists(st.text(alphabet="ab \n\r#'%!?", max_size=30), max_size=6))
def test_joined_lines_lead_back_to_their_cell(cells: list[str]) -> None:
    notebook = {"cells": [{"cell_type": "code", "source": text} for text in cells]}
    source = source_from_bytes(json.dumps(notebook).encode(), "a.ipynb", notebook=True)
    assert source.cells is not None
    assert [cell.line_count for cell in source.cells] == [
        text.replace("\r\n", "\n").replace("\r", "\n").count("\n") + 1 for text in cells
    ]
    assert sum(cell.line_count for cell in source.cells) == (len(source.lines) if cells else 0)
    for cell in source.cells:
        for line in range(1, cell.line_count + 1):
            joined = cell.first_line + line - 1
            place = source.locate(joined, 1, joined, 2)
            assert (place.cell, place.line, place.end_line) == (cell.index, line, line)
