"""Runs through the public API: copies where nothing confines the code, other torches, what is kept."""

from __future__ import annotations

import functools
import importlib.metadata
import json
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

from tests.cli.command import PATIENT, run_torchlint
from torchlint import api
from torchlint.errors import TorchlintError
from torchlint.verify.options import VerifyOptions
from torchlint.verify.places import parse_place
from torchlint.verify.run import installed_torch, plan
from torchlint.verify.sandbox import Confinement, Sandbox
from torchlint.verify.sandbox.sandbox import Start

pytestmark = pytest.mark.torch

WRITING = """\
from pathlib import Path

from torch import nn

LOG = Path(__file__).with_name("log.txt")


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        LOG.write_text("made")
        self.body = nn.Conv2d(3, 4, 1)
        self.pad = nn.ReplicationPad2d(1)

    def forward(self, x):
        return self.pad(self.body(x))
"""


def test_a_torch_that_is_missing_or_too_old_is_said_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> str:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", missing)
    with pytest.raises(TorchlintError, match=r"not installed for .*: install torch 2\.2 or newer there, or"):
        installed_torch()
    monkeypatch.setattr(importlib.metadata, "version", lambda _: "1.13.1+cpu")
    with pytest.raises(TorchlintError, match=r"torch 1\.13\.1\+cpu is installed here: verify needs 2\.2 or newer"):
        installed_torch()


def project(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_without_a_sandbox_the_code_runs_from_a_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, start: Start
) -> None:
    if start == "fork" and sys.platform != "linux":
        pytest.skip("the server forks on Linux only")
    monkeypatch.setattr("torchlint.verify.run.Sandbox", functools.partial(Sandbox, start=start))
    reading = WRITING.replace('LOG.write_text("made")', "assert 'copies' in __file__")
    project(tmp_path, net__py=reading, torchlint__toml="")
    options = VerifyOptions(confinement=Confinement.none(), runs=2, seconds=600)
    found = api.verify_paths([str(tmp_path / "net.py")], options)
    (result,) = found.results
    assert result.verdict == "TRACED", result.reason
    line = result.evidence["forward_line"]
    assert isinstance(line, dict)
    assert Path(str(line["path"])).name == "net.py"
    assert "copies" not in str(result.evidence)
    assert found.sandbox.startswith("not sandboxed on this system")


def test_code_that_writes_beside_itself_leaves_no_trace(tmp_path: Path) -> None:
    project(tmp_path, net__py=WRITING, torchlint__toml="")
    for confinement in (None, Confinement.none()):
        (result,) = api.verify_paths(
            [str(tmp_path)], VerifyOptions(confinement=confinement, runs=2, seconds=600)
        ).results
        assert result.verdict in ("SKIPPED", "KERNEL-ONLY")
        assert sorted(path.name for path in tmp_path.iterdir()) == ["net.py", "torchlint.toml"]


def test_a_project_that_wants_another_torch_is_told_so(tmp_path: Path) -> None:
    project(tmp_path, net__py=WRITING, torchlint__toml="", requirements__txt="torch>=2.0,<2.2\n")
    notes = plan([parse_place(str(tmp_path))], VerifyOptions()).report.notes
    assert any("the project wants 2.0 to 2.1" in note.message for note in notes)
    (tmp_path / "requirements.txt").write_text("torch>=2.0\n", encoding="utf-8")
    assert not plan([parse_place(str(tmp_path))], VerifyOptions()).report.notes


@pytest.mark.parametrize(
    ("text", "path", "cell", "line", "name"),
    [
        ("models.py", "models.py", None, None, None),
        ("models.py:18", "models.py", None, 18, None),
        ("models.py:18:3", "models.py", None, 18, None),
        ("a b/nb.ipynb:cell 3:5", "a b/nb.ipynb", 3, 5, None),
        ("pkg/models.py::Net", "pkg/models.py", None, None, "Net"),
    ],
)
def test_places(text: str, path: str, cell: int | None, line: int | None, name: str | None) -> None:
    place = parse_place(text)
    assert (place.path, place.cell, place.line, place.name) == (Path(path), cell, line, name)


METRICS = """\
import numpy as np
import torch
from torch import nn


class Share(nn.Module):
    def forward(self, scores: torch.Tensor):
        hits = torch.from_numpy((scores.numpy() > 0).astype(np.float32))
        return torch.cumsum(hits, 0)


class Printed(nn.Module):
    def forward(self, scores: torch.Tensor):
        print(scores.cumsum(0).shape)


class Early(nn.Module):
    def forward(self, scores: torch.Tensor):
        if scores.ndim != 3:
            return None
        return scores.cumsum(0)
"""


def verdicts(folder: Path, name: str) -> dict[str, tuple[str, str]]:
    """By probe: verdict and reason for a class that is asked about by name."""
    project(folder, metrics__py=METRICS, torchlint__toml="")
    done = run_torchlint("verify", *PATIENT, f"metrics.py::{name}", "--output-format", "json", cwd=folder)
    results = json.loads(done.stdout)["results"]
    return {each["probe"]: (each["verdict"], each["reason"]) for each in results}


