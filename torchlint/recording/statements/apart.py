"""Runs that share nothing: each in a forked process of its own, so that no switch, seed or variable outlives it."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import traceback
import warnings
from collections.abc import Callable
from typing import TypeVar

import msgspec
import torch

from torchlint.recording.clock import Deadline, waited, waited_for

Reply = TypeVar("Reply")

_LENGTH = 8
"""Bytes that say how long the reply is."""


class NoReply(Exception):  # noqa: N818 - it becomes a verdict (NOT REPRODUCED), not an error of the tool
    """A run that took too long, or ended silently."""


def longest(seconds: float) -> float:
    """How long to wait for a run that ends itself after so many seconds: unless it is in the midst of a long call."""
    return seconds * 1.2 + 5


def run_apart(work: Callable[[], Reply], reply: type[Reply], seconds: float) -> Reply:
    """What `work` returns in a fork of this process. It must be data that msgspec can encode."""
    reading, writing = os.pipe()
    process = _forked()
    if process == 0:
        os.close(reading)
        _work_and_end(work, writing)
    os.close(writing)
    try:
        data = _read_all(reading, Deadline(seconds, lambda: waited(process)))
    finally:
        os.close(reading)
        waited_for(process)
        _end(process)
    if data is None:
        raise NoReply(f"the run took more than {seconds:.0f} s: try a larger `--timeout`")
    try:
        return msgspec.msgpack.decode(data, type=reply)
    except msgspec.DecodeError as error:
        raise NoReply("the process ended before it answered") from error


def _forked() -> int:
    sys.stdout.flush()
    sys.stderr.flush()
    with warnings.catch_warnings():
        # Python 3.12 warns of forks beside other threads. The child is a single one, and runs torch in one thread.
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def _work_and_end(work: Callable[[], Reply], writing: int) -> None:
    """Never returns: whatever happens, the fork must not go on as a second copy of its parent."""
    status = 1
    try:
        # A group of its own, so that loader workers and pools end with it.
        os.setpgid(0, 0)
        # A pool of threads does not survive a fork: the first parallel operation would wait for it for ever.
        torch.set_num_threads(1)
        with warnings.catch_warnings():
            # A filter that makes errors of warnings would change what the user's code does.
            warnings.simplefilter("ignore")
            data = msgspec.msgpack.encode(work())
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(len(data).to_bytes(_LENGTH, "big") + data)
        status = 0
    except BaseException:  # noqa: BLE001 - the parent says that no answer came; the trace goes with the user's output
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _read_all(reading: int, deadline: Deadline) -> bytes | None:
    """The announced number of bytes; None when the time is over.

    The end of the pipe says little: workers that the process has started hold it as well.
    """
    data = b""
    while len(data) < _LENGTH or len(data) < _LENGTH + int.from_bytes(data[:_LENGTH], "big"):
        if deadline.is_over:
            return None
        ready, _, _ = select.select([reading], [], [], max(0.0, deadline.left))
        chunk = os.read(reading, 1 << 16) if ready else None
        if chunk == b"":
            break
        data += chunk or b""
    return data[_LENGTH:]


def _end(process: int) -> None:
    """The process is of no more use: its answer is read, or comes too late."""
    for end in (os.killpg, os.kill):  # the group is not there where the process had no time to make it
        with contextlib.suppress(ProcessLookupError, PermissionError):
            end(process, signal.SIGKILL)
    os.waitpid(process, 0)
