"""The user's command, run with the recorder inside, in pairs that begin alike."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from torchlint.diverge.data import Ran
from torchlint.diverge.recordings import Recorded, read_recorded
from torchlint.recording.factors.surroundings import environment_for
from torchlint.recording.in_command.results import TROUBLE
from torchlint.recording.journal.names import SUFFIX, Level
from torchlint.recording.journal.records import REQUEST, Request
from torchlint.recording.process.command import Ended, environment_of_recorder, run_to_its_end

_VIEW = Path(__file__).resolve().parents[1] / "recording" / "process" / "view.py"
_LEFTOVERS = "leftover-files"
_OUTPUT = "output"
_GRACE = 30.0
"""Seconds beyond `--seconds` for a program that ends no step."""


@dataclass(frozen=True)
class Wanted:
    """What a run is to show."""

    level: Level = "step"
    last_step: int | None = None
    first_rows: int = 1
    last_rows: int | None = None
    kept_step: int | None = None
    held: tuple[str, ...] = ()


def recorded_run(
    command: Sequence[str],
    folder: Path,
    wanted: Wanted,
    *,
    varied: tuple[str, ...] = (),
    seconds: float | None = None,
    lock: int | None = None,
    output: int | None = None,
) -> Ended:
    """Run the command once; its processes write their recordings to the folder.

    `output` is the descriptor that both of its streams go to; as they are unless given. `lock` is one that the command
    inherits. Raises TorchlintError where the command cannot be started.
    """
    request = Request(
        level=wanted.level,
        first_rows=wanted.first_rows,
        last_rows=wanted.last_rows,
        kept_step=wanted.kept_step,
        last_step=wanted.last_step,
        seconds=seconds,
        held=wanted.held,
        varied=varied,
        folder=os.getcwd(),  # noqa: PTH109 - a text
    )
    (folder / REQUEST).write_bytes(msgspec.json.encode(request))
    return run_to_its_end(
        command,
        environment_for(wanted.held, varied, environment_of_recorder(folder)),
        seconds=None if seconds is None else seconds + _GRACE,
        kept=() if lock is None else (lock,),
        output=output,
        stdin=None if output is None else subprocess.DEVNULL,
    )


class Runner:
    """Makes runs. Each pair begins with the project as it stands, where the system allows views of it."""

    def __init__(
        self,
        command: Sequence[str],
        own: Path,
        lock: int | None,
        *,
        vary: Sequence[str] = (),
        seconds: float | None = None,
        told: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.command = tuple(command)
        self._own = own
        self._lock = lock
        self._vary = tuple(vary)
        self._seconds = seconds
        self._told = told
        self._count = 0
        self._pairs = 0
        self.has_views = _has_views(own)

    @property
    def runs(self) -> int:
        """How many were made."""
        return self._count

    def pair(self, wanted: Wanted, label: str = "") -> tuple[Ran, Ran]:
        """Two runs, the second one with the factors varied that are to vary and are not held."""
        self._pairs += 1
        first = self.run(wanted, label=label, is_second=False)
        return first, self.run(wanted, label=label, is_second=True)

    def run(self, wanted: Wanted, *, label: str = "", is_second: bool = False) -> Ran:
        """One run. Raises TorchlintError where the command cannot be started, KeyboardInterrupt where it was ended."""
        self._count += 1
        folder = self._own / f"run-{self._count}"
        folder.mkdir()
        varied = tuple(name for name in self._vary if name not in wanted.held) if is_second else ()
        with (folder / _OUTPUT).open("wb") as captured:
            ended = recorded_run(
                self._viewed(wanted.held, is_second=is_second),
                folder,
                wanted,
                varied=varied,
                seconds=self._seconds,
                lock=self._lock,
                output=sys.stderr.fileno() if self._count == 1 and _has_descriptor() else captured.fileno(),
            )
        if ended.was_interrupted:
            raise KeyboardInterrupt
        ran = _ran(folder, ended, wanted, varied)
        self._told(_line(self._count, label, ran))
        return ran

    def _viewed(self, held: Sequence[str], *, is_second: bool) -> tuple[str, ...]:
        """The command, in a view that both runs of a pair share unless files that are left over are held."""
        if not self.has_views:
            return self.command
        apart = "-second" if is_second and _LEFTOVERS in held else ""
        upper = self._own / f"view-{self._pairs}{apart}"
        return (sys.executable, "-I", "-S", str(_VIEW), os.getcwd(), str(upper), *self.command)  # noqa: PTH109


def _ran(folder: Path, ended: Ended, wanted: Wanted, varied: tuple[str, ...]) -> Ran:
    return Ran(
        recorded=read_recorded(folder) if any(folder.glob(f"*{SUFFIX}")) else Recorded({}),
        status=ended.status,
        seconds=ended.seconds,
        vary=varied,
        held=wanted.held,
        was_timed_out=ended.was_timed_out,
        troubles=tuple(each.read_text(encoding="utf-8", errors="replace") for each in folder.glob(f"*{TROUBLE}")),
        output=folder / _OUTPUT,
    )


def _has_descriptor() -> bool:
    try:
        sys.stderr.fileno()
    except (OSError, ValueError):
        return False
    return True


def _has_views(own: Path) -> bool:
    """Whether a command can get a view of the current folder here; it is asked with one that does nothing."""
    folder = Path.cwd()
    if sys.platform != "linux" or folder == Path(folder.anchor) or own.is_relative_to(folder):
        return False
    probe = [sys.executable, "-I", "-S", str(_VIEW), str(folder), str(own / "view-0"), "true"]
    return subprocess.run(probe, capture_output=True, check=False).returncode == 0  # noqa: S603 - our own program


def _line(number: int, label: str, ran: Ran) -> str:
    steps = ran.recorded.steps
    told = f"{steps} step{'' if steps == 1 else 's'}, {ran.recorded.operators:,} operators, {ran.seconds:.1f} s"
    ended = "" if ran.status == 0 else f", exit {ran.exit}"
    return f"run {number}{f' ({label})' if label else ''}: {told}{ended}"
