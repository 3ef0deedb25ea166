"""Classes that a user names in projects as they are laid out: abstract ones, and imports that only a program finds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from tests.cli.command import PATIENT, run_torchlint
from tests.verify.share import outcome
from tests.verify.test_walks import project

pytestmark = pytest.mark.torch


def result_of(folder: Path, place: str) -> dict[str, Any]:
    done = run_torchlint("verify", *PATIENT, place, "--probe", "trace", "--output-format", "json", cwd=folder)
    (found,) = json.loads(done.stdout)["results"]
    return dict(found)


ABSTRACT = """
    from torch import nn


    class Tower(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.body = nn.Linear(width, width)

        def features(self):
            raise NotImplementedError

        def forward(self, x):
            return self.features()(self.body(x))
    """
CONCRETE = """
    from torch import nn

    from nets.base import Tower


    class Deep(Tower):
        def __init__(self, width=12):
            super().__init__(width)
            self.last = nn.Linear(width, 3)

        def features(self):
            return self.last
    """


def test_an_abstract_class_runs_as_one_of_another_file(tmp_path: Path) -> None:
    project(tmp_path, {"nets/__init__.py": "", "nets/base.py": ABSTRACT, "nets/deep.py": CONCRETE})
    executed = result_of(tmp_path, "nets/base.py::Tower")["executed"]
    assert executed["construction"] == "Deep()"
    assert executed["passes"] == "forward and backward"


def test_an_abstract_class_that_nothing_derives_from_says_why(tmp_path: Path) -> None:
    project(tmp_path, {"nets/__init__.py": "", "nets/base.py": ABSTRACT})
    assert "NotImplementedError" in result_of(tmp_path, "nets/base.py::Tower")["reason"]


NET = """
    from torch import nn

    from gates import Gate
    from tables import ROWS


    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.Linear(6, 3)
            self.gate = Gate()
            self.rows = ROWS

        def forward(self, x):
            return self.gate(self.body(x))
    """
GATES = """
    from torch import nn


    class Gate(nn.Module):
        def forward(self, x):
            return x.sigmoid()
    """


@pytest.mark.parametrize(
    ("tables", "stubs"), [("ROWS = 3\n", []), ("ROWS = open('/nowhere/rows.txt').readlines()\n", ["tables"])]
)
def test_imports_from_a_folder_on_the_path(tmp_path: Path, tables: str, stubs: list[str]) -> None:
    """A module beside it that reads a file which is not here is stood in for, and named."""
    project(tmp_path, {"train/net.py": NET, "train/tools/gates.py": GATES, "train/tools/tables.py": tables})
    executed = result_of(tmp_path, "train/net.py::Net")["executed"]
    assert executed["passes"] == "forward and backward"
    assert executed["stubs"] == stubs


def test_what_computes_with_a_module_that_cannot_be_imported_is_skipped(tmp_path: Path) -> None:
    broken = GATES.replace("class Gate", "ROWS = open('/nowhere/rows.txt')\n\n\n    class Gate")
    project(tmp_path, {"train/net.py": NET, "train/tools/gates.py": broken, "train/tools/tables.py": "ROWS = 3\n"})
    result = result_of(tmp_path, "train/net.py::Net")
    assert result["verdict"] == "SKIPPED"
    assert "gates.Gate, which cannot be imported" in result["reason"]


def test_what_leans_on_a_missing_library_is_told_without_trying_on(tmp_path: Path) -> None:
    text = NET.replace("gates", "absent_gates").replace("    from tables import ROWS\n", "    ROWS = 3\n")
    project(tmp_path, {"net.py": text})
    result = result_of(tmp_path, "net.py::Net")
    assert result["reason"].startswith("it computes with absent_gates.Gate, which is not installed")


def test_an_empty_forward_is_told_and_counts_for_nothing(tmp_path: Path) -> None:
    project(tmp_path, {"net.py": "from torch import nn\nclass Net(nn.Module):\n    def forward(self):\n        pass\n"})
    result = result_of(tmp_path, "net.py::Net")
    assert result["reason"] == "it ran, and called no torch function from this file"
    assert outcome(result) == "nothing of torch"


def test_no_further_class_is_tried_when_the_time_is_short(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Else the process would be ended, and what the class itself lacks would stay untold."""
    from torchlint.recording import entry
    from torchlint.recording.errors import CannotRun
    from torchlint.recording.messages import Code, Holder, Request, Target

    code = Code(path=str(tmp_path / "net.py"), module="net", text="")
    holders = tuple(Holder(name=name, code=code) for name in ("One", "Other"))
    clock, tried = iter([0.0, 10.0, 50.0, 50.0]), []

    def refuse(*_: object) -> None:
        raise CannotRun("inputs", "the class itself")

    def as_called(_request: Request, holder: Holder) -> None:
        tried.append(holder.name)
        refuse()

    monkeypatch.setattr(entry, "build", refuse)
    monkeypatch.setattr(entry, "load", lambda _code, **_options: None)
    monkeypatch.setattr(entry, "as_called", as_called)
    monkeypatch.setattr("torchlint.recording.clock.monotonic", lambda: next(clock))
    request = Request(code=code, target=Target(kind="module", name="Net", holders=holders), findings=(), seconds=60.0)
    with pytest.raises(CannotRun, match="the class itself"):
        entry._alone(request, is_flagged=False)
    assert tried == ["One"]


def test_what_only_reads_by_index_is_no_evidence(tmp_path: Path) -> None:
    """The backward pass of `index_add` reads by the same index, which is steady."""
    text = """
    import torch
    from torch import nn


    class Sums(nn.Module):
        def forward(self, x, index):
            return torch.zeros(4, x.shape[1]).index_add(0, index, x)
    """
    project(tmp_path, {"net.py": text})
    result = result_of(tmp_path, "net.py::Sums")
    assert result["verdict"] == "TRACED"
    assert result["evidence"]["operator"].startswith("aten.index_add")


GRID = """
    import torch
    from torch import nn


    class Grid(nn.Module):
        def __init__(self, rows):
            super().__init__()
            self.rows = nn.Parameter(torch.zeros(rows, 4))

        def forward(self, places, values):
            return self.rows.index_add(0, places, values)


    def grid():
        return Grid(6)
    """
DEMO = """
    import torch as t

    from nets.grid import grid


    def test_grid(device):
        model = grid().to(device)
        places = t.tensor([0, 3, 3])
        assert model(places, values=t.ones(3, 4)).shape == (6, 4)
    """


def test_inputs_come_from_a_test_of_the_project(tmp_path: Path) -> None:
    project(tmp_path, {"nets/__init__.py": "", "nets/grid.py": GRID, "tests/test_grid.py": DEMO})
    found = result_of(tmp_path, "nets/grid.py::Grid")
    assert found["executed"]["inputs"] == ["int64[3]", "values=float32[3,4]"]
    assert found["executed"]["built_by"] == "literal arguments at grid.py:16, inputs at test_grid.py:10"
    assert not found["executed"]["invented_inputs"]
    assert found["verdict"] == "TRACED"


ORDINARY = """\
import torch
from torch import nn


class Filters(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 4, 3), nn.Conv2d(4, 4, 3)

    def forward(self, image):
        return self.second(self.first(image))


class Words(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(50, 8)

    def forward(self, ids):
        return self.table(ids)


class Both(nn.Module):
    def __init__(self):
        super().__init__()
        self.filter = nn.Conv2d(3, 4, 3)

    def forward(self, image):
        rows = self.filter(image).flatten(1)
        return torch.zeros(2, rows.shape[1]).index_add(0, torch.tensor([0, 0]), rows)


class Products(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 8)

    def forward(self, values):
        return self.layer(values)
"""

DISPATCHED = {
    "Filters": ("TRACED", "`aten.convolution_backward.default`, which can vary on CUDA unless `torch.backends.cudnn."),
    "Words": ("TRACED", "`aten.embedding_dense_backward.default`, which can vary on"),
    "Both": ("TRACED", "`aten.index_add.default`, which varies on CUDA"),  # what a rule reports comes first
    "Products": ("NOT REPRODUCED", "it dispatched no operator on cpu that the registry knows to vary"),
}


@pytest.mark.parametrize("name", DISPATCHED)
def test_what_a_class_dispatches_is_told_with_the_switch_that_matters(tmp_path: Path, name: str) -> None:
    (tmp_path / "ordinary.py").write_text(ORDINARY, encoding="utf-8")
    (tmp_path / "torchlint.toml").write_text("", encoding="utf-8")
    result = result_of(tmp_path, f"ordinary.py::{name}")
    verdict, words = DISPATCHED[name]
    assert result["verdict"] == verdict
    assert words in result["reason"]
