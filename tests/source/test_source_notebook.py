"""Notebooks: cells joined, magics out of the way, positions kept."""

from __future__ import annotations

import ast
import json
import sys
from typing import Any

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchlint.errors import SkippedSource, UnreadableSource
from torchlint.source.magics import replace_magics
from torchlint.source.syntax import parse_python
from torchlint.source.text import Source, source_from_bytes


def read(notebook: object) -> Source:
    return source_from_bytes(json.dumps(notebook).encode(), "nb.ipynb", notebook=True)


def cells(*texts: str | list[str], **metadata: object) -> Source:
    return read({"cells": [{"cell_type": "code", "source": text} for text in texts], "metadata": metadata})


def plain(text: str) -> str:
    source = cells(text)
    assert source.problems == ()
    parse_python(source)
    return source.text


def test_code_cells_are_joined_and_counted_among_all_cells() -> None:
    source = read(
        {
            "cells": [
                {"cell_type": "markdown", "source": "# Title"},
                {"cell_type": "code", "source": ["import torch\n", "x = 1"], "execution_count": 4},
                {"cell_type": "raw", "source": "no Python"},
                {"cell_type": "code", "source": "y = 2\n", "execution_count": None},
            ]
        }
    )
    assert source.lines == ("import torch", "x = 1", "y = 2", "")
    assert source.cells is not None
    assert [(c.index, c.first_line, c.line_count, c.execution_count) for c in source.cells] == [
        (2, 1, 2, 4),
        (4, 3, 2, None),
    ]
    assert str(source.locate(3, 1, 3, 6)) == "nb.ipynb:cell 4:1:1"


def test_a_span_over_two_cells_ends_with_its_first() -> None:
    place = cells("a = 1\nbc = 2", "d").locate(1, 1, 3, 2)
    assert (place.cell, place.line, place.end_line, place.end_column) == (1, 1, 2, 7)


def test_a_notebook_of_nbformat_reads_the_same() -> None:
    written: Any = nbformat  # it carries no types
    cells = [written.v4.new_code_cell("x = 1"), written.v4.new_markdown_cell("hi")]
    data = written.writes(written.v4.new_notebook(cells=cells)).encode()
    assert source_from_bytes(data, "a.ipynb", notebook=True).text == "x = 1"


def test_nbformat_3_keeps_its_cells_in_worksheets() -> None:
    code = {"cell_type": "code", "language": "python", "input": ["x = 1\n", "y"], "prompt_number": 7}
    source = read({"nbformat": 3, "worksheets": [{"cells": [code]}, {"cells": [code]}], "metadata": {"name": ""}})
    assert source.lines == ("x = 1", "y", "x = 1", "y")
    assert source.cells is not None
    assert source.cells[0].execution_count == 7


@pytest.mark.parametrize(
    "metadata",
    [
        {"language_info": {"name": "R"}},
        {"kernelspec": {"language": "julia", "name": "julia-1.9"}},
        {"kernelspec": {"name": "ir"}},
    ],
)
def test_other_languages_are_skipped_with_a_note(metadata: dict[str, Any]) -> None:
    with pytest.raises(SkippedSource, match="not Python"):
        cells("x <- 1", **metadata)


def test_a_notebook_is_measured_by_its_code_and_not_by_its_pictures() -> None:
    picture = {"output_type": "display_data", "data": {"image/png": "A" * 5_000}, "metadata": {}}
    cell = {"cell_type": "code", "source": "x = 1\ny = 2\n", "outputs": [picture], "metadata": {}}
    data = json.dumps({"cells": [cell], "metadata": {}}).encode()
    assert source_from_bytes(data, "a.ipynb", notebook=True, largest=12).text == "x = 1\ny = 2\n"
    with pytest.raises(SkippedSource, match=r"12 bytes of code is above max-file-size \(11\)"):
        source_from_bytes(data, "a.ipynb", notebook=True, largest=11)


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="needs a Python without the syntax")
def test_a_cell_in_newer_python_is_skipped_aloud_and_the_others_are_read() -> None:
    source = cells("x = 1", 'y = t"{x}"', "z = 2")
    assert [(cell, reason.split(",")[0]) for cell, reason in source.skipped] == [(2, "line 1 needs Python >= 3.14")]
    assert source.text.split("\n") == ["x = 1", "", "z = 2"]


