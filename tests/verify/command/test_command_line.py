"""What stands after the first `--` is the user's command."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

from tests.cli.command import clean_environment, run_torchlint
from tests.verify.command.conftest import PADDED, Project

pytestmark = pytest.mark.torch


def test_paths_and_options_before_the_dashes_say_what_is_looked_for(project: Project) -> None:
    project.write(
        "train.py", "import sys\nfrom model import *\nassert sys.argv[1:] == ['--', '--select']\nraise SystemExit(4)\n"
    )
    done = run_torchlint(
        *("verify", "model.py", "--isolated", "--select", PADDED, "--output-format", "json"),
        *("--", sys.executable, "train.py", "--", "--select"),
        cwd=project.folder,
    )
    assert done.returncode == 4, done.stderr
    result = json.loads(done.stdout)["results"]
    assert [each["code"] for each in result] == [PADDED]
    assert result[0]["target"].endswith("train.py -- --select")
    assert result[0]["evidence"]["exit_status"] == 4
    assert "running your command as it is, not sandboxed" in done.stderr
    assert "note: the command: exit status 4" in done.stderr


def test_a_dry_run_runs_nothing(project: Project) -> None:
    project.write("train.py", "open('ran', 'w')\n")
    done = run_torchlint(
        "verify", "model.py", "--isolated", "--dry-run", "--", sys.executable, "train.py", cwd=project.folder
    )
    assert done.returncode == 0
    assert "would run, as it is and not sandboxed" in done.stdout
    assert f"model.py:9:20: {PADDED} looked for" in done.stdout
    assert not (project.folder / "ran").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--isolated", "--", "no-such-program-here"), "no-such-program-here: the command cannot be started"),
        (("--",), "after -- stands the command to run"),
        (("--runs", "3", "--", "python"), "--runs does not go with a command"),
        (("--require-sandbox", "--", "python"), "--require-sandbox does not go with a command"),
    ],
)
def test_what_cannot_be_run_is_refused(project: Project, arguments: tuple[str, ...], words: str) -> None:
    done = run_torchlint("verify", *arguments, cwd=project.folder)
    assert done.returncode == 2
    assert words in " ".join(done.stderr.split())


@pytest.mark.parametrize(
    ("program", "code"),
    [("raise SystemExit(7)", 7), ("import os; os.kill(os.getpid(), 15)", 143), ("import torch", 0)],
)
def test_the_exit_status_of_the_command_is_handed_on(project: Project, program: str, code: int) -> None:
    done = run_torchlint("verify", "model.py", "--", sys.executable, "-c", program, cwd=project.folder)
    assert done.returncode == code


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_an_interrupted_command_is_reported_as_far_as_it_came(project: Project) -> None:
    project.write(
        "train.py",
        "from model import *\nimport time\nstep(Padded(), image())\nprint('ready', flush=True)\ntime.sleep(600)\n",
    )
    command = [sys.executable, "-m", "torchlint", "verify", "--isolated", "model.py", "--", sys.executable, "train.py"]
    with subprocess.Popen(
        command,
        cwd=project.folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        env=clean_environment(PYTHONPATH=str(Path(__file__).parents[3])),
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=300)
    assert f"{PADDED} TRACED".encode() in out
    assert b"note: the command: interrupted" in errors
    assert process.returncode == 130
