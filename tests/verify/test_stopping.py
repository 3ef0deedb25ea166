"""What is left of a run that the user, a batch system or a missing device ends, and what it says on its way."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("torch")

from tests.cli.command import PATIENT, clean_environment, run_torchlint

pytestmark = [pytest.mark.torch, pytest.mark.skipif(sys.platform == "win32", reason="signals are of POSIX")]

MODEL = """\
import time

from torch import nn


class Quick(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Conv2d(3, 4, 3)
        self.pad = nn.ReplicationPad2d(1)

    def forward(self, x):
        return self.pad(self.body(x))


class Endless(Quick):
    def __init__(self):
        super().__init__()
        self.other = nn.ReplicationPad2d(1)

    def forward(self, x):
        time.sleep(600)
        return self.other(self.body(x))
"""
IMPATIENT = """\
import sys
import torchlint.cli.progress
from torchlint.cli import main

torchlint.cli.progress.SECONDS_BETWEEN_LINES = 0.2
sys.exit(main(sys.argv[1:]))
"""


@contextlib.contextmanager
def half_done(folder: Path, *options: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A run in which one target is done and another goes on, and the line that says so."""
    (folder / "model.py").write_text(MODEL, encoding="utf-8")
    (folder / "torchlint.toml").touch()
    command = [sys.executable, "-c", IMPATIENT, "verify", "--probe", "trace", "--jobs", "1", *PATIENT, *options]
    surroundings = clean_environment(PYTHONPATH=str(Path(__file__).parents[2]))
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=surroundings
    ) as process:
        assert process.stderr is not None
        line = next(line for line in process.stderr if "1 of 2 targets done" in line)
        yield process, line
        process.kill()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_one_signal_ends_it_and_what_was_found_is_told_and_kept(
    tmp_path: Path, number: signal.Signals, code: int
) -> None:
    with half_done(tmp_path) as (process, line):
        assert "running: Endless of model.py for " in line
        process.send_signal(number)
        out, _ = process.communicate(timeout=300)  # half of what the target may take
    assert process.returncode == code
    assert out.splitlines()[0].startswith("model.py:10:20: TL101 TRACED")
    assert "interrupted: 1 finding not run" in out
    assert "[TRACED]" in run_torchlint("check", cwd=tmp_path).stdout


def test_an_interrupted_run_says_so_to_machines(tmp_path: Path) -> None:
    with half_done(tmp_path, "--output-format", "json") as (process, _):
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=300)
    found = json.loads(out)
    assert [result["target"] for result in found["results"]] == ["Quick"]
    assert found["summary"] == {"TRACED": 1, "without_probe": 0, "not_run": 1}


def test_where_nothing_was_flagged_the_environment_is_told(tmp_path: Path) -> None:
    (tmp_path / "clean.py").write_text("import torch\n\ntorch.manual_seed(0)\n", encoding="utf-8")
    found = json.loads(run_torchlint("verify", "--output-format", "json", cwd=tmp_path).stdout)
    assert found["results"] == []
    assert "cpu" in found["environment"]["devices"]


@pytest.mark.parametrize("options", [("--device", "xpu"), ("--device", "cpu", "--device", "xpu")])
def test_a_device_that_is_not_there_is_an_error_that_names_those_that_are(
    tmp_path: Path, options: tuple[str, ...]
) -> None:
    (tmp_path / "model.py").write_text(MODEL, encoding="utf-8")
    done = run_torchlint("verify", "model.py", *options, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("error: --device xpu: torch ")
    assert "finds none here; present: cpu (" in done.stderr
    assert "executing" not in done.stderr


def test_sigterm_takes_the_command_along_with_what_it_started(tmp_path: Path) -> None:
    child = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(0, flush=True); time.sleep(600)"
    (tmp_path / "run.sh").write_text(f"'{sys.executable}' -c '{child}' &\necho $!\nwait\n", encoding="utf-8")
    program = "import torchlint.verify.command_run as run, sys\nrun._SECONDS_TO_END = 0.5\n" + IMPATIENT
    command = [sys.executable, "-c", program, "verify", "--", "sh", "run.sh"]
    surroundings = clean_environment(PYTHONPATH=str(Path(__file__).parents[2]))
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True, env=surroundings) as process:
        assert process.stdout is not None
        child_id = next(number for line in process.stdout if (number := int(line)))
        next(iter(process.stdout))
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=300)
    assert process.returncode == 143
    with pytest.raises(ProcessLookupError):
        os.kill(child_id, 0)
