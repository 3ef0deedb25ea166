"""Where steps end, and what is told of each."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("torch")

import torch

from tests.diverge.journal.program import Program, recorded_program
from torchlint.diverge.running import Wanted
from torchlint.recording.journal.digests import Digests
from torchlint.recording.journal.session import Session

pytestmark = pytest.mark.torch

BEGIN = """\
import torch
from torch import nn

torch.manual_seed(0)
data = torch.randn(8, 4, generator=torch.Generator().manual_seed(1))


def network():
    return nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3), nn.Linear(3, 1))


"""
TWO_OPTIMIZERS = """\
one, two = network(), network()
first = torch.optim.SGD(one.parameters(), lr=0.1)
second = torch.optim.Adam(two.parameters(), lr=0.1)
for _ in range(2):
    first.zero_grad()
    one(data).mean().backward()  # loss_of_first
    first.step()
    second.zero_grad()
    two(data).mean().backward()  # loss_of_second
    second.step()
one(data)  # behind_the_last_step
"""
ACCUMULATION = """\
model = network()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(2):
    optimizer.zero_grad()
    for part in data.chunk(2):
        loss = model(part).pow(2).sum()
        loss.backward()  # backward
    print(loss.item())  # item
    optimizer.step()  # step
"""
ENDLESS = """\
model = network()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
try:
    for number in range(1000):
        optimizer.zero_grad()
        model(data).mean().backward()  # forward
        optimizer.step()
finally:
    print("ended in", number)
"""
EVALUATION = """\
model = network().eval()
for part in data.chunk(4):
    model(part)  # called
