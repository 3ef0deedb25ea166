"""Lines of cells and where they stand in the JSON file, however that is laid out."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchlint.source.notebook_places import NotebookPlaces

LINES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n"), max_size=8)
CELLS = st.lists(st.tuples(st.sampled_from(["code", "markdown"]), st.lists(LINES, min_size=1, max_size=4)), min_size=1)
LAYOUTS: tuple[dict[str, Any], ...] = (
    {"indent": 1},
    {"indent": 4, "ensure_ascii": False},
    {},
    {"separators": (",", ":")},
)


def notebook(cells: list[tuple[str, list[str]]], *, as_text: bool) -> dict[str, Any]:
    def source(lines: list[str]) -> str | list[str]:
        return "\n".join(lines) if as_text else [*(f"{line}\n" for line in lines[:-1]), lines[-1]]

    outputs = [{"data": {"text/plain": ['[{"source": \'}]']}}]
    found = [{"outputs": outputs, "cell_type": kind, "source": source(lines)} for kind, lines in cells]
    return {"cells": found, "metadata": {"deep": [[], {}, [1e5, None, True]]}}


@given(cells=CELLS, as_text=st.booleans(), layout=st.sampled_from(LAYOUTS))
def test_each_character_is_found_in_the_file(
    *, cells: list[tuple[str, list[str]]], as_text: bool, layout: dict[str, Any]
) -> None:
    text = json.dumps(notebook(cells, as_text=as_text), **layout)
    places = NotebookPlaces.read(text.encode())
    file_lines = text.split("\n")
    for cell, (_, lines) in enumerate(cells, 1):
        for number, line in enumerate(lines, 1):
            for column, character in enumerate(line, 1):
                row, offset = places.place(cell, number, column)
                written = json.dumps(character, ensure_ascii=layout.get("ensure_ascii", True))[1:-1]
                assert file_lines[row - 1][offset - 1 :].startswith(written)
            row, offset = places.place(cell, number, len(line) + 1)
            assert file_lines[row - 1][offset - 1] in '\\"'


@given(CELLS)
def test_lines_of_code_count_over_the_code_cells(cells: list[tuple[str, list[str]]]) -> None:
    places = NotebookPlaces.read(json.dumps(notebook(cells, as_text=False)).encode())
    above = 0
    for cell, (kind, lines) in enumerate(cells, 1):
        assert places.code_lines_above(cell) == above
        above += len(lines) if kind == "code" else 0


@pytest.mark.parametrize("ending", ["\r\n", "\r"])
def test_foreign_line_ends_in_the_file_and_in_a_cell(ending: str) -> None:
    text = json.dumps({"cells": [{"cell_type": "code", "source": ["a\r\n", "b\r", "c"]}]}, indent=1)
    places = NotebookPlaces.read(b"\xef\xbb\xbf" + text.replace("\n", ending).encode())
    assert [places.place(1, line, 1) for line in (1, 2, 3)] == [(6, 6), (7, 6), (8, 6)]


def test_the_older_format_and_two_values_of_one_key() -> None:
    old = '{"worksheets": [{"cells": [\n{"cell_type": "code", "input": "x",\n"input": "y\\nz"}]}]}'
    places = NotebookPlaces.read(old.encode())
    assert places.place(1, 2, 1) == (3, 14)


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"cells": [1]}', b"\xff", b'{"cells": [{"source": []}]}'])
def test_a_file_that_changed_since_has_its_first_line(data: bytes) -> None:
    assert NotebookPlaces.read(data).place(1, 3, 2) == (1, 1)
