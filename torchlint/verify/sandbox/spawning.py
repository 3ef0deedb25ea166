"""A fresh interpreter for each request, kept by this process: for systems on which a server cannot fork.

Slower, and weaker: memory and the number of processes are watched by nobody, and on Windows there is no limit on files.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO

import msgspec

from torchlint.errors import TorchlintError
from torchlint.recording.confinement.job import End, Job
from torchlint.recording.process.channel import ChannelError, Decoder, encode
from torchlint.recording.process.excerpt import Excerpt
from torchlint.recording.process.exit_status import how_it_ended
from torchlint.verify.sandbox import bootstrap
from torchlint.verify.sandbox.outcome import Outcome

_PIECE = 1 << 16
_SECONDS_TO_DRAIN = 2.0


class Spawned:
    """One request and the interpreter that runs it."""

    def __init__(
        self, job: Job, *, python: str, entry: str, hash_seed: int, paths: Sequence[Path], folder: Path
    ) -> None:
        self._job = job
        self._messages: list[bytes] = []
        self._output = Excerpt(job.limits.output_bytes)
        self._end: tuple[End, str] | None = None
        self._ended = threading.Event()
        self._started = time.monotonic()
        try:
            self._process = subprocess.Popen(  # noqa: S603 - our own interpreter, with our own program
                bootstrap.command(python, "torchlint.recording.process.spawned", {"entry": entry}, paths),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                cwd=folder,
                env=bootstrap.environment(python, hash_seed=hash_seed),
                start_new_session=True,
            )
        except OSError as error:
            raise TorchlintError(f"{python} cannot be started: {error}") from error

    def outcome(self, request: bytes) -> Outcome:
        threads = self._threads(request)
        for thread in threads:
            thread.start()
        try:
            self._ended.wait(self._job.limits.seconds)
            self._settle()
        finally:
            self.abort()
            for thread in threads:
                thread.join(_SECONDS_TO_DRAIN)
        end, detail = self._end or ("timeout", f"still running after {self._job.limits.seconds:g} s")
        return Outcome(tuple(self._messages), end, detail, self._output.text, time.monotonic() - self._started)

    def abort(self) -> None:
        """Kill it and what it started, as far as that is still of its group."""
        if sys.platform == "win32":
            subprocess.run(  # noqa: S603 - nothing of it comes from outside
                ["taskkill", "/F", "/T", "/PID", str(self._process.pid)],  # noqa: S607 - a part of Windows
                capture_output=True,
                check=False,
            )
        else:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def _threads(self, request: bytes) -> list[threading.Thread]:
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        return [
            threading.Thread(target=self._write, args=(process.stdin, request), daemon=True),
            threading.Thread(target=self._read_channel, args=(process.stdout,), daemon=True),
            threading.Thread(target=self._read_output, args=(process.stderr,), daemon=True),
        ]

    def _settle(self) -> None:
        """Where the channel was closed without an end, the way that the process ended says why."""
        if self._end is not None or not self._ended.is_set():
            return
        try:
            self._end = ("crash", how_it_ended(self._process.wait(_SECONDS_TO_DRAIN)))
        except subprocess.TimeoutExpired:
            self._end = ("channel", "the target closed the result channel")

    def _write(self, stream: IO[bytes], request: bytes) -> None:
        nonce = self._job.nonce
        frames = encode(nonce, "request", msgspec.json.encode(self._job)) + encode(nonce, "request", request)
        unsent = memoryview(nonce + frames)
        with contextlib.suppress(OSError), stream:  # it may be dead already, which is seen elsewhere
            while unsent:
                unsent = unsent[os.write(stream.fileno(), unsent) :]

    def _read_channel(self, stream: IO[bytes]) -> None:
        decoder = Decoder(self._job.nonce)
        try:
            with stream:
                while self._end is None and (data := os.read(stream.fileno(), _PIECE)):
                    for frame in decoder.feed(data):
                        if frame.kind == "message":
                            self._messages.append(frame.payload)
                        else:
                            self._end = frame.closing
        except ChannelError as error:
            self._end = ("channel", str(error))
        finally:
            self._ended.set()

    def _read_output(self, stream: IO[bytes]) -> None:
        with stream:
            while data := os.read(stream.fileno(), _PIECE):
                self._output.feed(data)
