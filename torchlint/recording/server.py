"""The server: imports torch once, runs nothing, and forks a keeper for each request.

A process that has run an operator on several threads must not fork (its children hang), and one with threads should
not: so this one executes no operator and starts no thread, whatever it imports.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import select
import signal
import socket
from pathlib import Path
from typing import NoReturn

import msgspec

from torchlint.recording.confinement import linux, processes, scratch
from torchlint.recording.keeper import keep
from torchlint.recording.runner import Entry


class Ready(msgspec.Struct, frozen=True, kw_only=True):
    """The server's first and only words to the command."""

    error: str = ""
    """Why it cannot serve: torch, or what it needs, cannot be imported."""
    threads: int = 1


def main(control: int, entry: str, base: str, command: int) -> NoReturn:
    """Serve requests that come as sockets through `control`, until that is closed; then leave nothing in `base`."""
    status = 1
    try:
        with socket.socket(fileno=control) as connection:
            linux.adopt_orphans()
            Server(connection, command).serve(entry)
        status = 0
    finally:
        processes.end_all_descendants()
        scratch.remove(base)
        os._exit(status)


def load(entry: str) -> Entry:
    """`package.module:function`, after torch."""
    importlib.import_module("torch")
    module, _, function = entry.partition(":")
    loaded: Entry = getattr(importlib.import_module(module), function)
    return loaded


class Server:
    def __init__(self, control: socket.socket, command: int) -> None:
        self._control = control
        self._command = command
        self._keepers: set[int] = set()

    def serve(self, entry: str) -> None:
        try:
            run = load(entry)
        except Exception as error:  # noqa: BLE001 - whatever an import of torch raises is told to the user
            self._say(Ready(error=f"{type(error).__name__}: {error}"))
            return
        gc.collect()
        gc.freeze()  # what children inherit stays shared: no collection writes to it
        self._say(Ready(threads=sum(1 for _ in Path("/proc/self/task").iterdir())))
        wakeup, wakeup_end = os.pipe()
        os.set_blocking(wakeup_end, False)  # noqa: FBT003 - it takes no keyword
        signal.set_wakeup_fd(wakeup_end, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
        control = self._control.fileno()
        while True:
            ready, _, _ = select.select([control, wakeup], [], [])
            if wakeup in ready:
                os.read(wakeup, 4096)
                self._reap()
            if control in ready and not self._accept(run):
                return

    def _say(self, words: Ready) -> None:
        self._control.sendall(msgspec.json.encode(words) + b"\n")

    def _accept(self, run: Entry) -> bool:
        data, descriptors, _, _ = socket.recv_fds(self._control, 1, 1)
        if not data:
            return False
        with socket.socket(fileno=descriptors[0]) as connection, contextlib.suppress(OSError):
            # Where the system has no process to give, the command sees its connection closed.
            pid = os.fork()
            if not pid:
                self._become_keeper(connection, run)
            self._keepers.add(pid)
        return True

    def _become_keeper(self, connection: socket.socket, run: Entry) -> NoReturn:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        self._control.close()
        keep(connection, run, self._command)

    def _reap(self) -> None:
        """Collect the keepers; where one was killed, what it kept is now ours, and is ended."""
        with contextlib.suppress(ChildProcessError):
            while True:
                pid, _ = os.waitpid(-1, os.WNOHANG)
                if not pid:
                    break
                self._keepers.discard(pid)
        processes.end_children_except(self._keepers)
