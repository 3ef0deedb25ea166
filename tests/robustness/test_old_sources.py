"""Projects with code for Pythons of old: it is said once, or read, and hides nothing of the other files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from torchlint.diagnostics import Report, Severity
from torchlint.engine.run import RunOptions, run

HEAD = "import torch\nfrom torch import nn\n\n"
CALL = 'nn.Conv2d(3, 3, 3, padding=1, padding_mode="replicate")'


def check(folder: Path, files: dict[str, str]) -> Report:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return run([folder], RunOptions(jobs=1))


def test_files_for_python_2_are_one_note_that_fails_no_run(tmp_path: Path) -> None:
    files = {"b.py": "print 'a'\n", "a.py": "raise E, 'x'\n", "part/c.py": "try:\n    x\nexcept (A, B), e:\n    x\n"}
    report = check(tmp_path, {**files, "good.py": f"{HEAD}layer = {CALL}\n"})
    (note, finding) = report.diagnostics
    assert (note.code, note.severity, note.location.path) == ("TL001", Severity.INFO, f"{tmp_path}/a.py")
    assert (
        note.message
        == f"3 files are Python 2 and were not read: {tmp_path}/a.py, {tmp_path}/b.py, {tmp_path}/part/c.py"
    )
    assert [each.location.path for each in note.related] == [f"{tmp_path}/b.py", f"{tmp_path}/part/c.py"]
    assert finding.code == "TL101"


def test_one_file_for_python_2_is_told_as_one(tmp_path: Path) -> None:
    (note,) = check(tmp_path, {"a.py": "print 'a'\n"}).diagnostics
    assert note.message == f"1 file is Python 2 and was not read: {tmp_path}/a.py"


def test_many_files_for_python_2_are_counted(tmp_path: Path) -> None:
    (note,) = check(tmp_path, {f"a{n:02}.py": "print 'a'\n" for n in range(20)}).diagnostics
    assert note.message.startswith("20 files are Python 2 and were not read: ")
    assert note.message.endswith(f"{tmp_path}/a07.py, and 12 more")


def test_a_broken_file_beside_them_is_an_error(tmp_path: Path) -> None:
    report = check(tmp_path, {"a.py": "print 'a'\n", "b.py": "x = = 3\n"})
    assert [(each.code, each.severity) for each in report.diagnostics] == [
        ("TL001", Severity.INFO),
        ("TL001", Severity.ERROR),
    ]


def test_a_text_that_the_user_names_is_no_python_2(tmp_path: Path) -> None:
    readme, script = tmp_path / "README.md", tmp_path / "train"
    readme.write_text("# Training\n\nSet the seed (`train.seed`) first.\n")
    script.write_text("#!/usr/bin/python\nprint 'a'\n")
    (text, old) = run([readme, script], RunOptions(jobs=1)).diagnostics
    assert (text.severity, text.message) == (Severity.ERROR, "cannot be checked: does not parse as Python")
    assert (old.severity, old.message) == (Severity.INFO, f"1 file is Python 2 and was not read: {script}")


def test_a_file_that_is_ignored_is_not_told_of(tmp_path: Path) -> None:
    (tmp_path / "torchlint.toml").write_text('[per-file-ignores]\n"a.py" = ["TL001"]\n')
    (note,) = check(tmp_path, {"a.py": "print 'a'\n", "b.py": "print 'b'\n"}).diagnostics
    assert note.message == f"1 file is Python 2 and was not read: {tmp_path}/b.py"


OLD = {
    "an argument": f"def f(x):\n    return x.cuda(async=True)\n\n\nlayer = {CALL}\n",
    "a parameter": f"def f(x, async=True):\n    return f'{{x}}', x.cuda(async=async)\n\n\nlayer = {CALL}\n",
    "an attribute": f"class A:\n    def f(self):\n        self.async = {CALL}\n",
    "a variable": f"async = {CALL}\n",
    "await": f"await = {CALL}\n",
    "the place of a finding": f"x.f(async={CALL})\n",
}


@pytest.mark.parametrize("code", OLD.values(), ids=OLD)
def test_code_that_has_async_as_a_name_is_checked(code: str, tmp_path: Path) -> None:
    (found,) = check(tmp_path, {"a.py": HEAD + code}).diagnostics
    line = (HEAD + code).split("\n")[found.location.line - 1]
    assert found.code == "TL101"
    assert line[found.location.column - 1 : found.location.end_column - 1] == CALL


def test_a_finding_whose_code_has_such_a_name_over_several_lines_is_quoted(tmp_path: Path) -> None:
    code = "def f(async, x, y):\n    return x.index_add(\n        0,\n        async, y)\n"
    (found,) = check(tmp_path, {"a.py": HEAD + code}).diagnostics
    assert (found.code, found.location.line, found.location.column) == ("TL106", 5, 12)
    assert "async" in found.message


def test_cells_of_a_notebook_are_read_so_too(tmp_path: Path) -> None:
    cells: list[dict[str, object]] = [
        {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": text}
        for text in ("import torch\nx = y.cuda(async=True)", f"from torch import nn\nlayer = {CALL}", "print 'a'")
    ]
    text = json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells})
    found = check(tmp_path, {"a.ipynb": text}).diagnostics
    assert [(each.code, each.location.cell, each.severity) for each in found] == [
        ("TL101", 2, Severity.WARNING),
        ("TL001", 3, Severity.INFO),
    ]


@pytest.mark.parametrize("name", ["a.py", "A.PY", "a.pyw", "a"])
def test_capital_letters_and_no_suffix_are_names_of_code(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("print 'a'\n")
    (old,) = run([tmp_path / name], RunOptions(jobs=1)).diagnostics
    assert old.message == f"1 file is Python 2 and was not read: {tmp_path / name}"
