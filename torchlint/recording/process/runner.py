"""From a process that could do anything to one that runs user code: the steps in between, and the way out."""

from __future__ import annotations

import contextlib
import faulthandler
import importlib
import os
import sys
import traceback
from collections.abc import Callable, Iterable
from typing import NoReturn

from torchlint.recording.confinement import surroundings, walls
from torchlint.recording.confinement.job import Job
from torchlint.recording.process.channel import Writer

if sys.platform != "win32":
    import fcntl

Entry = Callable[[bytes, Callable[[bytes], None]], None]

_OUT_OF_THE_WAY = 100
"""Descriptors from here on are met by no code that counts from zero."""


def load(entry: str) -> Entry:
    """`package.module:function`, after torch."""
    importlib.import_module("torch")
    module, _, function = entry.partition(":")
    loaded: Entry = getattr(importlib.import_module(module), function)
    return loaded


def run_confined(
    job: Job, request: bytes, entry: Callable[[], Entry], channel: int, output: int, protected: Iterable[int]
) -> NoReturn:
    """Run the entry in this very process, which ends with it.

    `entry` is called when the walls stand: where it has to import something, the import is within them.
    """
    status = 1
    try:
        surroundings.replace_streams(output)
        os.close(output)
        writer = Writer(_moved_away(channel), job.nonce)
        _run(job, request, entry, writer, protected)
        status = 0
    finally:
        # Never back to whoever called: threads, exit handlers and the interpreter's own end belong to user code now.
        os._exit(status)


def _run(job: Job, request: bytes, entry: Callable[[], Entry], writer: Writer, protected: Iterable[int]) -> None:
    flush = sys.stdout.flush
    try:
        faulthandler.enable()
        surroundings.settle(job.scratch)
        try:
            guard = walls.confine(job, protected)
        except OSError as error:
            writer.failure(f"the process could not be confined: {error}")
            return
        run = entry()
        if not job.walls.landlock:
            guard.cover_torch()
        run(request, writer.message)
    except BaseException as error:
        if writer.is_ours:
            traceback.print_exc()
            (writer.out_of_memory if is_for_want_of_memory(error) else writer.failure)(_words(error))
        raise
    if writer.is_ours:
        with contextlib.suppress(Exception):  # user code may have closed the stream
            flush()
        writer.end()


def is_for_want_of_memory(error: BaseException) -> bool:
    """Python's own error, or one of torch's allocators."""
    return (
        isinstance(error, MemoryError)
        or type(error).__name__ == "OutOfMemoryError"
        or (isinstance(error, RuntimeError) and "can't allocate memory" in str(error))
    )


def _words(error: BaseException) -> str:
    if isinstance(error, SystemExit):
        return f"the code called sys.exit({'' if error.code is None else repr(error.code)})"
    return "".join(traceback.format_exception_only(type(error), error)).strip().splitlines()[-1]


def _moved_away(descriptor: int) -> int:
    if sys.platform == "win32":
        return descriptor
    moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _OUT_OF_THE_WAY)
    os.close(descriptor)
    return moved
