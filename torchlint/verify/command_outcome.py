"""How a command of the user's ended, and what its processes wrote down."""

from __future__ import annotations

import shlex
import signal
from dataclasses import dataclass

from torchlint.recording.in_command.results import Record


@dataclass(frozen=True)
class Ran:
    """How the command ended, and what the processes that it started wrote down."""

    command: tuple[str, ...]
    status: int
    seconds: float
    was_interrupted: bool
    was_timed_out: bool
    records: tuple[Record, ...]
    pythons: int
    """How many Pythons started with the recorder at hand."""
    troubles: tuple[str, ...]

    @property
    def shown(self) -> str:
        return shlex.join(self.command)

    @property
    def shell_status(self) -> int | None:
        """The exit status as a shell has it, 128 and more for a signal; None where torchlint ended the command."""
        if self.was_timed_out or self.was_interrupted:
            return None
        return self.status if self.status >= 0 else 128 - self.status

    @property
    def end(self) -> str:
        """In words; `done` if nothing is to be said."""
        if self.was_timed_out:
            return f"ended after {self.seconds:.0f} seconds, as --timeout says"
        if self.was_interrupted:
            return "interrupted"
        if self.status < 0:
            return f"ended by {_signal_name(-self.status)}: what it did last may be missing"
        return f"exit status {self.status}" if self.status else "done"

    @property
    def notes(self) -> tuple[str, ...]:
        """What the reader of the verdicts has to know of the run."""
        ended = [f"the command: {self.end}"] if self.end != "done" else []
        troubles = [f"not recorded: {each}" for each in self.troubles]
        broken = [f"the recorder broke in process {r.pid}: {each}" for r in self.records for each in r.troubles]
        return (*ended, *troubles, *broken)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
