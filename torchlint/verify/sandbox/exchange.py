"""One request to a keeper, and what comes back for it."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import time
from collections.abc import Iterator

import msgspec

from torchlint.recording.channel import ChannelError, Decoder, Frame, encode
from torchlint.recording.confinement.job import Job, Report
from torchlint.verify.sandbox.outcome import Outcome

_GRACE = 15.0
"""How much longer than its process a keeper may take, to end and report, before it is given up."""
_PIECE = 1 << 18


class Exchange:
    """One request and what comes back for it."""

    def __init__(self, connection: socket.socket, job: Job) -> None:
        self._connection = connection
        self._job = job
        self._started = time.monotonic()
        self._deadline = self._started + job.limits.seconds + _GRACE
        self._messages: list[bytes] = []
        self._report: Report | None = None
        self._keeper = 0

    @property
    def was_taken(self) -> bool:
        """A keeper answered; otherwise nothing has been run."""
        return bool(self._keeper)

    def outcome(self, request: bytes) -> Outcome:
        detail = "its keeper ended unexpectedly"
        try:
            self._send(request)
            for frame in self._frames():
                if frame.kind == "message":
                    self._messages.append(frame.payload)
                elif frame.kind == "keeper":
                    self._keeper = int(frame.payload)
                elif frame.kind == "report":
                    self._report = msgspec.json.decode(frame.payload, type=Report)
        except TimeoutError:
            detail = "its keeper did not answer in time"
            self._give_up()
        except (OSError, ChannelError) as error:
            detail = f"{detail} ({error})"
        if self._report is None:
            return Outcome(tuple(self._messages), "crash", detail, "", time.monotonic() - self._started)
        report = self._report
        return Outcome(tuple(self._messages), report.end, report.detail, report.output, report.seconds)

    def _give_up(self) -> None:
        """The server collects the keeper, and ends what it kept."""
        if self._keeper:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._keeper, signal.SIGKILL)

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
