"""Small programs that are recorded for tests. What a line left behind is found by the mark at its end: `# mark`."""

from __future__ import annotations

import os
import re
import sys
import textwrap
from pathlib import Path

import pytest

from torchlint.diverge.recordings import Detail, Event, Operator, Recorded, read_recorded
from torchlint.diverge.running import Wanted, recorded_run

NAME = "program.py"
_MARK = re.compile(r"# (\w+)$")


class Program:
    """A program with its recording."""

    def __init__(self, recorded: Recorded, source: str) -> None:
        self.recorded = recorded
        self.details = details_of(recorded)
        self._lines = {
            found[1]: number
            for number, line in enumerate(source.splitlines(), start=1)
            if (found := _MARK.search(line)) is not None
        }

    def line(self, mark: str) -> int:
        return self._lines[mark]

    def operators(self, mark: str, direction: str = "forward") -> list[Operator]:
        """The operators of a line, of all steps and threads."""
        own = ((NAME, self.line(mark)),)
        return [
            each
            for detail in self.details
            for thread in detail.threads
            for each in thread
            if each.stack[:1] == own and each.row.direction == direction
        ]

    def one(self, mark: str, name: str = "", direction: str = "forward") -> Operator:
        """The only operator of a line whose name begins so."""
        (found,) = (each for each in self.operators(mark, direction) if each.name.startswith(f"aten.{name}"))
        return found

    def names(self, mark: str, direction: str = "forward") -> list[str]:
        """The operators of a line, by their names without `aten.` and overload."""
        return [each.name.split(".")[1] for each in self.operators(mark, direction)]

    def steps_of(self, mark: str) -> list[int]:
        """The numbers of the steps in which a line ran operators."""
        own = ((NAME, self.line(mark)),)
        return [
            detail.step.number
            for detail in self.details
            if any(each.stack[:1] == own for thread in detail.threads for each in thread)
        ]

    def events(self, mark: str) -> list[Event]:
        """What entered at a line."""
        own = ((NAME, self.line(mark)),)
        return [each for detail in self.details for each in detail.events if each.stack[:1] == own]


def details_of(recorded: Recorded, process: str = "main") -> list[Detail]:
    return list(recorded.processes[process].details())


def recorded_program(
    folder: Path, source: str, wanted: Wanted | None = None, *, libraries: Path | None = None
) -> Program:
    """Record a program that is started in the folder; it ends well, and nothing breaks in the recorder."""
    source = textwrap.dedent(source)
    (folder / NAME).write_text(source, encoding="utf-8")
    own = folder.with_name(f"{folder.name}-recording")
    own.mkdir()
    with pytest.MonkeyPatch.context() as patch, (own / "output").open("wb") as output:
        patch.chdir(folder)
        paths = [Path(__file__).parents[3]] if libraries is None else [Path(__file__).parents[3], libraries]
        patch.setenv("PYTHONPATH", os.pathsep.join(map(str, paths)))
        ended = recorded_run([sys.executable, NAME], own, wanted or Wanted("operator"), output=output.fileno())
    assert ended.status == 0, (own / "output").read_text(encoding="utf-8")
    recorded = read_recorded(own)
    assert recorded.troubles == ()
    return Program(recorded, source)
