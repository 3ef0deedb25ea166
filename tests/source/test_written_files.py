"""Files that notebooks write with `%%writefile`: what they hold, and where their lines stand."""

from __future__ import annotations

import json

import pytest

from torchlint.source.written_files import WrittenFile, written_files


def read(*cells: str, **metadata: object) -> tuple[WrittenFile, ...]:
    entries = [{"cell_type": "code", "source": text} for text in cells]
    return written_files(json.dumps({"cells": entries, "metadata": metadata}).encode())


def test_a_cell_becomes_the_file_it_writes_and_lines_stay_where_they_stand() -> None:
    (found,) = read("x = 1", "%%writefile train.py\nimport torch\ny = 2\n")
    source = found.source("nb.ipynb")
    assert found.path == "train.py"
    assert source.lines == ("", "import torch", "y = 2", "")
    assert str(source.locate(3, 1, 3, 6)) == "nb.ipynb:cell 2:3:1"


def test_cells_that_append_follow_and_one_that_does_not_begins_anew() -> None:
    (found,) = read(
        "%%writefile a.py\nold = 1",
        "%%writefile a.py\nx = 1",
        "%%writefile -a a.py\ny = 2",
        "%%file a.py --append\nz = 3",
    )
    source = found.source("nb.ipynb")
    assert source.text == "\nx = 1\n\ny = 2\n\nz = 3"
    assert [str(source.locate(line, 1, line, 2)) for line in (2, 4, 6)] == [
        "nb.ipynb:cell 2:2:1",
        "nb.ipynb:cell 3:2:1",
        "nb.ipynb:cell 4:2:1",
    ]


@pytest.mark.parametrize(
    ("cells", "text"),
    [
        (("%%writefile -a a.py\n    return x",), "\n"),
        (("!wget a.py", "%%writefile -a a.py\n  else:\n    y = 1", "%%file -a a.py\nz = 2"), "\n\n\n\nz = 2"),
        (("%%writefile a.py\ndef f(x):", "%%writefile a.py -a\n    return x"), "\ndef f(x):\n\n    return x"),
        (("%%writefile a.py\nx = 1", "%%writefile --append a.py\n    return x"), "\nx = 1\n\n"),
        (("%%writefile a.py\nx = = 1",), "\nx = = 1"),
        (("%%writefile -a a.py\nx = = 1", "%%writefile a.py\nx = = 2"), "\nx = = 2"),
    ],
)
def test_what_is_appended_need_not_parse_alone(cells: tuple[str, ...], text: str) -> None:
    (found,) = read(*cells)
    assert found.source("nb.ipynb").text == text


@pytest.mark.parametrize(
    ("target", "path"),
    [
        ("src/model.py", "src/model.py"),
        ("./train.py", "train.py"),
        ('"my model.py"', "my model.py"),
        ("/content/src/train.py", "src/train.py"),
        ("/kaggle/working/train.py", "train.py"),
        ("/opt/tools/train.py", "train.py"),
        ("../train.py", "train.py"),
        ("~/train.py", "train.py"),
    ],
)
def test_a_path_is_one_beside_the_notebook(target: str, path: str) -> None:
    assert [found.path for found in read(f"%%writefile {target}\nx = 1")] == [path]


@pytest.mark.parametrize(
    "cell",
    [
        "%%writefile notes.txt\nhello",
        "%%writefile config.yaml\nseed: 1",
        "%%writefile {name}.py\nx = 1",
        "%%writefile $NAME.py\nx = 1",
        "%%writefile\nx = 1",
        "%writefile a.py",
        "x = 1\n%%writefile a.py\ny = 2",
        "%%bash\n%%writefile a.py",
    ],
)
def test_what_is_no_python_file_of_a_known_name_is_none(cell: str) -> None:
    assert read(cell) == ()


def test_a_notebook_of_another_language_or_none_at_all_writes_nothing() -> None:
    assert read("%%writefile a.py\nx = 1", language_info={"name": "julia"}) == ()
    assert written_files(b"%%writefile a.py\nx = 1") == ()
