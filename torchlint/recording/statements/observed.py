"""What was seen while a statement ran, as plain data."""

from __future__ import annotations

import msgspec

from torchlint.recording.statements.flattened import Flattened

NOT_RUN = frozenset({"load", "constructor", "inputs", "refused", "time"})
"""How a run ends that says nothing of a line which it did not reach."""


class Event(msgspec.Struct, frozen=True):
    """Something that happened in a line of the file."""

    line: int
    what: str
    """environment, switch, seed, draw, restore, cuda or interpreter."""
    name: str
    before: str = ""
    after: str = ""
    called_from: int = 0
    """The line of the function that holds the flagged statement, where this happened in a call of it."""

    @property
    def words(self) -> str:
        change = f"{self.before} → {self.after}" if self.before else self.after
        return f"line {self.line}: {self.what} {self.name}" + (f" {change}" if change else "")


class Write(msgspec.Struct, frozen=True):
    """An attribute that the flagged statement assigns to: before, right after, and at the end."""

    name: str
    is_known: bool
    """torch (or whoever owns the namespace) had this name before the program ran."""
    before: str
    after: str
    end: str
    were_callable: list[bool]
    exists: list[bool]
    siblings: dict[str, str] = {}


class Observed(msgspec.Struct, frozen=True, kw_only=True):
    reached: bool = False
    """The flagged statement ran."""
    events: list[Event] = []
    writes: list[Write] = []
    raised: str = ""
    """The last exception that passed through a line of the file."""
    raised_line: int = 0
    ended_by: str = ""
    """Why the execution did not finish; empty where it did."""
    ended_kind: str = ""
    switches: dict[str, str] = {}
    stubs: tuple[str, ...] = ()
    entered: str = ""
    built_by: str = ""
    values: dict[str, Flattened] = {}
    """What the names of the file, and of the function that holds the statement, held at the end."""
    was_cut: bool = False

    def of(self, what: str, name: str = "") -> list[Event]:
        return [event for event in self.events if event.what == what and (not name or event.name == name)]


def shown(value: object) -> str:
    """A setting's value in a few words."""
    if callable(value):
        return "a function"
    text = repr(value)
    return text if len(text) <= 60 else f"<{type(value).__name__}>"
