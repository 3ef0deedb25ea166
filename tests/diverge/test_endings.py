"""What `diverge` says of programs that fail, hang, fork, print nothing or are interrupted, and what they leave."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from tests.cli.command import clean_environment, run_torchlint
from torchlint.diverge import running
from torchlint.diverge.recordings import read_recorded
from torchlint.diverge.running import Runner, Wanted

pytestmark = [pytest.mark.torch, pytest.mark.skipif(sys.platform == "win32", reason="signals are of POSIX")]

TRAINING = """\
import os, sys, time
import torch

torch.manual_seed(0)
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def train(steps):
    for _ in range(steps):
        optimizer.zero_grad()
        model(torch.randn(8, 4)).pow(2).mean().backward()
        optimizer.step()


"""


def found(folder: Path, rest: str, *options: str, code: int, module: str = "train.py") -> dict[str, Any]:
    """What `diverge` found of the training that goes on so, as its JSON."""
    (folder / module).write_text(TRAINING + rest, encoding="utf-8")
    before = sorted(path.name for path in folder.iterdir())
    command = ["diverge", "--output-format", "json", *options, "--", sys.executable, module]
    result = run_torchlint(*command, cwd=folder)
    assert result.returncode == code, result.stderr
    assert sorted(path.name for path in folder.iterdir()) == before
    answer: dict[str, Any] = json.loads(result.stdout)
    return answer


def test_a_command_that_fails_only_where_operators_are_recorded_says_so(tmp_path: Path) -> None:
    rest = (
        "if hasattr(torch.fx.traceback.format_stack, '__wrapped__'):\n    raise RuntimeError('somebody looks')\n"
        "torch.default_generator.seed()\ntrain(2)\n"
    )
    told = found(tmp_path, rest, "--no-experiments", code=1)
    assert "with its operators recorded the command ended with exit 1: RuntimeError: somebody looks" in told["notes"]


def test_two_equal_runs_are_counted_and_not_called_deterministic(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAINING + "train(3)\n", encoding="utf-8")
    result = run_torchlint("diverge", "--", sys.executable, "train.py", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "EQUAL: two runs of 3 steps" in result.stdout
    assert "not varied: hash-seed, listing, threads, workers, clock, memory" in result.stdout
    assert "does not prove that the program is deterministic" in result.stdout


@pytest.mark.parametrize(
    ("rest", "status"),
    [
        ("train(2)\nsys.exit(3)\n", 3),
        ("train(2)\nsys.exit('no more data')\n", 1),
        ("train(2)\nos.kill(os.getpid(), 9)\n", 137),
        ("train(2)\nos._exit(4)\n", 4),
    ],
)
def test_a_program_that_fails_alike_in_both_runs_has_failed(tmp_path: Path, rest: str, status: int) -> None:
    answer = found(tmp_path, rest, code=2)
    assert answer["verdict"] == "FAILED"
    assert [(run["exit"], run["steps"]) for run in answer["runs"]] == [(status, 2)] * 2
    assert answer["first"] is None


def test_runs_that_end_with_other_statuses_are_different(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    mark = "mark = os.path.abspath('../mark')\n"
    rest = "train(2)\nif os.path.exists(mark):\n    sys.exit(5)\nopen(mark, 'w').close()\n"
    answer = found(tmp_path / "project", mark + rest, code=1)
    assert [run["exit"] for run in answer["runs"]] == [0, 5]
    assert answer["verdict"] == "DIFFERENT"
    assert answer["first"]["differing"] == ["exit status"]


def test_the_limits_end_a_program_politely(tmp_path: Path) -> None:
    rest = "try:\n    train(1000)\nfinally:\n    print('cleaned up')\n"
    (tmp_path / "train.py").write_text(TRAINING + rest, encoding="utf-8")
    command = ["diverge", "--steps", "4", "--", sys.executable, "train.py"]
    result = run_torchlint(*command, cwd=tmp_path)
    assert "EQUAL: two runs of 4 steps" in result.stdout
    assert "cleaned up" in result.stderr


def test_a_program_that_hangs_is_ended_after_its_seconds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "train.py").write_text(TRAINING + "train(2)\ntime.sleep(600)\n", encoding="utf-8")
    (tmp_path / "own").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(running, "_GRACE", 4.0)
    ran = Runner([sys.executable, "train.py"], tmp_path / "own", None, seconds=4.0).run(Wanted())
    assert ran.was_timed_out
    assert ran.recorded.steps == 2


def test_an_interrupted_run_leaves_its_recording_and_no_process(tmp_path: Path) -> None:
    rest = "train(3)\nprint('pid', os.getpid(), file=sys.stderr, flush=True)\ntime.sleep(600)\n"
    (tmp_path / "train.py").write_text(TRAINING + rest, encoding="utf-8")
    command = [sys.executable, "-m", "torchlint", "diverge", "--keep", "kept", "--", sys.executable, "train.py"]
    with subprocess.Popen(
        command, cwd=tmp_path, env=clean_environment(), stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stderr is not None
        line = next(line for line in process.stderr if line.startswith("pid"))
        process.send_signal(signal.SIGINT)
        said = process.stderr.read()
        assert process.wait(60) == 130
    assert "interrupted before there were two runs to compare" in said
    with pytest.raises(ProcessLookupError):
        os.kill(int(line.split()[1]), 0)
    assert read_recorded(tmp_path / "kept" / "run-1").steps == 3


def test_a_command_without_torch_is_told_so(tmp_path: Path) -> None:
    result = run_torchlint("diverge", "--", sys.executable, "-c", "print(1)", cwd=tmp_path)
    assert result.returncode == 2
    assert "nothing was recorded: the command ran no Python that imports torch" in result.stderr


def test_a_command_that_is_not_there_is_told_so(tmp_path: Path) -> None:
    result = run_torchlint("diverge", "--", "no-such-program", cwd=tmp_path)
    assert result.returncode == 2
    assert "no-such-program: the command cannot be started" in result.stderr


def test_children_that_are_forked_and_spawned_have_recordings_of_their_own(tmp_path: Path) -> None:
    rest = """
def child(_):
    train(1)
    return 0

if __name__ == "__main__":
    import multiprocessing
    for how in ("fork", "spawn"):
        with multiprocessing.get_context(how).Pool(1) as pool:
            pool.map(child, [0])
    if os.fork() == 0:
        train(2)
        os._exit(0)
    os.wait()
    train(3)
"""
    answer = found(tmp_path, rest, "--keep", str(tmp_path.parent / "kept"), code=0)
    assert answer["verdict"] == "EQUAL"
    assert [run["steps"] for run in answer["runs"]] == [3, 3]
    recorded = read_recorded(tmp_path.parent / "kept" / "run-1")
    steps = {name: each.summary.steps for name, each in recorded.processes.items()}
    assert steps["main"] == 3
    assert sorted(steps.values()) == [1, 1, 2, 3]


def test_a_recorded_command_hands_its_status_on(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAINING + "train(2)\nsys.exit(3)\n", encoding="utf-8")
    command = ["record", "--output", "a.tlrec", "--", sys.executable, "train.py"]
    result = run_torchlint(*command, cwd=tmp_path)
    assert result.returncode == 3
    assert "wrote a.tlrec (2 steps" in result.stderr
    assert read_recorded(tmp_path / "a.tlrec").steps == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.tlrec", "train.py"]
