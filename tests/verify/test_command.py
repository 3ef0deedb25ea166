"""`torchlint verify` as its user meets it: real processes, real torch."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from tests.cli.command import PATIENT

pytestmark = pytest.mark.torch

MODEL = """\
import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--width", type=int, default=8)
args = parser.parse_args()


class Head(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.pad = nn.ReplicationPad2d(1)
        self.body = nn.Conv2d(channels, 4, 3)

    def forward(self, x):
        return self.body(self.pad(x))


class Net(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.first = nn.Conv2d(3, args.width, 3)
        self.norm = nn.BatchNorm2d(args.width)
        self.head = Head(args.width)

    def forward(self, x):
        return self.head(self.norm(self.first(x)).relu())


def pool(values, index):
    return torch.zeros(10, values.shape[1]).index_add(0, index, values)


if __name__ == "__main__":
    raise SystemExit("the script ran")
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "model.py").write_text(MODEL, encoding="utf-8")
    (tmp_path / "torchlint.toml").write_text('torch = "2.13"\n', encoding="utf-8")
    return tmp_path


def verify(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "torchlint", "verify", *PATIENT, *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)


def results(folder: Path, *arguments: str) -> dict[str, dict[str, Any]]:
    done = verify(folder, *arguments, "--output-format", "json")
    assert done.stdout, done.stderr
    record: dict[str, Any] = json.loads(done.stdout)
    assert set(record) == {"environment", "results", "summary"}
    return {result["code"]: result for result in record["results"]}


def test_each_finding_gets_its_verdict_with_lines(project: Path) -> None:
    found = results(project, "model.py", "--extend-select", "TL601")
    traced = found["TL101"]
    assert (traced["verdict"], traced["probe"], traced["device"]) == ("TRACED", "trace", "cpu")
    assert traced["evidence"]["operator"] == "aten.replication_pad2d_backward.default"
    assert traced["evidence"]["forward_line"] == {"path": "model.py", "cell": None, "line": 18} or (
        traced["evidence"]["forward_line"]["line"] == 18
    )
    assert traced["evidence"]["constructor_line"]["line"] == 14
    assert traced["evidence"]["predicts"] == "cuda"
    assert found["TL601"]["verdict"] == "CONFIRMED"
    assert found["TL106"]["verdict"] == "TRACED"
    assert found["TL106"]["target"] == "pool"


def test_what_is_confirmed_makes_the_exit_code_1_and_traces_only_when_asked(project: Path) -> None:
    assert verify(project, "model.py", "--select", "TL601").returncode == 1
    assert verify(project, "model.py", "--select", "TL101").returncode == 0
    assert verify(project, "model.py", "--select", "TL101", "--fail-on", "traced").returncode == 1


def test_a_refusal_fails_only_where_the_mode_is_on(project: Path) -> None:
    text = (
        "from torch import nn\n\n\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.body = nn.Conv2d(3, 4, 1)\n        self.pool = nn.MaxPool2d(3, stride=2, return_indices=True)\n"
        "        self.unpool = nn.MaxUnpool2d(3, stride=2)\n\n    def forward(self, image):\n"
        "        return self.unpool(*self.pool(self.body(image)))\n"
    )
    (project / "unpool.py").write_text(text, encoding="utf-8")
    configuration = 'torch = "2.13"\ndevices = ["cpu", "cuda"]\n'
    (project / "torchlint.toml").write_text(configuration, encoding="utf-8")
    options = ("unpool.py", "--select", "TL105", "--probe", "strict")
    assert results(project, *options)["TL105"]["verdict"] == "RAISED"
    assert verify(project, *options).returncode == 0
    (project / "torchlint.toml").write_text(configuration + 'determinism = "on"\n', encoding="utf-8")
    assert verify(project, *options).returncode == 1


def test_it_says_before_it_runs_that_code_is_executed(project: Path) -> None:
    done = verify(project, "model.py:14")
    assert done.stderr.startswith("executing your code: 1 target of 1 file; ")
    assert "the script ran" not in done.stdout + done.stderr
    assert len(done.stdout.splitlines()) == 2


def test_a_dry_run_shows_the_slice_and_runs_nothing(project: Path) -> None:
    (project / "model.py").write_text(MODEL.replace("args.width, 3)", "args.width, print('ran'))"), encoding="utf-8")
    done = verify(project, "model.py", "--dry-run")
    assert "model.py: module Head (TL101; trace, repeat, strict)" in done.stdout
    assert "   14          self.pad = nn.ReplicationPad2d(1)" in done.stdout
    assert "executing" not in done.stderr
    assert "SystemExit" not in done.stdout


def test_saved_findings_are_verified_as_long_as_they_are_there(project: Path) -> None:
    checked = subprocess.run(
        [sys.executable, "-m", "torchlint", "check", "model.py", "--select", "TL101", "--output-format", "json"],
        cwd=project,
        capture_output=True,
        check=False,
    )
    (project / "findings.json").write_bytes(checked.stdout)
    assert list(results(project, "model.py", "--from", "findings.json")) == ["TL101"]
    (project / "model.py").write_text("\n" + MODEL, encoding="utf-8")
    done = verify(project, "model.py", "--from", "findings.json")
    assert "1 saved finding not there any more" in done.stderr


def test_a_class_can_be_named_whatever_was_found(project: Path) -> None:
    done = verify(project, "model.py::Net", "--probe", "repeat", "--probe", "shapes", "--runs", "3")
    assert [line.split()[1:3] for line in done.stdout.splitlines()[:2]] == [["Net", "repeat"], ["Net", "shapes"]]
    assert verify(project, "model.py::Nothing").returncode == 2


def test_what_cannot_be_built_asks_for_words_and_takes_them(project: Path) -> None:
    (project / "hard.py").write_text(
        "import torch\nfrom torch import nn\n\n\nclass Hard(nn.Module):\n    def __init__(self, secret):\n"
        "        super().__init__()\n        assert len(secret.split()) == 2\n"
        "        self.body = nn.Conv2d(3, 4, 1)\n\n"
        "    def forward(self, x):\n        return torch.nn.functional.interpolate(self.body(x), scale_factor=2.0,"
        " mode='bilinear')\n",
        encoding="utf-8",
    )
    assert "1 target needs configuration to be built" in verify(project, "hard.py").stdout
    skipped = results(project, "hard.py")["TL103"]
    assert skipped["verdict"] == "SKIPPED"
    assert '[verify."hard:Hard"]' in skipped["evidence"]["configure"]
    with (project / "torchlint.toml").open("a", encoding="utf-8") as file:
        file.write('[verify."hard:Hard"]\nargs = ["open sesame"]\ninputs = ["float32[2,3,8,8]"]\n')
    told = results(project, "hard.py")["TL103"]
    assert told["verdict"] == "TRACED"
    assert told["evidence"]["inputs"] == ["float32[2,3,8,8]"]


def test_a_target_that_crashes_takes_no_other_down(project: Path) -> None:
    (project / "crash.py").write_text(
        "import os\nfrom torch import nn\n\nos.abort\n\n\nclass Bad(nn.Module):\n    def __init__(self):\n"
        "        super().__init__()\n        self.body = nn.Conv2d(3, 4, 1)\n"
        "        self.pad = nn.ReplicationPad2d(1)\n\n"
        "    def forward(self, x):\n        os.abort()\n        return self.pad(self.body(x))\n",
        encoding="utf-8",
    )
    found = json.loads(verify(project, ".", "--select", "TL101", "--output-format", "json").stdout)["results"]
    assert {(each["path"], each["verdict"]) for each in found} == {("model.py", "TRACED"), ("crash.py", "SKIPPED")} or {
        (each["path"], each["verdict"]) for each in found
    } == {("model.py", "TRACED"), ("crash.py", "KERNEL-ONLY")}


def test_check_shows_the_verdict_until_the_code_changes(project: Path) -> None:
    verify(project, "model.py", "--select", "TL101")
    check = [sys.executable, "-m", "torchlint", "check", "model.py", "--select", "TL101"]
    shown = subprocess.run(check, cwd=project, capture_output=True, text=True, check=False).stdout
    assert "[TRACED]" in shown
    (project / "model.py").write_text("# moved down by a line\n" + MODEL, encoding="utf-8")
    assert "[TRACED]" in subprocess.run(check, cwd=project, capture_output=True, text=True, check=False).stdout
    (project / "model.py").write_text(MODEL.replace("Pad2d(1)", "Pad2d(2)"), encoding="utf-8")
    assert "[TRACED]" not in subprocess.run(check, cwd=project, capture_output=True, text=True, check=False).stdout


HEAD = MODEL[MODEL.index("class Head") : MODEL.index("def pool")].replace("args.width", "8")


def notebook(folder: Path, *sources: str) -> str:
    """A notebook of some text and these cells, by its name."""
    code: dict[str, Any] = {"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": []}
    cells: list[dict[str, Any]] = [{"cell_type": "markdown", "metadata": {}, "source": "# A model"}]
    cells += [{**code, "source": source} for source in sources]
    written = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (folder / "demo.ipynb").write_text(json.dumps(written), encoding="utf-8")
    return "demo.ipynb"


def test_a_notebook_counts_lines_in_its_cells(project: Path) -> None:
    name = notebook(project, "%matplotlib inline\nimport torch\nfrom torch import nn", HEAD)
    found = results(project, name)["TL101"]
    assert (found["cell"], found["line"]) == (3, 4)
    assert found["evidence"]["constructor_line"] == {"path": "demo.ipynb", "cell": 3, "line": 4}


def test_a_class_of_a_notebook_reads_what_earlier_cells_make_of_data(project: Path) -> None:
    data = "rows = open('/data/rows.csv').read().split()\nwidth = len(rows)\nfor depth in range(3):\n    steps = depth"
    loop = "for x in rows:\n    F.cross_entropy(Head()(x), x).backward()"
    training = f"steps = torch.optim.SGD(Head().parameters(), 0.1)\n{loop}"
    imports = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\ntorch.manual_seed(0)"
    name = notebook(project, imports, data, HEAD.replace("8", "width"), training)
    found = results(project, name)
    assert found["TL101"]["verdict"] == "TRACED"
    assert "with invented width=32" in found["TL101"]["executed"]["built_by"]
    assert "FileNotFoundError" in found["TL101"]["executed"]["built_by"]
    assert found["TL108"]["reason"].startswith("line 3 of cell 5 is a statement")
    assert found["TL108"]["target"] == "line 3 of cell 5"
