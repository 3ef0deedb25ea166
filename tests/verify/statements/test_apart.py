"""Runs apart: what they change stays with them, and none of them is waited for longer than it may take."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytestmark = [pytest.mark.torch, pytest.mark.skipif(sys.platform == "win32", reason="runs are forked")]

from torchlint.recording.statements.apart import NoReply, run_apart  # noqa: E402


def test_a_switch_set_apart_is_unset_here() -> None:
    def work() -> bool:
        torch.backends.cudnn.benchmark = True
        os.environ["SET_APART"] = "1"
        return bool(torch.backends.cudnn.benchmark)

    assert run_apart(work, bool, 300) is True
    assert torch.backends.cudnn.benchmark is False
    assert "SET_APART" not in os.environ


def test_a_long_reply_comes_whole() -> None:
    assert run_apart(lambda: "x" * 300_000, str, 300) == "x" * 300_000


@pytest.mark.skipif(sys.platform != "linux", reason="it looks into /proc")
def test_a_process_that_is_left_behind_holds_nobody_up() -> None:
    def work() -> int:
        left = os.fork()
        if left == 0:
            time.sleep(600)
            os._exit(0)
        return left

    left = run_apart(work, int, 300)  # no reply, where the one that is left would be waited for
    while _is_running(left):
        time.sleep(0.05)


def _is_running(process: int) -> bool:
    """A killed one may stay as a zombie until somebody asks for its status."""
    try:
        return " Z " not in Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False


@pytest.mark.parametrize("how", [lambda: os._exit(0), lambda: sys.exit(0), lambda: 1 / 0])
def test_a_run_that_ends_without_a_word_has_no_reply(how: object) -> None:
    assert callable(how)
    with pytest.raises(NoReply):
        run_apart(how, int, 300)


def test_a_run_that_never_ends_is_ended() -> None:
    with pytest.raises(NoReply, match="more than"):
        run_apart(lambda: time.sleep(600), int, 0.5)  # type: ignore[arg-type, return-value]
