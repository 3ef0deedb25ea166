"""Ignore comments: read as comments, never as text."""

from __future__ import annotations

import ast
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchlint.api import check_source
from torchlint.source.suppressions import SelectorSpan, Suppressions, read_suppressions
from torchlint.source.text import source_from_bytes, source_from_text


def read(text: str) -> Suppressions:
    return read_suppressions(source_from_text(text, "a.py"))


@pytest.mark.parametrize(
    ("comment", "kind", "selectors"),
    [
        ("# torchlint: ignore[TL101]", "ignore", ("TL101",)),
        ("# torchlint: ignore[TL101, TL601] shapes are fixed", "ignore", ("TL101", "TL601")),
        ("#torchlint:ignore[tl101 TL601]", "ignore", ("TL101", "TL601")),
        ("# torchlint: ignore[replicate-padding,TL601]", "ignore", ("replicate-padding", "TL601")),
        ("# torchlint: file-ignore[TL101]", "file", ("TL101",)),
        ("# noqa", "noqa", ()),
        ("#NOQA", "noqa", ()),
        ("# noqa: TL101,F401", "noqa", ("TL101", "F401")),
        ("# NOQA : TL101 F401", "noqa", ("TL101", "F401")),
        ("# noqa:TL101, F401  because", "noqa", ("TL101", "F401")),
        ("# noqa because", "noqa", ()),
    ],
)
def test_every_form_is_read(comment: str, kind: str, selectors: tuple[str, ...]) -> None:
    found = read(f"x = 1  {comment}\n")
    assert found.malformed == ()
    (directive,) = found.directives
    assert (directive.kind, directive.selectors, directive.line, directive.column) == (kind, selectors, 1, 8)
    assert len(directive.spans) == len(selectors)


@pytest.mark.parametrize(
    ("comment", "selectors"),
    [
        ("# flake8: noqa", ()),
        ("#flake8:NOQA", ()),
        ("# ruff: noqa", ()),
        ("# flake8: noqa: TL101,E501", ("TL101", "E501")),
        ("# ruff: noqa: TL101 F401 generated", ("TL101", "F401")),
    ],
)
def test_what_silences_a_file_for_flake8_and_ruff_silences_it_here(comment: str, selectors: tuple[str, ...]) -> None:
    found = read(f"x = 1\n    {comment}\n")
    assert found.malformed == ()
    (directive,) = found.directives
    assert (directive.kind, directive.selectors, directive.line) == ("file-noqa", selectors, 2)
    assert len(directive.spans) == len(selectors)


@pytest.mark.parametrize(
    "text",
    [
        "x = 1  # flake8: noqa\n",  # flake8 and ruff ask for a line of its own
        "# flake8: noqa because it is old\n",
        "# flake8: noqa-like\n",
        "# pylint: noqa\n",
        '"""\n# ruff: noqa\n"""\n',
        "# see: # flake8: noqa\n",
    ],
)
def test_what_flake8_and_ruff_do_not_take_for_the_file_silences_none(text: str) -> None:
    assert read(text) == Suppressions()


def test_selectors_know_their_columns_in_code_points() -> None:
    (directive,) = read("x = '𝒳'\ny = 'é'  # noqa: TL101, F401\n").directives
    assert directive.spans == (SelectorSpan(2, 18, 23), SelectorSpan(2, 25, 29))
    assert (directive.column, directive.end_column) == (10, 29)


def test_one_comment_holds_several_directives() -> None:
    found = read("x = 1  # type: ignore  # noqa: TL101  # torchlint: ignore[TL102]\n")
    assert sorted((d.kind, d.selectors) for d in found.directives) == [("ignore", ("TL102",)), ("noqa", ("TL101",))]


@pytest.mark.parametrize(
    "text",
    [
        "x = '# noqa: TL101'",
        'x = """\n# torchlint: ignore[TL101]\n"""',
        "# see torchlint: the linter",
        "# torchlint: finds things",
        "# noqable",
        "# noqa-like",
        "# the noqa comment",
        "x = 1",
    ],
)
def test_what_only_looks_like_a_directive_is_none(text: str) -> None:
    assert read(text) == Suppressions()


