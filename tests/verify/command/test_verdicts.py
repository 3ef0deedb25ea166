"""What a command did decides the verdicts, with what was seen as evidence."""

from __future__ import annotations

import sys

import pytest

pytest.importorskip("torch")

from tests.verify.command.conftest import GROWN, MIRRORED, PADDED, SPREAD, Project, by_rule

pytestmark = pytest.mark.torch


def test_what_ran_backward_is_traced_with_its_lines_and_what_was_not_reached_is_not(project: Project) -> None:
    found = project.python(
        """
net = nn.Sequential(nn.Conv2d(2, 2, 1), Padded())
for size in (4, 8, 4):
    step(net, torch.ones(1, 2, size, size))
with torch.no_grad():
    Grown()(image())
if torch.is_anomaly_enabled():
    step(Grown(), image())
step(Spread(), torch.ones(3, requires_grad=True), torch.tensor([0, 1, 2]))
"""
    )
    padded = found[PADDED]
    assert padded.verdict == "TRACED", padded.reason
    assert padded.evidence["operator"] == "aten.replication_pad2d_backward.default"
    assert padded.evidence["constructor_line"] == {"path": "model.py", "cell": None, "line": 9}
    assert padded.evidence["forward_line"] == {"path": "model.py", "cell": None, "line": 12}
    assert padded.evidence["module"] == "1.pad"
    assert padded.evidence["calls"] == 3
    assert padded.evidence["largest"] == {"grad_output": [1, 2, 10, 10], "self": [1, 2, 8, 8]}
    assert padded.evidence["invented_inputs"] is False
    assert padded.evidence["exit_status"] == 0
    assert padded.target.endswith("program.py")
    assert padded.reproduce.startswith("torchlint verify model.py:9 --select TL101 -- ")
    assert found[MIRRORED].verdict == "NOT REPRODUCED"
    assert found[MIRRORED].reason == "the flagged line was not reached"
    assert found[GROWN].verdict == "NOT REPRODUCED"
    assert found[GROWN].reason == "it ran forward, but no backward pass through it was seen"
    assert found[SPREAD].verdict == "NOT REPRODUCED"
    assert "indices were all distinct, in this run" in found[SPREAD].reason


def test_the_worst_call_of_a_long_run_is_told(project: Project) -> None:
    found = project.python(
        """
for length in range(1, 31):
    for repeats in range(2):
        step(Spread(), torch.ones(length, requires_grad=True), torch.arange(length) % (2 if length == 30 else 9))
"""
    )
    spread = found[SPREAD]
    assert spread.verdict == "TRACED", spread.reason
    assert spread.evidence["calls"] == 60
    assert spread.evidence["looked_at"] != 60  # not all of them: looking costs
    assert spread.evidence["repeated_indices"] == pytest.approx(28 / 30, abs=1e-3)
    assert spread.evidence["places"] == 30


def test_under_the_determinism_mode_of_the_program_nothing_is_traced(project: Project) -> None:
    # `check` knows the plain call, and has nothing to find then.
    found = project.python("getattr(torch, 'use_deterministic_' + 'algorithms')(True)\nstep(Padded(), image())")
    assert found[PADDED].verdict == "NOT REPRODUCED"
    assert "determinism mode" in found[PADDED].reason


def test_a_backward_of_the_programs_own_a_checkpoint_and_a_copy_are_followed_to_their_lines(project: Project) -> None:
    found = project.python(
        """
import copy
from torch.utils.checkpoint import checkpoint

class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, grad):
        return Spread()(grad, torch.tensor([0, 0, 1]))[:3]

Doubled.apply(torch.ones(3, requires_grad=True)).sum().backward()
checkpoint(Grown(), image(), use_reentrant=True).sum().backward()
checkpoint(copy.deepcopy(nn.Sequential(Padded())), image(), use_reentrant=False).sum().backward()
torch.autograd.set_detect_anomaly(False)
assert not torch.is_anomaly_enabled()
step(Mirrored(), image())
"""
    )
    assert {code: result.verdict for code, result in found.items()} == dict.fromkeys(
        (PADDED, MIRRORED, GROWN, SPREAD), "TRACED"
    )
    assert found[PADDED].evidence["constructor_line"] == {"path": "model.py", "cell": None, "line": 9}


def test_windows_that_share_nothing_refute_and_a_file_that_was_never_loaded_is_told(project: Project) -> None:
    project.write(
        "pooled.py",
        "import torch\nfrom torch import nn\n\n\ndef pools(size):\n    return nn.MaxPool3d(size, stride=2)\n\n\n"
        "if __name__ == '__main__':\n    x = torch.ones(1, 1, 4, 4, 4, requires_grad=True)\n"
        "    pools(2)(x).sum().backward()\n",
    )
    found = by_rule(project.verify(sys.executable, "pooled.py", path="."))
    assert found["TL105"].verdict == "REFUTED", found["TL105"].reason
    assert "whatever the inputs are" in found["TL105"].reason
    assert found[PADDED].verdict == "NOT REPRODUCED"
    assert found[PADDED].reason == "the command never loaded this file"
