"""What `verify --dry-run` shows."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest

from torchlint.diagnostics import Report
from torchlint.recording.messages import Code, Hooks, ProbedFinding, Target
from torchlint.report.verify_plan import plan_lines
from torchlint.source.text import Source, read_source
from torchlint.verify.loading import File
from torchlint.verify.plan import Plan
from torchlint.verify.run import Planned


def make_plan(text: str, source: Source | None = None, **changes: Any) -> Plan:  # noqa: ANN401 - any field
    source = source or Source("src/model.py", text, tuple(text.split("\n")))
    fields: dict[str, Any] = {
        "code": Code(path="/work/src/model.py", module="model", text=text),
        "target": Target(kind="module", name="Pool", enclosing=("Net",)),
        "findings": (
            ProbedFinding(index=0, code="TL106", line=3, end_line=3, probes=("trace", "repeat")),
            ProbedFinding(index=1, code="TL601", line=4, end_line=4, probes=("trace", "algebra")),
        ),
        "file": File(Path(source.path), source, ast.parse("")),
        "hooks": Hooks(),
    }
    return Plan(**{**fields, **changes})


def shown(*plans: Plan, without_probe: int = 0) -> list[str]:
    return list(plan_lines(Planned(Report(()), {}, plans, without_probe)))


def test_each_target_is_shown_with_its_findings_probes_and_lines() -> None:
    assert shown(make_plan("import torch\n\nclass Pool(torch.nn.Module):\n    pass   \n"), without_probe=2) == [
        "src/model.py: module Pool (TL106, TL601; trace, repeat, algebra)",
        "  within Net, if one of them can be built",
        "      1  import torch",
        "      3  class Pool(torch.nn.Module):",
        "      4      pass",
        "",
        "2 more findings that running the code cannot verify",
    ]


def test_a_named_target_has_its_probes_alone() -> None:
    finding = ProbedFinding(index=0, code="", line=1, end_line=1, probes=("trace",))
    assert shown(make_plan("x = 1", findings=(finding,)), without_probe=1)[::4] == [
        "src/model.py: module Pool (trace)",
        "1 more finding that running the code cannot verify",
    ]


def test_nothing_to_execute_is_said() -> None:
    assert shown() == ["nothing would be executed: running the code can verify no finding"]


@pytest.fixture
def notebook(tmp_path: Path) -> Source:
    path = tmp_path / "a.ipynb"
    code: dict[str, Any] = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": "# x"},
        {**code, "source": "import torch"},
        {**code, "source": "x = 1\ny = 2"},
    ]
    path.write_text(json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}))
    return read_source(path, "a.ipynb")


def test_lines_of_a_notebook_have_their_cell(notebook: Source) -> None:
    lines = [line.split() for line in shown(make_plan(notebook.text, notebook)) if line.startswith("    ")]
    assert lines == [["2:1", "import", "torch"], ["3:1", "x", "=", "1"], ["3:2", "y", "=", "2"]]


def test_the_places_of_a_notebook_are_those_of_its_lines(notebook: Source) -> None:
    told = dict(zip(notebook.lines, notebook.places, strict=True))
    assert (told["import torch"], told["x = 1"], told["y = 2"]) == ((2, 1), (3, 1), (3, 2))
    assert Source("a.py", "x = 1\n", ("x = 1", "")).places == ()


def test_control_characters_are_written_out() -> None:
    hostile = "a\x1b[31m\u202e\r"
    plan = make_plan(f"x = '{hostile}'", Source(hostile, "x", ("x",)), target=Target(kind="object", name=hostile))
    lines = shown(plan)
    assert all(line.isprintable() for line in lines)
    assert sum("\\x1b[31m\\u202e" in line for line in lines) == 2
