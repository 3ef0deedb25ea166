"""Fresh interpreters, as on systems where a server cannot fork."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.verify.sandbox.remains import ENTRY, HERE, digest, remains
from torchlint.verify.sandbox import Confinement, Limits, Sandbox

pytestmark = pytest.mark.torch

pytest.importorskip("torch")


@pytest.fixture(scope="module")
def spawning() -> Iterator[Sandbox]:
    """Without walls, as on the systems that it is for."""
    with Sandbox(
        Limits(seconds=20), entry=ENTRY, paths=[HERE], confinement=Confinement.none(), start="spawn"
    ) as opened:
        yield opened


@pytest.mark.parametrize(
    ("code", "end", "detail"),
    [
        ("import torch; torch.ones(9)", "done", ""),
        ("import ctypes; ctypes.string_at(0)", "crash", "segmentation fault (signal 11)"),
        ("import os; os._exit(0)", "crash", "exited with code 0 before it was done"),
        ("import sys; sys.exit(3)", "crash", "the code called sys.exit(3)"),
        ("import os, time; os.closerange(0, 4096); time.sleep(600)", "channel", "the target closed the result channel"),
        ("import sys; raise ValueError(sys.stdin.read())", "crash", "ValueError"),
        ("import atexit, time; atexit.register(time.sleep, 600)", "done", ""),
    ],
)
def test_endings_are_told_apart(spawning: Sandbox, code: str, end: str, detail: str) -> None:
    outcome = spawning.run(f"send(b'before')\nprint('printed')\n{code}".encode())
    assert (outcome.end, outcome.detail) == (end, detail)
    assert outcome.messages == (b"before",)
    assert outcome.output.startswith("printed\n")
    assert remains(spawning) == []


def test_what_does_not_end_is_ended(spawning: Sandbox) -> None:
    outcome = spawning.run(
        b"import os, time\nsend(b'before')\nif os.fork() == 0: time.sleep(600)\nwhile True: pass",
        limits=Limits(seconds=3),
    )
    assert (outcome.messages, outcome.end) == ((b"before",), "timeout")
    assert remains(spawning) == []


def test_files_outside_stay_as_they_are(spawning: Sandbox, decoy: Path) -> None:
    before = digest(decoy)
    code = f"import torch; send(b'x'); torch.save(torch.ones(3), {str(decoy / 'model.py')!r})"
    assert "allows writes only below" in spawning.run(code.encode()).detail
    assert digest(decoy) == before


def test_walls_are_put_up_where_they_are(decoy: Path) -> None:
    code = f"import ctypes; send(str(ctypes.CDLL(None).unlink({str(decoy / 'model.py')!r}.encode())).encode())"
    with Sandbox(entry=ENTRY, paths=[HERE], start="spawn") as sandbox:
        if not sandbox.confinement.is_sandboxed:
            pytest.skip("no walls on this system")
        assert sandbox.run(code.encode()).messages == (b"-1",)


def test_large_requests_and_answers_pass(spawning: Sandbox) -> None:
    text = "x" * (3 << 20)
    outcome = spawning.run(f"send(b'{text}'); print('{text}')".encode(), limits=Limits(output_bytes=100))
    assert outcome.messages == (text.encode(),)
    assert len(outcome.output) < 200