@pytest.mark.parametrize(
    "comment",
    [
        "# torchlint: ignore",
        "# torchlint: ignore[]",
        "# torchlint: ignore[ , ]",
        "# torchlint: ignore[TL101",
        "# torchlint: ignore(TL101)",
        "# torchlint: ignore=TL101",
        "# torchlint: file-ignore",
        "# torchlint: disable=TL101",
        "# torchlint: noqa",
        "# torchlint: ignore[TL101!]",
    ],
)
def test_a_directive_that_silences_nothing_is_reported(comment: str) -> None:
    found = read(f"x = 1  {comment}\n")
    assert found.directives == ()
    (malformed,) = found.malformed
    assert malformed.message
    assert malformed.line == 1
    assert 8 <= malformed.column < malformed.end_column <= len(f"x = 1  {comment}") + 1


def test_a_bad_item_does_not_take_the_good_ones_along() -> None:
    found = read("x  # torchlint: ignore[TL101, ?, TL102]\n")
    assert [d.selectors for d in found.directives] == [("TL101", "TL102")]
    assert [(m.column, m.end_column) for m in found.malformed] == [(31, 32)]


def test_what_was_read_before_the_tokenizer_gave_up_holds() -> None:
    assert [d.line for d in read("x = 1  # noqa\ny = (\n").directives] == [1]


def test_form_feeds_and_unicode_separators_do_not_move_lines() -> None:
    assert [d.line for d in read("\x0cx = '\u2028\x1c'\ny  # noqa\n").directives] == [2]


def test_directives_of_a_notebook_count_in_the_joined_text() -> None:
    notebook = {
        "cells": [
            {"cell_type": "code", "source": s} for s in ("x = 1\n", "!ls  # noqa\ny  # torchlint: file-ignore[TL101]")
        ]
    }
    source = source_from_bytes(json.dumps(notebook).encode(), "a.ipynb", notebook=True)
    (directive,) = read_suppressions(source).directives
    assert (directive.kind, directive.line) == ("file", 4)


PIECES = (
    "import torch  # noqa: F401",
    "@decorate  # noqa: A1\n# noqa: A2\n@again\ndef f(x):  # noqa: A3\n    return x\n# noqa: A4",
    "if a:\n    b  # noqa: B1\nelse:  # noqa: B2\n  # noqa: B3\n    c",
    'x = """\n# noqa: C1\n"""; y = 1  # noqa: C2',
    'z = [\n  1,  # noqa: D1\n]; w = """\n# noqa: D2\n"""  # noqa: D3',
    "u = 1 + \\\n    2  # noqa: E1",
    "# torchlint: file-ignore[TL101]",
    'class A:\n    """# noqa"""\n    def g(self):\n        try: 0\n        except E:  # noqa: G1\n            pass',
    "class B(\n    A,  # noqa: H1\n):  # noqa: H2\n    # noqa\n    x = [\n# noqa: H4\n]  # noqa: H5\n    # noqa",
    'class C:\n    class D: y = 2  # noqa\n    @d  # noqa\n    def m(self): """\n# noqa\n"""  # noqa: I3\n# noqa: I4',
    "class E: z = 3  # noqa: J1",
    "s = '# noqa'",
    "",
)


@given(st.lists(st.sampled_from(PIECES), max_size=8))
def test_what_is_read_around_comments_alone_is_what_the_whole_text_says(pieces: list[str]) -> None:
    source = source_from_text("\n".join(pieces), "a.py")
    assert read_suppressions(source, ast.parse(source.text).body) == read_suppressions(source)


@given(st.text(alphabet="# noqa:TL101,[]torchlint:ignore\n'\"(", max_size=60))
def test_any_text_can_be_read(text: str) -> None:
    for directive in read(text).directives:
        assert text.split("\n")[directive.line - 1][directive.column - 1] == "#"


@pytest.mark.parametrize(
    "comment", ["# torchlint: disable[TL101]", "# torchlint: ignore", "# torchlint: ignore[TL1-?]"]
)
def test_a_comment_that_cannot_be_read_is_quoted_once(comment: str) -> None:
    (found,) = check_source(f"import torch\nx = 1  {comment}\n", "a.py")
    assert found.code == "TL002"
    assert "``" not in found.message
    assert found.message.count("`") % 2 == 0
