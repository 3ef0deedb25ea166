"""The sandbox itself: starting, sharing, being interrupted, being killed, and leaving nothing behind."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from tests.verify.sandbox.remains import ENTRY, HERE, Run, patiently
from torchlint.errors import TorchlintError
from torchlint.recording.confinement import processes
from torchlint.verify.sandbox import Limits, Outcome, Sandbox

pytestmark = [pytest.mark.torch, pytest.mark.skipif(sys.platform != "linux", reason="the server forks on Linux only")]

pytest.importorskip("torch")

PACKAGE = Path(__file__).parents[3]
PARENTS = (
    "import ctypes, os, time\n"
    "libc = ctypes.CDLL(None)\n"
    "supervisor = os.getppid()\n"
    "server = int(open(f'/proc/{supervisor}/stat').read().rpartition(')')[2].split()[1])\n"
)


def test_a_killed_supervisor_is_a_crash_and_its_processes_end(bare: Run) -> None:
    code = PARENTS + "send(b'x')\nif os.fork() == 0:\n  os.setsid()\n  time.sleep(600)\n"
    outcome = patiently(lambda seconds: bare(f"{code}time.sleep({seconds})\nlibc.kill(supervisor, 9)\ntime.sleep(600)"))
    assert (outcome.messages, outcome.end) == ((b"x",), "crash")
    assert outcome.detail.startswith("its supervisor ended unexpectedly")


def test_a_stopped_supervisor_is_given_up(bare: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torchlint.verify.sandbox.exchange._GRACE", 10.0)
    outcome = bare(PARENTS + "libc.kill(supervisor, 19)\ntime.sleep(600)", limits=Limits(seconds=1))
    assert (outcome.end, outcome.detail) == ("crash", "its supervisor did not answer in time")


def test_a_killed_server_is_started_again_and_takes_no_request_with_it(bare: Run) -> None:
    first = bare(PARENTS + "libc.kill(server, 9)\ntime.sleep(0.2)\nsend(b'survived')")
    assert (first.messages, first.end) == ((b"survived",), "done")


def test_a_server_that_was_killed_while_idle_is_started_again(run: Run, sandbox: Sandbox) -> None:
    assert run("send(b'alive')").messages == (b"alive",)
    os.kill(sandbox._servers[0].pid, signal.SIGKILL)
    assert run("send(b'alive')").messages == (b"alive",)


def test_closing_ends_what_runs() -> None:
    with Sandbox(Limits(seconds=60), entry=ENTRY, paths=[HERE]) as sandbox:
        base = sandbox._base
        outcomes: list[Outcome] = []
        code = b"import os, time\nif os.fork() == 0: os.setsid()\ntime.sleep(600)"
        threads = [threading.Thread(target=lambda: outcomes.append(sandbox.run(code))) for _ in range(2)]
        for thread in threads:
            thread.start()
        until(lambda: sum(1 for each in processes.descendants(sandbox._servers[0].pid)) == 6)
        server = sandbox._servers[0].pid
        below = [each.pid for each in processes.descendants(server)]
    for thread in threads:
        thread.join(300)
    assert [outcome.end for outcome in outcomes] == ["crash", "crash"]
    assert base is not None
    assert not base.exists()
    until(lambda: not any(is_running(pid) for pid in [server, *below]))


def test_a_closed_sandbox_runs_nothing() -> None:
    sandbox = Sandbox(entry=ENTRY, paths=[HERE])
    with sandbox:
        pass
    with pytest.raises(RuntimeError, match="closed"):
        sandbox.run(b"")


def test_each_hash_seed_has_its_own_order(sandbox: Sandbox) -> None:
    code = b"send(str(hash('text')).encode())"
    usual, again, other = (sandbox.run(code, hash_seed=seed).messages for seed in (0, 0, 1))
    assert usual == again != other


def test_an_interpreter_without_torch_is_named_with_the_remedy(tmp_path: Path) -> None:
    (tmp_path / "msgspec").symlink_to(Path(msgspec.__file__).parent)
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH="{tmp_path}" exec "{sys.executable}" -S "$@"\n')
    python.chmod(0o700)
    with Sandbox(entry=ENTRY, paths=[HERE], python=str(python)) as sandbox, pytest.raises(TorchlintError) as caught:
        sandbox.run(b"")
    assert str(caught.value) == (
        "torch cannot be imported (ModuleNotFoundError: No module named 'torch'): `torchlint verify` needs torch "
        f"for {python}: install it there, or torchlint where your torch is"
    )


def test_an_interpreter_that_does_not_exist_is_an_error_of_the_users() -> None:
    with pytest.raises(TorchlintError, match="/nowhere/python cannot be started"), Sandbox(python="/nowhere/python"):
        pass


def test_an_interpreter_that_ends_at_once_is_an_error_of_the_users() -> None:
    with Sandbox(python="/bin/false", entry=ENTRY) as sandbox, pytest.raises(TorchlintError, match="ended at once"):
        sandbox.run(b"")


def test_a_server_with_threads_does_not_fork_what_imported_torch(tmp_path: Path) -> None:
    (tmp_path / "threaded_entry.py").write_text(
        "import threading, time\nthreading.Thread(target=time.sleep, args=(600,), daemon=True).start()\n"
        "from sandboxed_entry import run\n"
    )
    with Sandbox(entry="threaded_entry:run", paths=[HERE, tmp_path]) as sandbox:
        outcome = sandbox.run(b"import torch; send(b'alive')")
        assert (outcome.messages, outcome.end) == ((b"alive",), "done")
        assert sandbox._servers[0].ready().threads == 1


PROGRAM = """
import signal, sys, threading
from pathlib import Path
from torchlint.verify.sandbox import Limits, Sandbox
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell has its background commands ignore it
code = b"import os, time; os.fork() == 0 and os.setsid(); time.sleep(600)"
with Sandbox(Limits(seconds=600), entry={entry!r}, paths=[Path({here!r})], start={start!r}) as sandbox:
    other = threading.Thread(target=sandbox.run, args=(code,))
    other.start()
    print(sandbox._base, flush=True)
    sandbox.run(code)
