"""The server: imports torch once, runs nothing, and forks a supervisor for each request.

A process that has run an operator on several threads must not fork (its children hang), and one with threads should
not: so this one executes no operator and starts no thread, whatever it imports.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import os
import select
import signal
import socket
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import msgspec

from torchlint.recording.confinement import linux, processes, scratch
from torchlint.recording.process.runner import Entry, load
from torchlint.recording.process.supervisor import supervise


class Ready(msgspec.Struct, frozen=True, kw_only=True):
    """The server's first and only words to the command."""

    error: str = ""
    """Why it cannot serve: torch, or what it needs, cannot be imported."""
    threads: int = 1


def main(control: int, entry: str, base: str, command: int, *, preload: bool) -> NoReturn:
    """Serve requests that come as sockets through `control`, until the command ends it or is gone itself.

    In the latter case it clears the folder `base` away in the command's stead.
    """
    is_alone = True
    try:
        with socket.socket(fileno=control) as connection:
            linux.adopt_orphans()
            Server(connection, command).serve(entry, preload=preload)
            is_alone = False
    except _CommandGone:
        pass
    finally:
        processes.end_all_descendants()
        if is_alone:
            scratch.remove(base)
        os._exit(int(is_alone))


class _CommandGone(Exception):  # noqa: N818 - nothing went wrong here
    pass


class Server:
    def __init__(self, control: socket.socket, command: int) -> None:
        self._control = control
        self._command = command
        self._supervisors: set[int] = set()
        self._wakeup = os.pipe()

    def serve(self, entry: str, *, preload: bool) -> None:
        """With `preload` torch is imported here, once; without, each process imports it anew."""
        run = functools.partial(load, entry)
        try:
            if preload:
                run()
        except Exception as error:  # noqa: BLE001 - whatever an import of torch raises is told to the user
            self._say(Ready(error=f"{type(error).__name__}: {error}"))
            return
        gc.collect()
        gc.freeze()  # what children inherit stays shared: no collection writes to it
        self._say(Ready(threads=sum(1 for _ in Path("/proc/self/task").iterdir())))
        os.set_blocking(self._wakeup[1], False)
        signal.set_wakeup_fd(self._wakeup[1], warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
        control, wakeup = self._control.fileno(), self._wakeup[0]
        while True:
            ready, _, _ = select.select([control, wakeup], [], [])
            if wakeup in ready:
                os.read(wakeup, 4096)
                self._reap()
            if control in ready and not self._accept(run):
                return

    def _say(self, words: Ready) -> None:
        self._control.sendall(msgspec.json.encode(words) + b"\n")

    def _accept(self, run: Callable[[], Entry]) -> bool:
        data, descriptors, _, _ = socket.recv_fds(self._control, 1, 1)
        if not data:
            raise _CommandGone
        if not descriptors:  # its farewell
            return False
        with socket.socket(fileno=descriptors[0]) as connection, contextlib.suppress(OSError):
            # Where the system has no process to give, the command sees its connection closed.
            pid = os.fork()
            if not pid:
                self._become_supervisor(connection, run)
            self._supervisors.add(pid)
        return True

    def _become_supervisor(self, connection: socket.socket, run: Callable[[], Entry]) -> NoReturn:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        self._control.close()
        for descriptor in self._wakeup:
            os.close(descriptor)
        supervise(connection, run, self._command)

    def _reap(self) -> None:
        """Collect the supervisors; where one was killed, what it kept is now ours, and is ended."""
        with contextlib.suppress(ChildProcessError):
            while True:
                pid, _ = os.waitpid(-1, os.WNOHANG)
                if not pid:
                    break
                self._supervisors.discard(pid)
        processes.end_children_except(self._supervisors)
