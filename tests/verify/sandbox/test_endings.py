"""Every way that user code can end, or not end, is told from the others, and leaves nothing behind."""

from __future__ import annotations

import re

import pytest

from tests.verify.sandbox.remains import Run, patiently
from torchlint.verify.sandbox import Limits

pytestmark = pytest.mark.torch


def test_code_that_ends_is_done(run: Run) -> None:
    outcome = run(
        "import torch; send(str(torch.ones(64, 64).mm(torch.ones(64, 64)).sum().item()).encode()); print('out')"
    )
    assert (outcome.end, outcome.detail) == ("done", "")
    assert outcome.messages == (b"262144.0",)
    assert outcome.output == "out\n"


@pytest.mark.parametrize(
    ("code", "detail"),
    [
        ("import ctypes; ctypes.string_at(0)", "segmentation fault (signal 11)"),
        ("import os; os.abort()", "aborted (signal 6)"),
        ("import os; os._exit(0)", "exited with code 0 before it was done"),
        ("import os; os._exit(7)", "exited with code 7 before it was done"),
        ("import sys; sys.exit(3)", "the code called sys.exit(3)"),
        ("raise ValueError('no such shape')", "ValueError: no such shape"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("import os; os.kill(os.getpid(), 9)", "killed (signal 9), by itself, or by the system because memory ran out"),
    ],
)
def test_a_crash_says_how_and_keeps_what_was_sent(run: Run, code: str, detail: str) -> None:
    outcome = run(f"send(b'before')\nprint('printed before')\n{code}")
    assert (outcome.end, outcome.detail) == ("crash", detail)
    assert outcome.messages == (b"before",)
    assert outcome.output.startswith("printed before\n")


@pytest.mark.parametrize(
    "code",
    [
        "while True: pass",
        "import time; time.sleep(600)",
        "from signal import *\nfor n in (SIGTERM, SIGINT, SIGALRM): signal(n, SIG_IGN)\nwhile True: pass",
        "import torch\nclass M(torch.nn.Module):\n  def forward(self, x):\n    while True: x += 1\nM()(torch.ones(3))",
        "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)",
        "import sys; sys.stdout.flush = lambda: __import__('time').sleep(600); sys.stdout.flush()",
        "import os; r, w = os.pipe(); os.read(r, 1)",
        "import threading; lock = threading.Lock(); lock.acquire(); lock.acquire()",
    ],
)
def test_what_does_not_end_is_ended(run: Run, code: str) -> None:
    outcome = patiently(lambda seconds: run(f"send(b'before')\n{code}", limits=Limits(seconds=seconds)))
    assert outcome.end == "timeout"
    assert re.match(r"still running after (0\.5|5|50) s(, \d+ s on the clock of a busy machine)?$", outcome.detail)
    assert outcome.messages == (b"before",)


@pytest.mark.parametrize(
    "code",
    [
        "import atexit, time; atexit.register(time.sleep, 600)",
        "import threading, time; threading.Thread(target=time.sleep, args=(600,)).start()",
        "import os, time\nif os.fork() == 0:\n  os.setsid()\n  if os.fork() == 0:\n    time.sleep(600)",
        "import subprocess; subprocess.Popen(['sleep', '600'], start_new_session=True)",
        "import subprocess; subprocess.Popen('trap \"\" TERM INT HUP; sleep 600 & sleep 600', shell=True)",
    ],
)
def test_what_is_left_running_holds_up_nothing(run: Run, code: str) -> None:
    assert run(code).end == "done"  # else it would be ended after 300 s, before its sleep is over


def test_memory_that_grows_ends_at_the_limit(run: Run) -> None:
    outcome = run(
        "held = []\nwhile True: held.append(bytearray(b'x') * (1 << 20))", limits=Limits(memory_bytes=400 << 20)
    )
    assert outcome.end == "memory"


def test_memory_of_several_processes_counts_together(run: Run) -> None:
    code = (
        "import os, time\nfor _ in range(4):\n  if os.fork() == 0:\n"
        "    held = b'x' * (150 << 20)\n    time.sleep(600)\ntime.sleep(600)"
    )
    outcome = run(code, limits=Limits(memory_bytes=400 << 20, seconds=300))
    assert (outcome.end, outcome.detail) == ("memory", "used more than 0.391 GiB of memory")


def test_shared_memory_counts_once(run: Run) -> None:
    code = (
        "import os, time\nheld = b'x' * (150 << 20)\n"
        "for _ in range(4):\n  if os.fork() == 0: time.sleep(600)\ntime.sleep(0.5)"
    )
    assert run(code, limits=Limits(memory_bytes=600 << 20)).end == "done"


def test_a_layer_too_large_for_any_memory_is_for_want_of_memory(run: Run) -> None:
    outcome = run("import torch; torch.nn.Linear(10**6, 10**6)")
    assert outcome.end == "memory"
    assert "allocate memory" in outcome.detail


def test_memory_that_is_only_mapped_is_no_memory_in_use(run: Run) -> None:
    code = (
        "import mmap, os\nwith open('big', 'wb') as f: f.truncate(900 << 20)\n"
        "f = open('big', 'rb'); mapped = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)"
    )
    assert run(code, limits=Limits(memory_bytes=300 << 20)).end == "done"


@pytest.mark.parametrize(
    "code",
    [
        "for _ in range(300):\n  if os.fork() == 0: time.sleep(600)",
        "for _ in range(9): os.fork()",
        "for _ in range(200):\n  if os.fork() == 0:\n    os.setsid(); time.sleep(600)",
    ],
)
def test_a_storm_of_processes_is_ended(run: Run, code: str) -> None:
    outcome = run(f"import os, time\n{code}\ntime.sleep(600)", limits=Limits(processes=20, seconds=300))
    assert (outcome.end, outcome.detail) == ("processes", "started more than 20 processes")


def test_a_storm_of_threads_is_ended(run: Run) -> None:
    code = (
        "import threading, time\nfor _ in range(200): threading.Thread(target=time.sleep, args=(600,)).start()\n"
        "time.sleep(600)"
    )
    assert run(code, limits=Limits(processes=2, seconds=300)).end == "processes"


def test_standard_input_is_empty(run: Run) -> None:
    assert run("import sys; send(repr(sys.stdin.read()).encode())").messages == (b"''",)
    assert run("input()").detail == "EOFError: EOF when reading a line"


def test_of_endless_output_the_head_and_the_tail_are_kept(run: Run) -> None:
    code = "print('first')\nline = 'x' * 99_999\nfor _ in range(2000): print(line)\nprint('last')"
    outcome = run(code, limits=Limits(output_bytes=1000))
    assert outcome.end == "done"
    assert outcome.output.startswith("first\n")
    assert outcome.output.endswith("last\n")
    assert len(outcome.output) < 2000
    assert "bytes left out" in outcome.output


def test_output_of_native_code_and_of_commands_is_captured(run: Run) -> None:
    outcome = run("import os; os.write(1, b'one\\n'); os.write(2, b'two\\n'); os.system('echo three')")
    assert outcome.output == "one\ntwo\nthree\n"


def test_output_that_is_no_text_is_shown_as_far_as_it_is(run: Run) -> None:
    assert run("import os; os.write(1, b'\\xff\\xfeok')").output == "\ufffd\ufffdok"