"""


@contextlib.contextmanager
def command(tmp_path: Path, start: str) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """A command with two requests under way, in a folder of files that must not be taken for modules."""
    for name in ("torch", "json", "random", "msgspec", "torchlint"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('shadowed')\n")
    program = tmp_path / "folder" / "program.py"
    program.parent.mkdir()
    program.write_text(PROGRAM.format(entry=ENTRY, here=str(HERE), start=start))
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE)}
    arguments = [sys.executable, str(program)]
    with subprocess.Popen(
        arguments, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=tmp_path, env=environment
    ) as process:
        assert process.stdout is not None
        try:
            yield process, Path(process.stdout.readline().strip())
        finally:
            process.kill()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_command_that_is_stopped_leaves_nothing(tmp_path: Path, number: signal.Signals) -> None:
    with command(tmp_path, "fork") as (process, base):
        until(
            lambda: len(processes.descendants(process.pid)) == 7
        )  # server; two each of supervisor, process and what it started
        below = [each.pid for each in processes.descendants(process.pid)]
        process.send_signal(number)
        process.wait(300)
    until(lambda: not any(is_running(pid) for pid in below))
    until(lambda: not base.exists())


def test_what_a_killed_command_and_its_killed_server_leave_is_removed_by_the_next(tmp_path: Path) -> None:
    with command(tmp_path, "fork") as (process, base):
        until(lambda: len(processes.descendants(process.pid)) == 7)
        below = [each.pid for each in processes.descendants(process.pid)]
        for pid in [process.pid, *below]:  # the server first of these, so that nobody clears up
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.wait(300)
    until(lambda: not any(is_running(pid) for pid in below))
    with Sandbox(Limits(seconds=60), entry=ENTRY, paths=[HERE]) as sandbox:
        assert sandbox.run(b"send(b'alive')").messages == (b"alive",)
        assert not base.exists()


def test_a_command_that_spawns_leaves_nothing_after_an_interrupt(tmp_path: Path) -> None:
    with command(tmp_path, "spawn") as (process, base):
        until(lambda: sum(1 for each in processes.descendants(process.pid) if each.parent == process.pid) == 2)
        below = [each.pid for each in processes.descendants(process.pid)]
        process.send_signal(signal.SIGINT)
        process.wait(300)
    until(lambda: not any(is_running(pid) for pid in below))
    until(lambda: not base.exists())


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 300
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)
