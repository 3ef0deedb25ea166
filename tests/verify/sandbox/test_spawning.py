"""Fresh interpreters, as on systems where a server cannot fork."""

from __future__ import annotations

import ast
import os
import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.verify.sandbox.attempts import COMMANDS, IMPORTS, SIGNALS, WRITES
from tests.verify.sandbox.remains import ENTRY, HERE, digest, patiently, remains
from torchlint.verify.sandbox import Confinement, Limits, Sandbox

pytestmark = pytest.mark.torch

pytest.importorskip("torch")
if sys.platform != "linux":
    pytest.skip("looks at processes as Linux shows them", allow_module_level=True)


@pytest.fixture(scope="module")
def spawning() -> Iterator[Sandbox]:
    """Without walls, as on the systems that it is for."""
    with Sandbox(
        Limits(seconds=300), entry=ENTRY, paths=[HERE], confinement=Confinement.none(), start="spawn"
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
    code = (
        b"import os, time\nchild = os.fork()\nif child == 0: time.sleep(600)\n"
        b"send(str(child).encode())\nwhile True: pass"
    )
    outcome = patiently(lambda seconds: spawning.run(code, limits=Limits(seconds=4 * seconds)))
    assert outcome.end == "timeout"
    assert not _is_running(int(outcome.messages[0]))
    assert remains(spawning) == []


def _is_running(pid: int) -> bool:
    """Whether it is there and no zombie, which nobody may be left to bury; the kernel may take a moment."""
    deadline = time.monotonic() + 300
    status = Path(f"/proc/{pid}/stat")
    while time.monotonic() < deadline:
        try:
            if status.read_text(encoding="utf-8").rpartition(")")[2].split()[0] == "Z":
                return False
        except (FileNotFoundError, ProcessLookupError):
            return False
        time.sleep(0.01)
    return True


def test_files_outside_stay_as_they_are(spawning: Sandbox, decoy: Path) -> None:
    before = digest(decoy)
    answers = _tried(spawning, [code.replace("DECOY", repr(str(decoy))) for code in WRITES])
    assert [code for code in answers if "allows writes only below its scratch folder" not in answers[code]] == []
    assert digest(decoy) == before


def test_no_one_is_reached(spawning: Sandbox) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.2)
        network = [
            f"socket.create_connection({listener.getsockname()})",
            "socket.socket(socket.AF_UNIX, socket.SOCK_STREAM).connect('\\0torchlint')",
            "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', 9))",
            "socket.getaddrinfo('example.com', 80)",
        ]
        signals = [code.replace("PARENT", str(os.getpid())) for code in SIGNALS]
        answers = _tried(spawning, [*network, *COMMANDS, *signals])
        with pytest.raises(TimeoutError):
            listener.accept()
    said = {code: answer for code, answer in answers.items() if answer.startswith("PermissionError: [Errno ")}
    assert [said[code].partition("torchlint verify ")[2] for code in network] == ["gives no network"] * 4
    assert [said[code].partition("torchlint verify ")[2] for code in COMMANDS] == [
        "starts no commands on this system"
    ] * len(COMMANDS)
    assert [said[code].partition("torchlint verify ")[2] for code in signals] == ["lets no signal out"] * len(signals)


def _tried(spawning: Sandbox, attempts: list[str]) -> dict[str, str]:
    """What each was answered, all in one process: an interpreter that imports torch takes seconds."""
    outcome = spawning.run(
        f"{IMPORTS}home = os.getcwd()\nanswers = {{}}\n"
        f"for number, attempt in enumerate({attempts!r}):\n"
        "    os.chdir(home); os.mkdir(str(number)); os.chdir(str(number))\n"
        "    try: exec(attempt); answers[attempt] = 'nobody refused'\n"
        "    except Exception as error: answers[attempt] = f'{type(error).__name__}: {error}'\n"
        "send(repr(answers).encode())".encode()
    )
    assert outcome.end == "done", outcome.detail
    answers: dict[str, str] = ast.literal_eval(outcome.messages[0].decode())
    return answers


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
