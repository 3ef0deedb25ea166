"""`torchlint check --watch`: the answer again after each save, until somebody ends it."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.command import run_torchlint

pytest.importorskip("watchfiles")

TWICE = ["--also", "json:x/../report.json"]
"""A file that each check writes into the watched folder, by another path than the system's own."""
GOOD = "import torch\n\ntorch.manual_seed(0)\nnet = torch.nn.Linear(3, 3)\n"
BAD = "import torch\n\ntorch.use_deterministic_algorithms = True\n"


@pytest.fixture
def watching(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    (tmp_path / ".git").mkdir()
    (tmp_path / "x").mkdir()
    (tmp_path / "net.py").write_text(GOOD)
    start = "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
    start += "from torchlint.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", start, "check", "--watch", "--jobs", "1", "--select", "TL201", *TWICE]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, bufsize=1
    ) as process:
        yield process
        process.kill()


def until(process: subprocess.Popen[str], words: str) -> list[str]:
    """The lines up to the first with these words."""
    assert process.stdout is not None
    lines = []
    for line in process.stdout:
        lines.append(line.rstrip())
        if words in line:
            return lines
    raise AssertionError(f"ended without `{words}`: {lines}")


def test_each_save_is_answered_and_ctrl_c_ends_it(watching: subprocess.Popen[str], tmp_path: Path) -> None:
    assert "No findings in 1 file." in until(watching, "watching: ")
    (tmp_path / "net.py").write_text(BAD)
    until(watching, "net.py:3:1: TL201 ")
    until(watching, "checked again after net.py")
    (tmp_path / "torchlint.toml").write_text("select = [")
    until(watching, "is not TOML")
    (tmp_path / "torchlint.toml").unlink()
    until(watching, "net.py:3:1: TL201 ")
    (tmp_path / "notes.md").write_text("nothing that tells facts")
    (tmp_path / "net.py").rename(tmp_path / "mesh.py")
    until(watching, "mesh.py:3:1: TL201 ")
    (tmp_path / "mesh.py").write_text(GOOD)
    until(watching, "No findings in 1 file.")
    watching.send_signal(signal.SIGINT)
    assert watching.wait(60) in (0, 1)  # 1 where the last check has not ended yet


@pytest.mark.parametrize("arguments", [["-"], ["--add-ignore", "because"]])
def test_what_cannot_be_watched_is_refused(arguments: list[str], tmp_path: Path) -> None:
    done = run_torchlint("check", "--watch", *arguments, cwd=tmp_path)
    assert (done.returncode, "--watch" in done.stderr) == (2, True)


def test_without_watchfiles_it_says_how_to_get_it(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(GOOD)
    hidden = "import sys; sys.modules['watchfiles'] = None; from torchlint.cli import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", hidden, "check", "--watch"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "pip install watchfiles" in done.stderr
