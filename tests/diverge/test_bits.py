"""A program that is recorded computes the bits that it computes without a recorder."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

pytest.importorskip("torch")

from tests.cli.command import clean_environment
from torchlint.diverge.recordings import read_recorded
from torchlint.diverge.running import Wanted, recorded_run
from torchlint.recording.journal.names import Level

pytestmark = pytest.mark.torch

SCRIPT = Path(__file__).with_name("ten_programs.py")


@pytest.fixture(scope="module")
def plain() -> str:
    done = subprocess.run(
        [sys.executable, str(SCRIPT)], capture_output=True, text=True, env=clean_environment(), check=True
    )
    assert len(done.stdout.splitlines()) == 10
    return done.stdout


@pytest.mark.parametrize("level", get_args(Level))
def test_ten_programs_end_with_the_same_parameters(level: Level, plain: str, tmp_path: Path) -> None:
    with (tmp_path / "output").open("wb") as output:
        ended = recorded_run([sys.executable, str(SCRIPT)], tmp_path, Wanted(level), output=output.fileno())
    assert ended.status == 0
    told = (tmp_path / "output").read_text(encoding="utf-8")
    assert [line for line in told.splitlines() if line in plain.splitlines()] == plain.splitlines(), told
    recorded = read_recorded(tmp_path)
    assert recorded.troubles == ()
    assert recorded.processes["main"].summary.steps > 40