def test_a_cell_its_editor_marks_as_another_language_is_blank() -> None:
    cell = {"cell_type": "code", "source": "SELECT 1\nFROM x", "metadata": {"vscode": {"languageId": "sql"}}}
    assert read({"cells": [cell]}).lines == ("", "")


def test_broken_json_is_placed_by_json() -> None:
    with pytest.raises(UnreadableSource, match="not valid JSON") as caught:
        source_from_bytes(b'{"cells": [\n  {]}', "a.ipynb", notebook=True)
    assert (caught.value.line, caught.value.column) == (2, 4)


@pytest.mark.parametrize(
    "value",
    [
        [],
        1,
        None,
        {},
        {"cells": None},
        {"cells": {}},
        {"cells": [1]},
        {"cells": [{}]},
        {"cells": [{"cell_type": 3}]},
        {"cells": [{"cell_type": "code", "source": 3}]},
        {"cells": [{"cell_type": "code", "source": [1]}]},
        {"cells": [{"cell_type": "code", "source": "", "metadata": 3}]},
        {"cells": [], "metadata": []},
        {"cells": [], "metadata": {"kernelspec": 1}},
        {"cells": [], "metadata": {"language_info": "python"}},
        {"worksheets": 1},
        {"worksheets": [1]},
        {"worksheets": [{"cells": 1}]},
    ],
)
def test_wrong_types_are_no_notebook(value: object) -> None:
    with pytest.raises(UnreadableSource, match="not a notebook"):
        read(value)


def test_odd_json_is_refused_and_never_a_crash() -> None:
    for data in (b"", b"[" * 200_000, b'{"cells": ' + b"1" * 5000 + b"}", b"\xff", b'{"cells": "\x00"}'):
        with pytest.raises(UnreadableSource):
            source_from_bytes(data, "a.ipynb", notebook=True)


def test_a_cell_that_does_not_parse_is_one_problem_and_blank() -> None:
    source = cells("a = 1", "b = 2\nc = = 3", "d = 4")
    assert source.lines == ("a = 1", "", "", "d = 4")
    (problem,) = source.problems
    assert (problem.line, problem.column) == (3, 5)
    assert str(source.locate(problem.line, problem.column, problem.line, problem.column)) == "nb.ipynb:cell 2:2:5"


@pytest.mark.parametrize("text", ["x = '\ud800'", "x = 1\0", "f(", "x = \\", "'''"])
def test_cells_open_at_their_end_do_not_reach_the_next(text: str) -> None:
    source = cells(text, "d = 4")
    assert len(source.problems) == 1
    assert source.lines == ("", "d = 4")


@pytest.mark.parametrize(
    "text", ["await f()", "async with a as b:\n    pass", "x = 1;", "plt.show();", "[await x async for x in y]"]
)
def test_what_is_legal_in_a_cell_stays_as_it_is(text: str) -> None:
    assert plain(text) == text


def test_an_indented_cell_is_dedented_and_its_columns_are_counted_back() -> None:
    source = cells("    x = 1\n    y = f(x)")
    assert source.text == "x = 1\ny = f(x)"
    assert source.locate(2, 5, 2, 9).column == 9


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("!pip install torch\nx = 1", "\nx = 1"),
        ("%matplotlib inline\nx = 1", "\nx = 1"),
        ("!!ls\n?print\nprint?\ntorch.nn??\n%time?\nx = 1", "\n\n\n\n\nx = 1"),
        ("!pip install \\\n  a \\\n  b\nx = 1", "\n\n\nx = 1"),
        ("if a:\n    !ls\nelse:\n    %cd x\ny", "if a:\n    pass\nelse:\n    pass\ny"),
        ("x = !ls\ny = %pwd", "x = None\ny = None"),
        ("a, b = !ls\nx.y = %who_ls\nd['k'] = !ls", "a, b = None\nx.y = None\nd['k'] = None"),
        ("x = !ls \\\n  -l\ny", "x = None\n\ny"),
        ("pip install torch\ncd ../data\nx", "\n\nx"),
        ("%%bash\nls\nexit 1", "\n\n"),
        ("%%writefile a.py\nimport torch\ntorch.rand(1)", "\n\n"),
        ("%%html\n<b>'''</b>", "\n"),
        ("%%time\nx = 1", "\nx = 1"),
        ("%%capture out\n%%time\n!ls\nx = 1", "\n\n\nx = 1"),
        ("%%timeit -n 10\nx = 1", "\nx = 1"),
        ("\n%%prun\nx = 1", "\n\nx = 1"),
        ("%time x = f()", "True; x = f()"),
        ("%time await f()", "True; await f()"),
        ("if a:\n  %time f()", "if a:\n  True; f()"),
        ("%timeit -n 10 -r3 f(x)", "True            ; f(x)"),
        ("r = %timeit -o f(x)", "r =            f(x)"),
        ("%time for i in x: f(i)", "for i in x: f(i)"),
        ("%time x = a + \\\n  b", "True; x = a + \\\n  b"),
        ("%time", ""),
        ("%time a b c", ""),
    ],
)
def test_magics_become_python_of_the_same_shape(text: str, expected: str) -> None:
    assert plain(text) == expected


