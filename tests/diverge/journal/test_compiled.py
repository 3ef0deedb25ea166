"""A region that `torch.compile` makes: one operator for its forward pass, one for its backward pass."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

from tests.cli.command import clean_environment
from tests.diverge.journal.program import NAME, Program, recorded_program

pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(shutil.which("g++") is None, reason="the compiler of torch needs one of C++"),
    pytest.mark.skipif(sys.platform != "linux", reason="compilers are found in other ways"),
]

REGION = """\
import warnings

warnings.simplefilter("ignore")
import torch

torch.manual_seed(0)


def scaled(x, weight):
    return (x * weight).tanh().sum(0)


region = torch.compile(scaled)
x = torch.randn(4, 3)  # drawn
weight = torch.nn.Parameter(torch.ones(3))
optimizer = torch.optim.SGD([weight], lr=0.1)
for _ in range(2):
    optimizer.zero_grad()
    out = region(x, weight)  # called
    loss = out.pow(2).sum()  # behind
    loss.backward()
    print(loss.item().hex())
    optimizer.step()  # stepped
print(*(each.hex() for each in weight.tolist()))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("compiled")


@pytest.fixture(scope="module")
def surroundings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A cache of their own: what one run compiles, the other takes, unless it compiles something else."""
    return {"TORCHINDUCTOR_CACHE_DIR": str(tmp_path_factory.mktemp("cache")), "TORCHINDUCTOR_COMPILE_THREADS": "1"}


@pytest.fixture(scope="module")
def program(folder: Path, surroundings: dict[str, str]) -> Program:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in surroundings.items():
            patch.setenv(name, value)
        return recorded_program(folder, REGION)


def test_each_call_of_a_region_is_one_row(program: Program) -> None:
    first, second = program.operators("called")
    assert first.name == second.name == "compiled.scaled"
    assert first.taken == ("float32[4,3] cpu", "float32[3] cpu")
    assert first.given == ("float32[3] cpu",)
    assert [each.is_parameter for each in first.row.operands] == [False, True]
    assert first.row.operands[1].digest != second.row.operands[1].digest
    assert first.row.generator == 0
    assert first.stack == ((NAME, program.line("called")),)


def test_the_backward_pass_of_a_region_is_one_row(program: Program) -> None:
    first, _ = program.operators("called", "backward")
    assert first.name == "compiled.scaled"
    assert first.taken == ("float32[3] cpu",)
    assert "float32[3] cpu" in first.given


def test_the_results_of_a_region_are_what_follows_takes(program: Program) -> None:
    region = program.operators("called")[0]
    power = next(each for each in program.operators("behind") if each.name.startswith("aten.pow"))
    assert power.row.operands[0].writer == region.number
    assert power.row.operands[0].digest == region.row.results[0].digest
    assert region.row.operands[0].writer == program.operators("drawn")[-1].number


def test_nothing_else_is_told_of_what_is_compiled(program: Program) -> None:
    assert [each.step.number for each in program.details if each.step.ends_with == "optimizer 1"] == [1, 2]
    assert [event.kind for each in program.details for event in each.events] == ["seed"]
    assert sorted(program.recorded.processes) == ["main"]


def test_a_region_gives_the_bits_that_it_gives_without_the_recorder(
    program: Program, folder: Path, surroundings: dict[str, str]
) -> None:
    recorded = program.recorded.processes["main"].path.parent / "output"
    around = clean_environment(**surroundings)
    plain = subprocess.run([sys.executable, NAME], cwd=folder, env=around, capture_output=True, text=True, check=True)
    assert recorded.read_text(encoding="utf-8").splitlines() == plain.stdout.splitlines()
    assert len(plain.stdout.splitlines()) == 3
