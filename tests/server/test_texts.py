"""Edits of a text arrive where the editor made them, whatever its lines end in."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("pygls")

from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types

from torchlint.server.ignoring import _line_edits
from torchlint.server.texts import Texts, bytes_of_text

URI = "file:///net.py"
PIECES = st.lists(st.sampled_from(["a", "é", "𝒳", "\n", "\r\n", "\r", "\x0c", "\u2028", "\x85", " "]), max_size=12)
TEXTS = PIECES.map("".join)


def position(text: str, offset: int) -> types.Position:
    """Where an editor that counts UTF-16 says that an offset lies."""
    lines = re.split(r"\r\n|\r|\n", text[:offset])
    return types.Position(len(lines) - 1, len(lines[-1].encode("utf-16-le")) // 2)


@given(TEXTS, TEXTS, st.integers(0, 12), st.integers(0, 12))
def test_an_edit_arrives_where_it_was_made(text: str, new: str, start: int, end: int) -> None:
    start, end = sorted((min(start, len(text)), min(end, len(text))))
    if any(text[at - 1 : at + 1] == "\r\n" for at in (start, end) if at):
        return  # no place of an editor lies inside a line end
    texts = Texts(None)
    texts.put_text_document(types.TextDocumentItem(URI, "python", 1, text))
    place = types.Range(position(text, start), position(text, end))
    change = types.TextDocumentContentChangePartial(place, new)
    texts.update_text_document(types.VersionedTextDocumentIdentifier(2, URI), change)
    assert texts.get_text_document(URI).source == text[:start] + new + text[end:]


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("x = 'é'", "x = 'é'".encode()),
        ("# coding: latin-1\n'é'", b"# coding: latin-1\n'\xe9'"),
        ("# coding: latin-1\n'𝒳'", "# coding: latin-1\n'𝒳'".encode()),
        ("# coding: utf-16\n", b"# coding: utf-16\n"),
        ("# coding: rot13\n", b"# coding: rot13\n"),
        ("'\ud800'", b"'\xed\xa0\x80'"),
    ],
)
def test_a_text_is_what_the_editor_would_save(text: str, data: bytes) -> None:
    assert bytes_of_text(text) == data


@given(st.text("ab ", max_size=6), st.text("ab ", max_size=6))
def test_line_edits_make_the_new_text(before: str, after: str) -> None:
    for _, column, end, new in _line_edits(before, after):
        assert before[: column - 1] + new + before[end - 1 :] == after
