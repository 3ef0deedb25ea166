"""A command of the user's own, run to its end with a recorder inside and in the surroundings of this process."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from torchlint.errors import Terminated, TorchlintError
from torchlint.recording.confinement import linux, processes

STARTUP = Path(__file__).resolve().parents[1] / "in_command" / "startup"
_SECONDS_TO_END = 10.0
"""For a command that is told to end."""
_SECONDS_FOR_ITS_OWN = 0.5
"""For a command to end what it started by itself."""


@dataclass(frozen=True)
class Ended:
    """How a command ended; its status is negative for a signal."""

    status: int
    seconds: float
    was_interrupted: bool
    was_timed_out: bool


def environment_of_recorder(folder: Path) -> dict[str, str]:
    """The user's own, with the way to the recorder, which writes to the folder."""
    paths = [str(STARTUP), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "TORCHLINT_RECORDS": str(folder)}


def run_to_its_end(
    command: Sequence[str],
    environment: Mapping[str, str],
    *,
    seconds: float | None = None,
    kept: Sequence[int] = (),
    output: IO[bytes] | int | None = None,
    stdin: int | None = None,
) -> Ended:
    """Run it; `kept` are descriptors that it inherits. Raises TorchlintError where it cannot start."""
    began = time.monotonic()
    try:
        process = subprocess.Popen(  # noqa: S603 - the user's own
            command,
            env=environment,
            pass_fds=kept,
            stdin=stdin,
            stdout=output,
            stderr=None if output is None else subprocess.STDOUT,
        )
    except OSError as error:
        raise TorchlintError(f"{command[0]}: the command cannot be started: {error.strerror or error}") from None
    was_interrupted, was_timed_out = _wait(process, seconds)
    return Ended(process.returncode, time.monotonic() - began, was_interrupted, was_timed_out)


def _wait(process: subprocess.Popen[bytes], seconds: float | None) -> tuple[bool, bool]:
    """Until it ends; whether the user ended it, and whether its time was over. Each Ctrl-C asks more firmly."""
    interrupts, was_timed_out = 0, False
    while True:
        try:
            process.wait(seconds)
            return interrupts > 0, was_timed_out
        except Terminated:
            _terminate(process)
            return True, False
        except KeyboardInterrupt:
            interrupts += 1
            if interrupts > 1:
                process.kill()
            elif not _has_terminal():
                process.send_signal(signal.SIGINT)
        except subprocess.TimeoutExpired:
            if was_timed_out:
                process.kill()
            else:
                was_timed_out, seconds = True, _SECONDS_TO_END
                process.send_signal(signal.SIGINT if sys.platform != "win32" else signal.SIGTERM)


def _terminate(process: subprocess.Popen[bytes]) -> None:
    """End it with what it started: asked first, then killed."""
    if sys.platform == "linux":
        linux.adopt_orphans()
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):  # a shell waits for what it runs
            process.wait(_SECONDS_FOR_ITS_OWN)
        processes.ask_descendants_to_end(_SECONDS_TO_END)
        processes.end_all_descendants()
    else:
        process.terminate()
    try:
        process.wait(_SECONDS_TO_END)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _has_terminal() -> bool:
    """Whether a Ctrl-C went to the command as well: a terminal sends it to all that run in front."""
    if sys.platform == "win32":
        return True
    try:
        return os.tcgetpgrp(sys.__stdin__.fileno()) == os.getpgrp() if sys.__stdin__ else False
    except (OSError, ValueError):
        return False
