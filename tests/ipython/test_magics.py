"""The magics in a real kernel: what a notebook shows below its cells."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from tests.cli.command import run_torchlint

SETUP = ["%load_ext torchlint", "import os\nimport torch\nfrom torch import nn"]
PADDED = "pad = nn.ReplicationPad2d(2)"
"""TL101 at column 7."""
LISTED = "labels = {name: index for index, name in enumerate(os.listdir('data'))}"
"""TL401."""
Shown = list[str]
Notebook = Callable[..., Shown]


@pytest.fixture
def notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Notebook:
    """Runs cells in a kernel of their own; gives what each shows, errors as `error: NAME: VALUE`."""
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    (tmp_path / "data").mkdir()

    def run(*cells: str) -> Shown:
        document = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in (*SETUP, *cells)])
        client = NotebookClient(
            document, timeout=600, allow_errors=True, resources={"metadata": {"path": str(tmp_path)}}
        )
        client.execute()
        return ["".join(map(_text, cell.outputs)) for cell in document.cells[len(SETUP) :]]

    return run


def _text(output: nbformat.NotebookNode) -> str:
    if output.output_type == "error":
        return f"error: {output.ename}: {output.evalue}"
    return str(output.text if output.output_type == "stream" else output.data["text/plain"])


def found(shown: str) -> list[str]:
    """`In [3]:2 TL101` of each finding."""
    return [f"{place} {code}" for place, code in re.findall(r"^(In \[\d+\]:\d+):\d+: (TL\d{3})", shown, re.MULTILINE)]


@pytest.mark.slow
def test_a_cell_shows_its_own_findings_and_runs_as_it_would(notebook: Notebook) -> None:
    first, value, failing, awaited = notebook(
        PADDED,
        f"%%torchlint\n{LISTED}\nlen(labels)",
        "%%torchlint\n1 / 0",
        "%%torchlint --select TL4\nimport asyncio\nawait asyncio.sleep(0, 'awaited')",
    )
    assert first == ""
    assert found(value) == ["In [4]:2 TL401"]
    assert value.endswith("\n0")
    assert failing == "torchlint: nothing found in this cell\nerror: ZeroDivisionError: division by zero"
    assert awaited == "torchlint: nothing found in this cell\n'awaited'"


@pytest.mark.slow
def test_a_line_shows_what_has_run_so_far(notebook: Notebook) -> None:
    before, *_, after = notebook("%torchlint", PADDED, LISTED, PADDED, "%torchlint --ignore set-order")
    assert before == "torchlint: nothing found in the cells that have run\n"
    assert found(after) == ["In [5]:1 TL401", "In [6]:1 TL101"], "a cell that ran again counts where it ran last"
    assert "in this notebook" in after


@pytest.mark.slow
def test_settings_of_the_project_and_of_the_line_hold(notebook: Notebook, tmp_path: Path) -> None:
    (tmp_path / "torchlint.toml").write_text('ignore = ["TL101"]\n', encoding="utf-8")
    configured, selected, unknown, misspelt = notebook(
        f"%%torchlint\n{PADDED}\n{LISTED}",
        f"%%torchlint --select TL1,TL4 --ignore TL401\n{PADDED}",
        "%torchlint --select TL999",
        "%torchlint --selct TL1",
    )
    assert found(configured) == ["In [3]:3 TL401"]
    assert found(selected) == ["In [4]:2 TL101"]
    assert "unknown rule `TL999`" in unknown
    assert "unrecognized arguments: --selct" in misspelt


@pytest.mark.slow
def test_it_can_be_unloaded_and_loaded_again(notebook: Notebook) -> None:
    *_, gone, back = notebook(
        "%reload_ext torchlint", "%unload_ext torchlint", "%torchlint", "%load_ext torchlint\n%torchlint"
    )
    assert "not found" in gone
    assert back == "torchlint: nothing found in the cells that have run\n"


def test_a_saved_notebook_with_the_magic_is_checked(tmp_path: Path) -> None:
    cells = [*SETUP, f"%%torchlint --select TL1\n{PADDED}"]
    document = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    (tmp_path / "study.ipynb").write_text(json.dumps(document), encoding="utf-8")
    assert "study.ipynb:cell 3:2:7: TL101" in run_torchlint("check", "study.ipynb", cwd=tmp_path).stdout
