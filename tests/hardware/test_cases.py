"""Every entry has a case, every case has an entry, and the program runs them."""

from __future__ import annotations

import dataclasses
import os
import warnings
from pathlib import Path

import msgspec
import pytest

pytest.importorskip("torch")

from tests.hardware import __main__ as program
from tests.hardware.case import DEVICES, Case, Size, Tensor, torch
from tests.hardware.every import CASES, LISTED
from tests.hardware.measure import observe, same
from tests.hardware.report import Line, dump, load
from torchlint.catalogue import load_catalogue
from torchlint.catalogue.registry import Row
from torchlint.catalogue.versions import VersionRange

pytestmark = pytest.mark.torch

OPERATORS = {operator.id: operator for operator in load_catalogue().operators if operator.library == "torch"}
RUN = [case for case in LISTED if not case.not_run]
ON_CPU = [case for case in RUN if "cpu" in case.devices]
RESULTS = sorted(Path(__file__).with_name("results").glob("*.tsv"))


def tensors(case: Case, size: Size) -> list[Tensor]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that quantized tensors are deprecated
        inputs = case.build("cpu", size, torch.Generator().manual_seed(0))
    found = [value for value in inputs.values() if torch.is_tensor(value)]
    return [value.int_repr() if value.is_quantized else value for value in found]


def test_every_entry_has_a_case_and_every_case_an_entry() -> None:
    assert sorted(case.id for case in LISTED) == sorted(OPERATORS)


@pytest.mark.parametrize("case", LISTED, ids=lambda case: case.id)
def test_a_case_runs_or_says_why_not(case: Case) -> None:
    assert bool(case.calls) is not bool(case.not_run)
    assert case.devices
    assert set(case.devices) <= set(DEVICES)
    assert VersionRange.parse(case.torch) is not None


@pytest.mark.parametrize("case", RUN, ids=lambda case: case.id)
def test_a_case_fits_its_entry(case: Case) -> None:
    operator = OPERATORS[case.id]
    assert case.backward or operator.direction == "forward"
    assert case.repeats_index or not operator.condition.repeated_indices
    devices = {row.device for row in operator.row} - {"*"}
    assert devices & set(case.devices) or not devices, "no device that has a row can run it"


@pytest.mark.parametrize("case", ON_CPU, ids=lambda case: case.id)
def test_inputs_are_what_the_case_says(case: Case) -> None:
    large = tensors(case, "large")
    assert {value.dtype for value in large if value.is_floating_point()} <= {torch.float32}
    assert any(value.requires_grad for value in large) or not case.backward
    integers = [value for value in large if value.dtype is torch.int64]
    assert any(len(value.unique()) * 50 < value.numel() for value in integers) or not case.repeats_index


@pytest.mark.parametrize("case", ON_CPU, ids=lambda case: case.id)
def test_inputs_are_the_same_every_time(case: Case) -> None:
    assert same(tensors(case, "small"), tensors(case, "small"))


def test_runs_are_compared_bit_by_bit() -> None:
    nan = [torch.tensor([float("nan")])]
    assert same(nan, nan)
    assert not same([torch.tensor([0.0])], [torch.tensor([-0.0])])
    assert not same([torch.tensor([1])], [torch.tensor([1]), torch.tensor([1])])
    values = iter(range(10))
    assert observe(lambda: [torch.tensor(next(values) // 2)], 4).diverged == 2


def lines(found: Path) -> dict[str, Line]:
    return {f"{line.entry} {line.call}".strip(): line for line in load(found)[0]}


def test_the_program_runs_on_the_cpu(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "cpu.tsv"
    arguments = ["--device", "cpu", "--only", "put_,index_add,nccl_allreduce", "--runs", "2", "--out", str(out)]
    assert program.main(arguments) == 0
    found = lines(out)
    assert found["put_ Tensor.put"].on.startswith("raises RuntimeError: put_ does not have a deterministic")
    assert found["put_ Tensor.put"].verdict in ("agrees", "not reproduced")
    assert (found["index_add Tensor.index_add"].on, found["index_add Tensor.index_add"].row) == ("0/2", "")
    assert found["nccl_allreduce"].why == CASES["nccl_allreduce"].not_run
    assert "index_add" in capsys.readouterr().out
    assert load(out)[1]["torch"] == torch.__version__


def test_a_disagreement_is_an_exit_code(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    wrong = Row(device="cpu", torch=">=1.9", under_mode="always_deterministic", confidence="high")
    catalogue = load_catalogue()
    altered = tuple(msgspec.structs.replace(o, row=(wrong,)) if o.id == "put_" else o for o in catalogue.operators)
    monkeypatch.setattr(program, "load_catalogue", lambda: Changed(altered))
    out = tmp_path / "cpu.tsv"
    assert program.main(["--device", "cpu", "--only", "put_", "--runs", "1", "--out", str(out)]) == 1
    assert lines(out)["put_ Tensor.put_"].why == "raises under the mode"


class Changed:
    """A catalogue of which only the operators are asked for."""

    def __init__(self, operators: tuple[object, ...]) -> None:
        self.operators = operators


def test_what_cannot_run_is_said(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert program.main(["--device", "cpu", "--only", "put"]) == 2
    assert "no such entry: put" in capsys.readouterr().err
    monkeypatch.setattr(program, "available", lambda device: device == "cpu")
    assert program.main(["--device", "cuda"]) == 2
    assert "torch sees no cuda here" in capsys.readouterr().err


def test_a_case_that_breaks_its_process_takes_no_other_down() -> None:
    worker = program.Worker()
    broken = worker.run(os._exit, 1)
    assert isinstance(broken, program.Failure)
    assert "BrokenProcessPool" in broken.why
    assert worker.run(abs, -1) == 1
    worker.stop()
    (line,) = program.lines_of(OPERATORS["put_"], None, broken)
    assert (line.verdict, line.bad) == ("failed", True)


def test_results_are_read_as_they_were_written(tmp_path: Path) -> None:
    written = [Line("put_", "Tensor.put", "raises", "1/2", "raises x", "0/2 warns", "disagrees", "a\tb\nc")]
    path = tmp_path / "some.tsv"
    path.write_text(dump(written, {"device": "cpu", "torch": "2.13.0"}), encoding="utf-8")
    (line,), about = load(path)
    assert line == dataclasses.replace(written[0], why="a b c")
    assert about == {"device": "cpu", "torch": "2.13.0"}


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.stem)
def test_shipped_results_are_of_the_registry(path: Path) -> None:
    found, about = load(path)
    device, _, release = path.stem.partition("-torch")
    assert about.keys() >= {"device", "torch", "cuda", "date", "runs"}
    assert about["torch"].startswith(f"{release}.")
    assert device in DEVICES
    assert {line.entry for line in found} <= OPERATORS.keys()
    assert [f"{line.entry} {line.call}" for line in found if line.verdict == "failed"] == []
    for line in found:
        assert line.call in CASES[line.entry].calls or line.verdict == "not run", line
