"""The place where requests are run."""

from __future__ import annotations

import contextlib
import itertools
import os
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType

import msgspec

from torchlint.recording.channel import NONCE_BYTES, ChannelError, Decoder, Frame, encode
from torchlint.recording.confinement import scratch
from torchlint.recording.confinement.job import Job, Limits, Report
from torchlint.verify.sandbox.confinement import Confinement
from torchlint.verify.sandbox.outcome import Outcome
from torchlint.verify.sandbox.server_process import ServerProcess

_GRACE = 15.0
"""How much longer than its process a keeper may take, to end and report, before it is given up."""
_PIECE = 1 << 18


class Sandbox:
    """Runs each request in a process of its own; `run` may be called from several threads at once.

    `entry` is `module:function`, called as `function(request, send)` in that process; `paths` are searched for its
    module last. `confinement` stands for what this system has; give another only to have less.
    """

    def __init__(
        self,
        limits: Limits | None = None,
        *,
        python: str = sys.executable,
        entry: str = "torchlint.recording.child:run",
        paths: Sequence[Path] = (),
        confinement: Confinement | None = None,
    ) -> None:
        self.limits = limits or Limits()
        self.confinement = confinement or Confinement.of_this_system()
        self._python = python
        self._entry = entry
        self._paths = tuple(paths)
        self._lock = threading.Lock()
        self._servers: dict[int, ServerProcess] = {}
        self._connections: set[socket.socket] = set()
        self._numbers = itertools.count()
        self._base: Path | None = None

    def __enter__(self) -> Sandbox:  # noqa: PYI034 - Python 3.10 has no Self
        self._base = Path(tempfile.mkdtemp(prefix="torchlint-"))
        try:
            self._server(0)  # torch is imported while the command goes on
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End what runs, and leave neither a process nor a folder."""
        with self._lock:
            base, self._base = self._base, None
            servers, self._servers = self._servers, {}
            connections = list(self._connections)
        for connection in connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for server in servers.values():
            server.close()
        if base is not None:
            scratch.remove(str(base))

    def run(
        self,
        request: bytes,
        *,
        allow_gpu: bool = False,
        workers: bool = False,
        hash_seed: int = 0,
        limits: Limits | None = None,
    ) -> Outcome:
        """Run one request to its end, whatever that is.

        `workers` opens shared memory and Unix sockets, `allow_gpu` the GPU's devices. Another `hash_seed` takes a
        server of its own. TorchlintError where torch cannot be imported.
        """
        started = time.monotonic()
        with self._connection(hash_seed) as (connection, folder):
            job = Job(
                nonce=os.urandom(NONCE_BYTES),
                scratch=str(folder),
                limits=limits or self.limits,
                walls=self.confinement.walls,
                allow_gpu=allow_gpu,
                workers=workers,
            )
            return _Exchange(connection, job, started).outcome(request)

    @contextlib.contextmanager
    def _connection(self, hash_seed: int) -> Iterator[tuple[socket.socket, Path]]:
        server = self._server(hash_seed)
        server.ready()
        try:
            connection = server.connect()
        except OSError:  # it died since
            server = self._server(hash_seed)
            server.ready()
            connection = server.connect()
        with self._lock:
            self._connections.add(connection)
        folder = server.base / str(next(self._numbers))
        try:
            yield connection, folder
        finally:
            with self._lock:
                self._connections.discard(connection)
            connection.close()
            scratch.remove(str(folder))

    def _server(self, hash_seed: int) -> ServerProcess:
        with self._lock:
            if self._base is None:
                raise RuntimeError("the sandbox is closed")
            server = self._servers.get(hash_seed)
            if server is None or not server.is_alive:
                if server is not None:
                    server.close()
                server = ServerProcess(
                    python=self._python,
                    entry=self._entry,
                    hash_seed=hash_seed,
                    paths=self._paths,
                    base=self._base / f"s{next(self._numbers)}",
                )
                self._servers[hash_seed] = server
            return server


class _Exchange:
    """One request and what comes back for it."""

    def __init__(self, connection: socket.socket, job: Job, started: float) -> None:
        self._connection = connection
        self._job = job
        self._started = started
        self._deadline = started + job.limits.seconds + _GRACE
        self._messages: list[bytes] = []
        self._report: Report | None = None

    def outcome(self, request: bytes) -> Outcome:
        detail = "its keeper ended unexpectedly"
        try:
            self._send(request)
            for frame in self._frames():
                if frame.kind == "message":
                    self._messages.append(frame.payload)
                elif frame.kind == "report":
                    self._report = msgspec.json.decode(frame.payload, type=Report)
        except TimeoutError:
            detail = "its keeper did not answer in time"
        except (OSError, ChannelError) as error:
            detail = f"{detail} ({error})"
        if self._report is None:
            return Outcome(tuple(self._messages), "crash", detail, "", time.monotonic() - self._started)
        report = self._report
        return Outcome(tuple(self._messages), report.end, report.detail, report.output, report.seconds)

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
