"""The place where requests are run."""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Literal

from torchlint.recording.confinement import scratch
from torchlint.recording.confinement.job import Job, Limits
from torchlint.recording.process.channel import NONCE_BYTES
from torchlint.verify.sandbox.confinement import Confinement
from torchlint.verify.sandbox.exchange import Exchange
from torchlint.verify.sandbox.outcome import Outcome
from torchlint.verify.sandbox.server_process import ServerProcess
from torchlint.verify.sandbox.spawning import Spawned
from torchlint.verify.sandbox.temporary import OwnFolder

Start = Literal["fork", "spawn"]


class Sandbox:
    """Runs each request in a process of its own; `run` may be called from several threads at once.

    `entry` is `module:function`, called as `function(request, send)` in that process; `paths` are searched for its
    module last. `confinement` stands for what this system has; give another only to have less. `start` is how a process
    comes to be: forked from a server that imported torch once (Linux), or as a fresh interpreter each time.
    """

    def __init__(
        self,
        limits: Limits | None = None,
        *,
        python: str = sys.executable,
        entry: str = "torchlint.recording.entry:run",
        paths: Sequence[Path] = (),
        confinement: Confinement | None = None,
        start: Start = "fork" if sys.platform == "linux" else "spawn",
    ) -> None:
        self.limits = limits or Limits()
        self._confinement = confinement
        self._python = python
        self._entry = entry
        self._paths = tuple(paths)
        self._lock = threading.Lock()
        self._servers: dict[int, ServerProcess] = {}
        self._aborts: list[Callable[[], None]] = []
        self._start = start
        self._preload = True
        self._numbers = itertools.count()
        self._base: Path | None = None
        self._own: OwnFolder | None = None

    @functools.cached_property
    def confinement(self) -> Confinement:
        """What stands around each process. TorchlintError where none can be confined."""
        return self._confinement or Confinement.of_this_system()

    def __enter__(self) -> Sandbox:  # noqa: PYI034 - Python 3.10 has no Self
        self._own = OwnFolder()
        self._base = self._own.path
        try:
            if self._start == "fork":
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
            aborts = list(self._aborts)
        try:
            for abort in aborts:
                abort()
            for server in servers.values():
                server.close()
        finally:  # a second interrupt, perhaps
            if base is not None and self._own is not None:
                self._own.close()

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
        with self._folder() as folder:
            job = Job(
                nonce=os.urandom(NONCE_BYTES),
                scratch=str(folder / "x"),
                limits=limits or self.limits,
                walls=self.confinement.walls,
                allow_gpu=allow_gpu,
                workers=workers,
            )
            if self._start == "spawn":
                return self._spawn(job, request, folder, hash_seed)
            return self._fork(job, request, hash_seed)

    def _fork(self, job: Job, request: bytes, hash_seed: int) -> Outcome:
        with self._connection(hash_seed) as connection:
            exchange = Exchange(connection, job)
            outcome = exchange.outcome(request)
        if exchange.was_taken or self._base is None:
            return outcome
        with self._connection(hash_seed) as connection:  # the server died with the request in its hands
            return Exchange(connection, job).outcome(request)

    def _spawn(self, job: Job, request: bytes, folder: Path, hash_seed: int) -> Outcome:
        spawned = Spawned(
            job, python=self._python, entry=self._entry, hash_seed=hash_seed, paths=self._paths, folder=folder
        )
        with self._until_closed(spawned.abort):
            return spawned.outcome(request)

    @contextlib.contextmanager
    def _folder(self) -> Iterator[Path]:
        with self._lock:
            folder = self._open_base() / str(next(self._numbers))
            folder.mkdir()
        try:
            yield folder
        finally:
            scratch.remove(str(folder))

    @contextlib.contextmanager
    def _until_closed(self, abort: Callable[[], None]) -> Iterator[None]:
        """While this lasts, closing the sandbox aborts what is going on."""
        with self._lock:
            self._aborts.append(abort)
        try:
            yield
        finally:
            with self._lock:
                self._aborts.remove(abort)

    @contextlib.contextmanager
    def _connection(self, hash_seed: int) -> Iterator[socket.socket]:
        server = self._ready_server(hash_seed)
        try:
            connection = server.connect()
        except OSError:  # it died since
            server.close()
            connection = self._ready_server(hash_seed).connect()

        def abort() -> None:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

        with connection, self._until_closed(abort):
            yield connection

    def _ready_server(self, hash_seed: int) -> ServerProcess:
        server = self._server(hash_seed)
        if server.ready().threads > 1:
            # Something that came with torch started threads: then each process imports it for itself.
            self._preload = False
            server.close()
            server = self._server(hash_seed)
            server.ready()
        return server

    def _server(self, hash_seed: int) -> ServerProcess:
        with self._lock:
            base = self._open_base()
            server = self._servers.get(hash_seed)
            if server is None or not server.is_alive:
                if server is not None:
                    server.close()
                server = self._servers[hash_seed] = ServerProcess(
                    python=self._python,
                    entry=self._entry,
                    hash_seed=hash_seed,
                    paths=self._paths,
                    base=base,
                    preload=self._preload,
                )
            return server

    def _open_base(self) -> Path:
        if self._base is None:
            raise RuntimeError("the sandbox is closed")
        return self._base
