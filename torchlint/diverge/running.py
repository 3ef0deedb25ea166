"""The user's command, run with the recorder inside, in pairs that begin alike."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from torchlint.diverge.data import Ran
from torchlint.diverge.recordings import Recorded, read_recorded
from torchlint.recording.factors.surroundings import environment_for
from torchlint.recording.in_command.results import TROUBLE
from torchlint.recording.journal.records import REQUEST, SUFFIX, Level, Request
from torchlint.recording.process.command import environment_of_recorder, run_to_its_end
from torchlint.verify.sandbox import OwnFolder

_VIEW = Path(__file__).resolve().parents[1] / "recording" / "process" / "view.py"
_LEFTOVERS = "leftover-files"
_GRACE = 30.0
"""Seconds beyond `--seconds` for a program that ends no step."""


@dataclass(frozen=True)
class Wanted:
    """What two runs are to show."""

    level: Level = "step"
    last_step: int | None = None
    first_rows: int = 1
    kept_step: int | None = None
    held: tuple[str, ...] = ()


class Runner:
    """Makes runs. Each pair begins with the project as it stands, where the system allows views of it."""

    def __init__(
        self,
        command: Sequence[str],
        own: OwnFolder,
        *,
        vary: Sequence[str] = (),
        seconds: float | None = None,
        told: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.command = tuple(command)
        self._own = own
        self._vary = tuple(vary)
        self._seconds = seconds
        self._told = told
        self._count = 0
        self._pairs = 0
        self.has_views = _has_views(own.path)

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
        """One run. Raises TorchlintError where the command cannot be started."""
        self._count += 1
        folder = self._own.path / f"run-{self._count}"
        folder.mkdir()
        vary = tuple(name for name in self._vary if name not in wanted.held) if is_second else ()
        request = Request(
            level=wanted.level,
            first_rows=wanted.first_rows,
            kept_step=wanted.kept_step,
            last_step=wanted.last_step,
            seconds=self._seconds,
            held=wanted.held,
            varied=vary,
            folder=os.getcwd(),  # noqa: PTH109 - a text
        )
        (folder / REQUEST).write_bytes(msgspec.json.encode(request))
        ran = self._ran(folder, wanted, vary, is_second=is_second)
        self._told(_line(self._count, label, ran))
        return ran

    def _ran(self, folder: Path, wanted: Wanted, vary: tuple[str, ...], *, is_second: bool) -> Ran:
        environment = environment_for(wanted.held, vary, environment_of_recorder(folder))
        began = time.monotonic()
        with (folder / "output").open("wb") as captured:
            output = sys.stderr.fileno() if self._count == 1 and _has_descriptor() else captured
            ended = run_to_its_end(
                self._viewed(wanted.held, is_second=is_second),
                environment,
                seconds=None if self._seconds is None else self._seconds + _GRACE,
                kept=() if self._own.lock is None else (self._own.lock,),
                output=output,
                stdin=subprocess.DEVNULL,
            )
        return Ran(
            recorded=read_recorded(folder) if any(folder.glob(f"*{SUFFIX}")) else Recorded({}),
            status=ended.status,
            seconds=time.monotonic() - began,
            vary=vary,
            held=wanted.held,
            was_interrupted=ended.was_interrupted,
            was_timed_out=ended.was_timed_out,
            troubles=tuple(each.read_text(encoding="utf-8", errors="replace") for each in folder.glob(f"*{TROUBLE}")),
            folder=folder,
        )

    def _viewed(self, held: Sequence[str], *, is_second: bool) -> tuple[str, ...]:
        """The command, in a view that both runs of a pair share unless files that are left over are held."""
        if not self.has_views:
            return self.command
        apart = "-second" if is_second and _LEFTOVERS in held else ""
        upper = self._own.path / f"view-{self._pairs}{apart}"
        return (sys.executable, "-I", "-S", str(_VIEW), os.getcwd(), str(upper), *self.command)  # noqa: PTH109


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
