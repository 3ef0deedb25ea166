"""A program run in a process of its own that has imported torch already: it may damage torch as it likes."""

from __future__ import annotations

import contextlib
import io
import sys
import traceback
from multiprocessing.connection import Connection

from tests.forking import CONTEXT


def run_fresh(program: str, given: str = "") -> str:
    """What a program prints, with `given` as its input. Raises RuntimeError with the traceback of one that fails."""
    ours, theirs = CONTEXT.Pipe(duplex=False)
    process = CONTEXT.Process(target=_execute, args=(program, given, theirs))
    process.start()
    theirs.close()
    with ours:
        failure, printed = ours.recv()  # EOFError when the process died
    process.join()
    if failure:
        raise RuntimeError(failure)
    return str(printed)


def _execute(program: str, given: str, answer: Connection) -> None:
    sys.argv, sys.stdin = ["program"], io.StringIO(given)
    failure = ""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        try:
            exec(compile(program, "<program>", "exec"), {"__name__": "__main__"})  # noqa: S102 - a program of the tests
        except BaseException:  # noqa: BLE001 - told to the test, whatever it is
            failure = traceback.format_exc()
    answer.send((failure, printed.getvalue()))
