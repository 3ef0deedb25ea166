"""A check that breaks, or a process that dies, costs one line and not the run."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from torchlint.api import CheckOptions, check_paths
from torchlint.checks.framework import registration
from torchlint.checks.framework.drafts import Draft
from torchlint.checks.framework.registration import Check, Finding
from torchlint.checks.framework.visit import Visit
from torchlint.cli import main
from torchlint.engine import analysis, process_state
from torchlint.project.index import Project

FINDING = (
    "import torch\nfrom torch import nn\n\nlayer = nn.ReplicationPad2d(1)\ntorch.backends.cudnn.benchmark = True\n"
)
BREAKING = FINDING + "torch.manual_seed(666)\n"
Break = Callable[[], None]


def with_broken_check(monkeypatch: pytest.MonkeyPatch, name: str, **changes: object) -> None:
    """Run with one check changed."""
    original = registration.all_checks()

    def changed() -> tuple[Check, ...]:
        return tuple(msgspec.structs.replace(c, **changes) if c.name == name else c for c in original)

    monkeypatch.setattr(analysis, "all_checks", changed)


def breaking_on_666(breaks: Break, find: registration.Find) -> registration.Find:
    def broken(visit: Visit) -> Iterator[Finding]:
        if "666" in visit.code(visit.node):
            breaks()
        yield from find(visit)

    return broken


def raise_error() -> None:
    raise LookupError("no such thing")


def die() -> None:
    os._exit(7)


def find_of(name: str) -> registration.Find:
    return next(check.find for check in registration.all_checks() if check.name == name)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for number in range(40):
        (tmp_path / f"module_{number}.py").write_text(BREAKING if number == 17 else FINDING)
    return tmp_path


def test_a_check_that_raises_is_one_line_and_the_other_findings_stay(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_broken_check(monkeypatch, "entropy_seed", find=breaking_on_666(raise_error, find_of("entropy_seed")))
    report = check_paths([project])
    (error,) = report.internal_errors
    assert (error.check, Path(error.path).name, error.message) == (
        "entropy_seed",
        "module_17.py",
        "LookupError: no such thing",
    )
    assert len(report.diagnostics) == 80


def test_the_command_says_so_in_one_line_and_exits_with_2(
    project: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    with_broken_check(monkeypatch, "entropy_seed", find=breaking_on_666(raise_error, find_of("entropy_seed")))
    monkeypatch.chdir(project)
    assert main(["check", "module_17.py", "module_18.py", "--jobs", "1"]) == 2
    stdout, stderr = capfd.readouterr()
    told = [line for line in stderr.splitlines() if "entropy_seed" in line]
    assert len(told) == 1
    assert "module_17.py" in told[0]
    assert "LookupError: no such thing" in told[0]
    assert stdout.count("TL101 ") == 2


def test_a_judge_that_raises_is_one_line_and_the_other_findings_stay(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_broken_check(monkeypatch, "cudnn_switches.benchmark", judge=judging(raise_error))
    report = check_paths([project])
    assert [(error.check, Path(error.path).name) for error in report.internal_errors] == [
        ("cudnn_switches.benchmark", "module_17.py")
    ]
    assert len(report.diagnostics) == 79


def judging(breaks: Break) -> registration.Judge:
    def judge(draft: Draft, _: Project) -> Draft:
        if draft.path == "module_17.py":
            breaks()
        return draft

    return judge


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere files are judged in this process")
def test_a_process_that_dies_while_it_judges_costs_its_file_one_line(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_broken_check(monkeypatch, "cudnn_switches.benchmark", judge=judging(die))
    report = check_paths([project], CheckOptions(jobs=2))
    assert [(error.check, Path(error.path).name) for error in report.internal_errors] == [("judges", "module_17.py")]
    assert len(report.diagnostics) == 78


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the changed check reaches the workers by fork")
def test_a_worker_that_dies_costs_its_file_one_line(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_broken_check(monkeypatch, "entropy_seed", find=breaking_on_666(die, find_of("entropy_seed")))
    report = check_paths([project], CheckOptions(jobs=2))
    assert [(error.check, Path(error.path).name) for error in report.internal_errors] == [("parser", "module_17.py")]
    assert len(report.diagnostics) == 78
    assert {Path(d.location.path).name for d in report.diagnostics} == {
        f"module_{number}.py" for number in range(40) if number != 17
    }


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the changed reading reaches the workers by fork")
def test_a_file_whose_reading_breaks_costs_one_line_in_processes_that_read_ahead(
    project: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    read = analysis.read_facts

    def breaking(path: str, *rest: object) -> object:
        if path == "module_17.py":
            raise_error()
        return read(path, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(process_state, "read_facts", breaking)
    monkeypatch.setattr(analysis, "read_facts", breaking)
    report = check_paths([project], CheckOptions(jobs=2))
    assert [(error.check, Path(error.path).name) for error in report.internal_errors] == [("engine", "module_17.py")]
    assert len(report.diagnostics) == 78
    assert capfd.readouterr().err == ""  # no process died of it