def test_a_metric_that_takes_no_gradient_runs(tmp_path: Path) -> None:
    found = verdicts(tmp_path, "Share")
    assert {verdict for verdict, _ in found.values()} == {"NOT REPRODUCED"}
    assert not any("broke" in reason or "failed" in reason for _, reason in found.values())


def test_a_run_that_returns_nothing_is_no_run_that_stayed_equal(tmp_path: Path) -> None:
    found = verdicts(tmp_path, "Printed")
    assert found["repeat"] == ("SKIPPED", "it returns no tensor, and changes no buffer or gradient")


def test_inputs_for_which_it_returns_nothing_are_not_the_ones(tmp_path: Path) -> None:
    found = verdicts(tmp_path, "Early")
    assert "gave the same bits" in found["repeat"][1]
    assert "called nothing" not in found["trace"][1]


PARTS = """\
import torch
from torch import nn
from torch.nn import functional as F


class Enlarged(nn.Module):
    def __init__(self, learned: bool = False):
        super().__init__()
        self.way = nn.ConvTranspose2d(8, 8, 2, 2) if learned else nn.Upsample(scale_factor=2, mode="bilinear")

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        return self.way(features)


class Edge(nn.Module):
    def forward(self, features: torch.Tensor) -> torch.Tensor:
        return F.pad(features, (1, 1, 1, 1), mode="reflect")
"""
MODEL = """\
import torch
from torch import nn

from net.parts import Edge, Enlarged


class Net(nn.Module):
    def __init__(self, channels: int, learned: bool = LEARNED):
        super().__init__()
        self.edge = Edge()
        self.body = nn.Conv2d(channels, 8, 3)
        self.enlarged = Enlarged(learned)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        return self.enlarged(self.body(self.edge(image)))


class Trainer:
    def __init__(self):
        self.part = Enlarged()
"""


def held_parts(folder: Path, learned: str) -> dict[str, dict[str, object]]:
    """The results for the two parts, by rule."""
    (folder / "net").mkdir()
    (folder / "net" / "__init__.py").touch()
    project(folder / "net", parts__py=PARTS, model__py=MODEL.replace("LEARNED", learned))
    project(folder, train__py="from net.model import Net\n\nnet = Net(channels=3)\n", torchlint__toml="")
    done = run_torchlint("verify", *PATIENT, "--output-format", "json", cwd=folder)
    return {each["code"]: each for each in json.loads(done.stdout)["results"]}


def test_a_part_is_run_inside_its_holder_of_another_file(tmp_path: Path) -> None:
    found = held_parts(tmp_path, "False")
    assert found["TL103"]["verdict"] == "TRACED"
    assert found["TL103"]["evidence"]["module"] == "enlarged.way"  # type: ignore[index]
    assert (found["TL102"]["verdict"], found["TL102"]["reason"]) == (
        "NOT REPRODUCED",
        "it ran forward, but no backward pass flows through it here",  # the first layer comes behind it
    )


def test_a_part_that_its_holder_leaves_out_is_run_alone_and_that_is_said(tmp_path: Path) -> None:
    found = held_parts(tmp_path, "True")
    assert found["TL103"]["verdict"] == "TRACED"
    assert "its inputs were set to need a gradient" in str(found["TL103"]["reason"])


def test_a_verdict_is_forgotten_when_the_holder_changes(tmp_path: Path) -> None:
    held_parts(tmp_path, "False")
    assert "[TRACED]" in run_torchlint("check", cwd=tmp_path).stdout
    model = tmp_path / "net" / "model.py"
    model.write_text(model.read_text(encoding="utf-8").replace("channels, 8, 3", "channels, 8, 1"), encoding="utf-8")
    assert "[TRACED]" not in run_torchlint("check", cwd=tmp_path).stdout


def test_what_would_run_of_a_holder_is_shown_before(tmp_path: Path) -> None:
    held_parts(tmp_path, "False")
    shown = run_torchlint("verify", "--dry-run", cwd=tmp_path).stdout
    assert "within Net of model.py" in shown
    assert "of net/model.py, and the files that it imports:" in shown
    assert "Trainer" not in shown


APPLIED = """\
import torch
from torch import nn


class Binned(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale):
        ctx.save_for_backward(x)
        return torch.round(x * scale)

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        counts = torch.zeros(4)
        counts.index_add_(0, x.abs().long().clamp(0, 3).flatten(), grad.flatten())
        return grad * counts.sum(), None


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(6))

    def forward(self, x):
        return Binned.apply(x * self.gain, 4.0)
"""


def test_what_an_autograd_function_does_backward_is_traced_in_the_module_that_applies_it(tmp_path: Path) -> None:
    project(tmp_path, binned__py=APPLIED, torchlint__toml="")
    found = api.verify_paths([str(tmp_path)], VerifyOptions(runs=2, seconds=600))
    (result,) = found.results
    assert (result.finding.location.line, result.verdict) == (15, "TRACED"), result.reason
    (run,) = found.runs
    assert run.executed is not None
    assert run.executed.name == "Layer"
    assert "its backward pass dispatched `aten.index_add_.default`, which varies on CUDA" in result.reason
