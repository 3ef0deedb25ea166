"""The command's side of the server: start it, hand it sockets, notice its death, end it."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path

import msgspec

from torchlint.errors import TorchlintError
from torchlint.recording.process.server import Ready
from torchlint.verify.sandbox import bootstrap

_SECONDS_TO_START = 300.0
"""On a cold network drive an import of torch takes minutes."""
_SECONDS_TO_END = 10.0
_REQUEST, _FAREWELL = b"+", b"."


class ServerProcess:
    def __init__(
        self, *, python: str, entry: str, hash_seed: int, paths: Sequence[Path], base: Path, preload: bool
    ) -> None:
        self._python = python
        self._control, theirs = socket.socketpair()
        self._sending = threading.Lock()
        self._starting = threading.Lock()
        self._ready: Ready | None = None
        self._log = base / f"log-{theirs.fileno()}"
        arguments = {
            "control": theirs.fileno(),
            "entry": entry,
            "base": str(base),
            "command": os.getpid(),
            "preload": preload,
        }
        try:
            with theirs, self._log.open("wb") as log:
                self._process = subprocess.Popen(  # noqa: S603 - our own interpreter, with our own program
                    bootstrap.command(python, "torchlint.recording.process.server", arguments, paths),
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    cwd=base,
                    env=bootstrap.environment(python, hash_seed=hash_seed),
                    pass_fds=[theirs.fileno()],
                    start_new_session=True,
                )
        except OSError as error:
            self._control.close()
            raise TorchlintError(f"{python} cannot be started: {error}") from error

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    @property
    def pid(self) -> int:
        return self._process.pid

    def ready(self) -> Ready:
        """Wait until it has imported torch; TorchlintError where it cannot."""
        with self._starting:
            if self._ready is None:
                self._ready = self._hear()
        if self._ready.error:
            raise self._unusable(f"torch cannot be imported ({self._ready.error})")
        return self._ready

    def connect(self) -> socket.socket:
        """A connection to a supervisor of its own. OSError when the server is gone."""
        ours, theirs = socket.socketpair()
        try:
            with theirs, self._sending:
                socket.send_fds(self._control, [_REQUEST], [theirs.fileno()])
        except BaseException:
            ours.close()
            raise
        return ours

    def close(self) -> None:
        """End it, and through it all that it started."""
        if self._ready is None:  # it still imports torch, and so has started nothing
            self._process.kill()
        with contextlib.suppress(OSError), self._sending:
            self._control.sendall(_FAREWELL)
        self._control.close()
        try:
            self._process.wait(_SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _hear(self) -> Ready:
        self._control.settimeout(_SECONDS_TO_START)
        heard = b""
        try:
            while not heard.endswith(b"\n"):
                data = self._control.recv(1 << 16)
                if not data:
                    raise self._unusable(f"the process that imports torch ended at once ({self._last_words()})")
                heard += data
        except OSError as error:
            raise TorchlintError(f"the process that imports torch does not answer ({self._last_words()})") from error
        finally:
            self._control.settimeout(None)
        return msgspec.json.decode(heard, type=Ready)

    def _unusable(self, reason: str) -> TorchlintError:
        need = f"`torchlint verify` needs torch for {self._python}"
        return TorchlintError(f"{reason}: {need}: install it there, or torchlint where your torch is")

    def _last_words(self) -> str:
        try:
            lines = self._log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        except OSError:  # it took its folder with it
            lines = []
        return lines[-1] if lines else f"it said nothing (exit code {self._process.poll()})"
