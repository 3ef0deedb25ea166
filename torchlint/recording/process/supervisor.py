"""The supervisor of one request: starts the process that runs user code, watches it, and leaves nothing of it behind.

A supervisor is forked from the server for each request. It runs no user code itself.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import socket
import time
from collections.abc import Callable, Iterator
from typing import NoReturn

import msgspec

from torchlint.recording.clock import Deadline, Waiting
from torchlint.recording.confinement import linux, processes, scratch, shared_memory
from torchlint.recording.confinement.job import End, Job, Report
from torchlint.recording.process.channel import NONCE_BYTES, ChannelError, Decoder, Frame, encode
from torchlint.recording.process.excerpt import Excerpt
from torchlint.recording.process.exit_status import how_it_ended
from torchlint.recording.process.runner import Entry, run_confined

_PIECE = 1 << 18
_SHORTEST_INTERVAL = 0.02
_LONGEST_INTERVAL = 0.5
_SHARE_OF_WATCHING = 0.05
"""How much of one processor the supervisor may spend on looking at /proc."""
_PATIENCE_AFTER_CLOSE = 1.0
_THREADS_PER_PROCESS = 64
_BUSY = 0.25
"""Of the time of a process: it is told where it waited for longer."""


def supervise(connection: socket.socket, entry: Callable[[], Entry], command: int) -> NoReturn:
    """Serve the one request that comes through `connection`, and exit.

    `entry` is called in the process that runs it.
    """
    status = 1
    try:
        os.setsid()
        linux.adopt_orphans()
        job, request = _receive(connection)
        protected = (os.getpid(), os.getppid(), command)

        def run(channel: int, output: int) -> NoReturn:
            run_confined(job, request, entry, channel, output, protected)

        Supervisor(connection, job).serve(run)
        status = 0
    finally:
        os._exit(status)


def _receive(connection: socket.socket) -> tuple[Job, bytes]:
    """The nonce in the clear, then the job and the request in frames."""
    nonce = _exactly(connection, NONCE_BYTES)
    decoder = Decoder(nonce)
    frames: list[Frame] = []
    while len(frames) < 2:
        data = connection.recv(_PIECE)
        if not data:
            raise ChannelError("the command ended unexpectedly")
        frames += decoder.feed(data)
    return msgspec.json.decode(frames[0].payload, type=Job), frames[1].payload


def _exactly(connection: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        more = connection.recv(size - len(data))
        if not more:
            raise ChannelError("the command ended unexpectedly")
        data += more
    return data


class Supervisor:
    def __init__(self, connection: socket.socket, job: Job) -> None:
        self._connection = connection
        self._job = job
        self._decoder = Decoder(job.nonce)
        self._output = Excerpt(job.limits.output_bytes)
        self._selector = selectors.DefaultSelector()
        self._unsent = bytearray()
        self._child = 0
        self._end: tuple[End, str] | None = None
        self._is_wanted = True
        self._waited = 0.0
        self._deadline = Deadline(job.limits.seconds, lambda: self._waited)
        self._closed_at: float | None = None
        self._next_look = 0.0
        self._family = processes.Family()
        self._waiting = Waiting()
        self._baseline = processes.resident_here()
        self._shared = shared_memory.present() if job.workers else frozenset()

    def serve(self, run: Callable[[int, int], NoReturn]) -> None:
        try:
            # First of all: what can stop this process can do so once it runs.
            self._connection.sendall(encode(self._job.nonce, "supervisor", str(os.getpid()).encode()))
            scratch.make(self._job.scratch)
            channel, output = self._start(run)
            try:
                self._watch(channel, output)
            finally:
                processes.end_all_descendants()
                if self._job.workers:
                    shared_memory.clear_since(self._shared)
            self._read_output(output)
        except OSError as error:
            self._end = ("crash", f"the process could not be started: {error}")
        finally:
            scratch.remove(self._job.scratch)
        if self._is_wanted:
            self._report()

    def _start(self, run: Callable[[int, int], NoReturn]) -> tuple[int, int]:
        channel, channel_end = os.pipe()
        output, output_end = os.pipe()
        supervisor = os.getpid()
        self._deadline = Deadline(self._job.limits.seconds, lambda: self._waited)
        self._child = os.fork()
        if not self._child:
            try:
                os.setsid()
                linux.die_with_parent(supervisor)
                for descriptor in (channel, output, self._connection.fileno(), self._selector.fileno()):
                    os.close(descriptor)
                run(channel_end, output_end)
            finally:
                os._exit(1)
        os.close(channel_end)
        os.close(output_end)
        for descriptor in (channel, output):
            os.set_blocking(descriptor, False)
        return channel, output

    def _watch(self, channel: int, output: int) -> None:
        self._connection.settimeout(0)
        self._selector.register(channel, selectors.EVENT_READ, self._read_channel)
        self._selector.register(output, selectors.EVENT_READ, self._read_output)
        self._selector.register(self._connection, selectors.EVENT_READ, self._talk)
        with contextlib.suppress(OSError, AttributeError):  # an old kernel, or a Python built for one: seen a bit later
            self._selector.register(os.pidfd_open(self._child), selectors.EVENT_READ)
        while self._end is None and self._is_wanted:
            for key, _ in self._selector.select(_SHORTEST_INTERVAL):
                if key.data:
                    key.data(key.fd)
            if self._end is None:
                self._reap(channel)
            if self._end is None:
                self._look()
            self._selector.modify(
                self._connection,
                selectors.EVENT_READ | (selectors.EVENT_WRITE if self._unsent else 0),
                self._talk,
            )

    def _read_channel(self, descriptor: int) -> None:
        """All that is there: the process may have ended, and its last words count."""
        for data in _pieces(descriptor):
            if not data:
                self._selector.unregister(descriptor)
                self._closed_at = time.monotonic()
                return
            try:
                for frame in self._decoder.feed(data):
                    self._take(frame)
            except ChannelError as error:
                self._end = self._end or ("channel", str(error))
            if self._end is not None:
                return

    def _take(self, frame: Frame) -> None:
        if frame.kind == "message":
            self._unsent += encode(self._job.nonce, "message", frame.payload)
        else:
            self._end = frame.closing

    def _read_output(self, descriptor: int) -> None:
        for data in _pieces(descriptor):
            if not data:
                with contextlib.suppress(KeyError):
                    self._selector.unregister(descriptor)
                return
            self._output.feed(data)

    def _talk(self, _descriptor: int) -> None:
        """Pass on what has arrived; the other side says nothing any more, so that anything to read is its end."""
        try:
            if self._unsent:
                del self._unsent[: self._connection.send(self._unsent[:_PIECE])]
            if not self._connection.recv(1):
                self._is_wanted = False
        except BlockingIOError:
            return
        except OSError:
            self._is_wanted = False

    def _reap(self, channel: int) -> None:
        with contextlib.suppress(ChildProcessError):
            while self._end is None:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if not pid:
                    return
                if pid == self._child:
                    self._last_words(channel, status)

    def _last_words(self, channel: int, status: int) -> None:
        if self._closed_at is None:
            self._read_channel(channel)
        if self._end is None:
            self._end = ("crash", how_it_ended(os.waitstatus_to_exitcode(status)))

    def _look(self) -> None:
        """At the clock, and at what all of them take; as often as looking is cheap."""
        now = time.monotonic()
        limits = self._job.limits
        if self._deadline.is_over:
            passed, busy = self._deadline.passed, self._deadline.share_waited > _BUSY
            on_the_wall = f", {passed:.0f} s on the clock of a busy machine" if busy else ""
            self._end = ("timeout", f"still running after {limits.seconds:g} s{on_the_wall}")
        elif self._closed_at is not None and now - self._closed_at > _PATIENCE_AFTER_CLOSE:
            self._end = ("channel", "the target closed the result channel")
        elif now >= self._next_look:
            # By time on the processor: where a storm of processes holds us up, looking is all the more urgent.
            before = time.process_time()
            self._weigh()
            pause = (time.process_time() - before) / _SHARE_OF_WATCHING
            self._next_look = now + min(max(_SHORTEST_INTERVAL, pause), _LONGEST_INTERVAL)

    def _weigh(self) -> None:
        limits = self._job.limits
        running = self._family.members()
        self._waited += self._waiting.since_last_look(each.pid for each in running)
        if len(running) > limits.processes:
            self._end = ("processes", f"started more than {limits.processes} processes")
        elif sum(each.threads for each in running) > limits.processes * _THREADS_PER_PROCESS:
            self._end = ("processes", f"started more than {limits.processes * _THREADS_PER_PROCESS} threads")
        elif processes.take_more_than(limits.memory_bytes, running, self._baseline):
            self._end = ("memory", f"used more than {limits.memory_bytes / (1 << 30):.3g} GiB of memory")
        elif scratch.exceeds(self._job.scratch, limits.disk_bytes):
            self._end = ("memory", f"wrote more than {limits.disk_bytes / (1 << 30):.3g} GiB of files")

    def _report(self) -> None:
        assert self._end is not None
        end, detail = self._end
        report = Report(end=end, detail=detail, output=self._output.text, seconds=self._deadline.passed)
        self._unsent += encode(self._job.nonce, "report", msgspec.json.encode(report))
        self._connection.settimeout(None)
        with contextlib.suppress(OSError):  # the command is gone
            self._connection.sendall(self._unsent)


def _pieces(descriptor: int) -> Iterator[bytes]:
    """What can be read without waiting; an empty piece when all who could write are gone."""
    data = b"x"
    while data:
        try:
            data = os.read(descriptor, _PIECE)
        except BlockingIOError:
            return
        yield data