"""


@pytest.fixture(scope="module")
def two_optimizers(tmp_path_factory: pytest.TempPathFactory) -> Program:
    return recorded_program(tmp_path_factory.mktemp("two"), BEGIN + TWO_OPTIMIZERS)


@pytest.fixture(scope="module")
def accumulation(tmp_path_factory: pytest.TempPathFactory) -> Program:
    return recorded_program(tmp_path_factory.mktemp("accumulation"), BEGIN + ACCUMULATION)


@pytest.fixture(scope="module")
def evaluation(tmp_path_factory: pytest.TempPathFactory) -> Program:
    return recorded_program(tmp_path_factory.mktemp("evaluation"), BEGIN + EVALUATION)


def test_each_step_of_each_optimizer_is_a_step(two_optimizers: Program) -> None:
    ends = [each.step.ends_with for each in two_optimizers.details]
    assert ends == ["optimizer 1", "optimizer 2"] * 2 + ["end"]
    assert [each.step.number for each in two_optimizers.details] == [1, 2, 3, 4, 5]
    assert two_optimizers.recorded.steps == 4


def test_operators_belong_to_the_step_that_they_run_in(two_optimizers: Program) -> None:
    assert two_optimizers.steps_of("loss_of_first") == [1, 3]
    assert two_optimizers.steps_of("loss_of_second") == [2, 4]
    assert two_optimizers.steps_of("behind_the_last_step") == [5]


def test_operators_are_counted_since_the_program_began(two_optimizers: Program) -> None:
    counts = [each.step.operators for each in two_optimizers.details]
    assert counts == sorted(set(counts))
    assert two_optimizers.recorded.operators == counts[-1]


def test_a_step_has_the_digests_of_what_its_optimizer_updates(two_optimizers: Program) -> None:
    values = [each.step.values for each in two_optimizers.details]
    for each in values[:4]:
        assert each.keys() - {"reads"} == {"loss", "gradients", "parameters", "buffers", "outputs"}
    assert ["reads" in each for each in values[:4]] == [False, True] * 2  # Adam takes its own count out of a tensor
    assert len({each["parameters"] for each in values[:4]}) == 4
    assert values[4].keys() == {"outputs"}


def test_gradients_that_are_accumulated_are_one_step_with_all_losses(accumulation: Program) -> None:
    steps = [each.step for each in accumulation.details]
    assert [each.ends_with for each in steps][:2] == ["optimizer 1"] * 2
    assert [len(each.losses) for each in steps][:2] == [2, 2]
    assert len({loss for each in steps for loss in each.losses}) == 4
    assert accumulation.steps_of("backward") == [1, 2]


def test_the_loss_that_is_printed_is_the_one_that_is_told(accumulation: Program) -> None:
    printed = (accumulation.recorded.processes["main"].path.parent / "output").read_text(encoding="utf-8").split()
    assert [float(each) for each in printed] == [each.step.losses[1] for each in accumulation.details[:2]]


def test_numbers_that_python_takes_are_reads_of_their_step(accumulation: Program) -> None:
    reads = [each.step.values.get("reads") for each in accumulation.details[:2]]
    assert None not in reads
    assert reads[0] != reads[1]


def test_updates_are_the_last_operators_of_a_step(accumulation: Program) -> None:
    directions = [each.row.direction for each in accumulation.details[1].threads[0]]
    updates = directions.count("update")
    assert updates
    assert set(directions[-updates:]) == {"update"}
    assert {each.stack[0][1] for each in accumulation.operators("step", "update")} == {accumulation.line("step")}


def test_without_an_optimizer_a_call_of_the_outermost_module_ends_a_step(evaluation: Program) -> None:
    assert [each.step.ends_with for each in evaluation.details] == ["module"] * 4
    assert evaluation.steps_of("called") == [1, 2, 3, 4]
    values = [each.step.values["outputs"] for each in evaluation.details]
    assert len(set(values)) == 4


def test_a_program_is_ended_after_the_last_step_that_is_wanted(tmp_path_factory: pytest.TempPathFactory) -> None:
    wanted = Wanted("operator", last_step=4, first_rows=2, last_rows=3, kept_step=3)
    program = recorded_program(tmp_path_factory.mktemp("endless"), BEGIN + ENDLESS, wanted)
    recording = program.recorded.processes["main"]
    assert program.recorded.steps == 4
    assert program.steps_of("forward") == [2, 3]
    assert recording.summary.end is not None
    assert recording.summary.end.reason == "steps"
    assert "ended in 3" in (recording.path.parent / "output").read_text(encoding="utf-8")
    addmm = next(each for each in program.details[2].threads[0] if each.name.startswith("aten.addmm"))
    kept = recording.value(3, addmm.number, 0)
    assert kept is not None
    assert (kept.dtype, len(kept.data)) == ("float32", 8 * 3 * 4)
    assert recording.value(2, 0, 0) is None


def test_at_the_level_of_steps_there_are_no_rows(tmp_path_factory: pytest.TempPathFactory) -> None:
    program = recorded_program(tmp_path_factory.mktemp("steps"), BEGIN + ACCUMULATION, Wanted("step"))
    assert program.recorded.steps == 2
    assert not any(each.threads for each in program.details)
    assert program.details[0].step.values.keys() >= {"loss", "gradients", "parameters", "reads"}


def test_at_the_level_of_modules_each_call_is_a_row(tmp_path_factory: pytest.TempPathFactory) -> None:
    program = recorded_program(tmp_path_factory.mktemp("modules"), BEGIN + EVALUATION, Wanted("module"))
    calls = [[(each.name, each.module) for each in detail.threads[0]] for detail in program.details]
    inner = [("Linear", "0"), ("BatchNorm1d", "1"), ("Linear", "2")]
    assert calls == [[*((name, f"Sequential.{path}") for name, path in inner), ("Sequential", "Sequential")]] * 4
    assert (
        len({each.row.results[0].digest for each in program.operators("called")}) == 12
    )  # the last layer's is the whole's


@pytest.mark.parametrize(("allocated", "is_told"), [(0, False), (512, True)])
def test_the_generator_of_a_gpu_is_told_where_the_program_has_tensors_on_it(
    monkeypatch: pytest.MonkeyPatch, allocated: int, *, is_told: bool
) -> None:
    """A step of an optimizer initialises CUDA also for a program on the CPU."""
    for name, answer in {"is_available": True, "is_initialized": True, "max_memory_allocated": allocated}.items():
        monkeypatch.setattr(torch.cuda, name, lambda *_, answer=answer: answer)
    monkeypatch.setattr(torch.cuda, "get_rng_state_all", lambda: [torch.zeros(16, dtype=torch.uint8)])
    session: Any = SimpleNamespace(_digests=Digests(), _outside=SimpleNamespace(state=lambda _: 0))
    assert ("torch cuda:0" in Session._generators(session)) == is_told
