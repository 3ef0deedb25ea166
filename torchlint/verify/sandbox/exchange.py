"""One request to a supervisor, and what comes back for it."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import time
from collections.abc import Iterator

import msgspec

from torchlint.recording.clock import PATIENCE
from torchlint.recording.confinement.job import Job, Report
from torchlint.recording.process.channel import ChannelError, Decoder, Frame, encode
from torchlint.verify.sandbox.outcome import Outcome

_GRACE = 15.0
"""How much longer than its process a supervisor may take, to end and report, before it is given up."""
_PIECE = 1 << 18


class Exchange:
    """One request and what comes back for it."""

    def __init__(self, connection: socket.socket, job: Job) -> None:
        self._connection = connection
        self._job = job
        self._started = time.monotonic()
        self._deadline = self._started + job.limits.seconds * PATIENCE + _GRACE
        self._messages: list[bytes] = []
        self._report: Report | None = None
        self._supervisor = 0

    @property
    def was_taken(self) -> bool:
        """A supervisor answered; otherwise nothing has been run."""
        return bool(self._supervisor)

    def outcome(self, request: bytes) -> Outcome:
        detail = "its supervisor ended unexpectedly"
        try:
            self._send(request)
            for frame in self._frames():
                if frame.kind == "message":
                    self._messages.append(frame.payload)
                elif frame.kind == "supervisor":
                    self._supervisor = int(frame.payload)
                elif frame.kind == "report":
                    self._report = msgspec.json.decode(frame.payload, type=Report)
        except TimeoutError:
            detail = "its supervisor did not answer in time"
            self._give_up()
        except (OSError, ChannelError) as error:
            detail = f"{detail} ({error})"
        if self._report is None:
            return Outcome(tuple(self._messages), "crash", detail, "", time.monotonic() - self._started)
        report = self._report
        return Outcome(tuple(self._messages), report.end, report.detail, report.output, report.seconds)

    def _give_up(self) -> None:
        """The server collects the supervisor, and ends what it kept."""
        if self._supervisor:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._supervisor, signal.SIGKILL)

    def _send(self, request: bytes) -> None:
        nonce = self._job.nonce
        self._limit_wait()
        self._connection.sendall(nonce + encode(nonce, "request", msgspec.json.encode(self._job)))
        self._connection.sendall(encode(nonce, "request", request))

    def _frames(self) -> Iterator[Frame]:
        decoder = Decoder(self._job.nonce)
        while True:
            self._limit_wait()
            data = self._connection.recv(_PIECE)
            if not data:
                return
            yield from decoder.feed(data)

    def _limit_wait(self) -> None:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._connection.settimeout(left)