def test_a_timed_statement_keeps_its_columns() -> None:
    for text in ("%time x = f()", "%timeit x = f()", "%timeit -n 5 x = f()", "%prun -l 5 x = f()", "  %time  x = f()"):
        source = cells(f"if 1:\n{text}\n  y" if text.startswith(" ") else text)
        calls = [node for node in ast.walk(parse_python(source)) if isinstance(node, ast.Call)]
        assert [call.col_offset for call in calls] == [text.index("f()")]


def test_strings_and_continued_lines_that_look_like_magics_are_left_alone() -> None:
    text = 'sql = """\n!keep\n%keep "quoted\n?\n"""\nx = (a\n% b)\ny = a \\\n% b\nz = \'\'\'%\n!\n\'\'\''
    assert plain(text) == text
    assert plain(text + "\n!ls") == text + "\n"
    assert plain("!ls\n" + text) == "\n" + text


def test_hash_signs_in_strings_and_brackets_in_comments_do_not_mislead_the_scanner() -> None:
    assert plain('x = \'#(\'  # ([{ \\\n!ls\ny = """a\\""""\n!ls') == 'x = \'#(\'  # ([{ \\\n\ny = """a\\""""\n'


def test_environment_magics_are_settings_with_their_line() -> None:
    source = cells(
        "x = 1",
        "%env A=1\n%set_env B :4096:8\n%env\n%env C\nx = %env D=2\n!export E='a b' F=2 && run\nif x:\n    %env G = 3",
    )
    found = [(s.name, s.value, s.line, s.in_process) for s in source.environment]
    assert found == [
        ("A", "1", 2, True),
        ("B", ":4096:8", 3, True),
        ("E", "a b", 7, False),
        ("F", "2", 7, False),
        ("G", "3", 9, True),
    ]


def test_shell_cells_export_to_their_child_only() -> None:
    source = cells("%%bash\n# export NO=1\nexport CUBLAS_WORKSPACE_CONFIG=:4096:8; python a.py\necho export")
    assert [(s.name, s.value, s.line, s.in_process) for s in source.environment] == [
        ("CUBLAS_WORKSPACE_CONFIG", ":4096:8", 3, False)
    ]


def test_an_environment_magic_inside_a_string_sets_nothing() -> None:
    assert cells("x = '''\n%env A=1\n'''\n!ls").environment == ()


@given(st.text(alphabet="%!?#'\"\\()[] \nab=timeenv1;", max_size=60))
def test_replacing_magics_keeps_the_line_count(text: str) -> None:
    assert replace_magics(text).text.count("\n") == text.count("\n")


@given(
    st.lists(
        st.sampled_from(
            ["!ls", "%env A=1", "x = 1", "'''", "if x:", "    y", "    !ls", "%%time", "f(\\", ")", "%time f()"]
        ),
        max_size=8,
    )
)
def test_every_cell_parses_or_is_a_problem(lines: list[str]) -> None:
    source = cells("\n".join(lines), "z = 1")
    parse_python(source)
    assert len(source.lines) == max(len(lines), 1) + 1
    assert source.lines[-1] == "z = 1"
