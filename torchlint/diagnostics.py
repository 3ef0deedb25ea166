"""What the user sees, as plain frozen data: the ground floor that every other part may use."""

from __future__ import annotations

import enum
from dataclasses import dataclass

import msgspec


class Severity(enum.IntEnum):
    """How bad a finding is if it is real. Only `WARNING` and `ERROR` change the exit code."""

    INFO = 0
    WARNING = 1
    ERROR = 2

    @property
    def label(self) -> str:
        return self.name.lower()


class Confidence(enum.IntEnum):
    """How sure torchlint is that the finding is real."""

    LOW = 0
    MEDIUM = 1
    HIGH = 2

    @property
    def label(self) -> str:
        return self.name.lower()


class Location(msgspec.Struct, frozen=True, array_like=True, gc=False, order=True):
    """A span of source. Lines and columns count from 1, columns in code points; the end column is exclusive.

    `cell` is the index of a notebook's cell among all its cells, from 1, and lines then count inside the cell.
    """

    path: str
    cell: int | None
    line: int
    column: int
    end_line: int
    end_column: int

    @property
    def sort_key(self) -> tuple[str, int, int, int, int, int]:
        return (self.path, self.cell or 0, self.line, self.column, self.end_line, self.end_column)

    @property
    def shown_line(self) -> str:
        """`path:line`, or `path:cell 3:line` in a notebook."""
        cell = "" if self.cell is None else f"cell {self.cell}:"
        return f"{self.path}:{cell}{self.line}"

    def __str__(self) -> str:
        """`path:line:column`, or `path:cell 3:line:column` in a notebook."""
        return f"{self.shown_line}:{self.column}"


class Related(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Another place that explains a finding."""

    location: Location
    message: str


class Fix(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What ends a group of findings; equal keys are one fix in the closing line of the text report.

    `one` and `many` are imperative phrases; `many` may hold `{count}`.
    """

    key: str
    one: str
    many: str
    raises: bool = False
    """Applying the fix makes torch raise at this finding instead."""
    raises_on: str = ""
    """The older releases on which that would happen, while it ends the finding on newer ones: `torch <= 2.5`."""
    programs: tuple[str, ...] = ()
    """The programs to change; `{count}` then counts them, and `one` is followed by the name of a single one."""


class Edit(msgspec.Struct, frozen=True, array_like=True, gc=False, order=True):
    """Text in the place of a span of a file; an empty span is an insertion."""

    location: Location
    content: str


class FixEdits(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The automatic fix of one finding."""

    is_safe: bool
    """Whether the program cannot start to fail by it, and its results change only as the finding says."""
    message: str
    """What it does, in the words of the rule."""
    edits: tuple[Edit, ...]
    """In the order of the file; none overlaps another."""
    preview: tuple[str, ...] = ()
    """The lines that it changes, as a small diff: each begins with `-` or `+`."""

    @property
    def safety(self) -> str:
        return "safe" if self.is_safe else "unsafe"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding, ready to print."""

    code: str
    name: str
    severity: Severity
    confidence: Confidence
    message: str
    location: Location
    url: str
    """The page of its rule; empty while none is published."""
    advice: str
    """What to do about this finding, in a sentence."""
    source_line: str
    """The physical line the finding starts on, without its line end."""
    fix: Fix | None = None
    operators: tuple[str, ...] = ()
    """The entries of the registry that it is about."""
    variant: str = "default"
    """Which of the rule's messages this is."""
    related: tuple[Related, ...] = ()
    verdict: str = ""
    """What an earlier `verify` said about it, as `DIVERGED on NVIDIA H200, torch 2.13.0, 2026-11-22`."""
    lines: tuple[int, int] = (0, 0)
    """First and last line of its statement, where an ignore comment may stand; in a notebook counted over all cells."""
    fingerprint: str = ""
    """Its name in a baseline, from the root of its project (`torchlint.fingerprints`)."""
    judged_for: str = ""
    """The torch that it is true of, where it depends on one and nothing pins any."""
    explanation: str = ""
    """The command that explains it, where no rule does."""
    admitted: tuple[tuple[int, int], tuple[int, int]] | None = None
    """The oldest and the newest torch that its project admits, where a fix may ask; None where nothing pins any."""
    fix_safety: str = ""
    """How safe the automatic fix of such findings is at best, `safe` or `unsafe`; empty where they have none."""
    edits: FixEdits | None = None
    """Its automatic fix, where it has one and that was asked for."""

    @property
    def explained_by(self) -> str:
        """The command that explains it: mostly its rule."""
        return self.explanation or f"torchlint rule {self.code}"

    @property
    def sort_key(self) -> tuple[tuple[str, int, int, int, int, int], str, str]:
        return (self.location.sort_key, self.code, self.message)


class Note(msgspec.Struct, frozen=True, array_like=True, gc=False, tag=True):
    """Something said beside the findings, such as a switched-off rule. Never changes the exit code."""

    message: str
    path: str | None = None

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


class Skipped(Note, frozen=True, array_like=True, gc=False, tag=True):
    """A file, a folder or one cell of a notebook that was not checked; the message says why."""

    cell: int | None = None

    def __str__(self) -> str:
        cell = "" if self.cell is None else f"cell {self.cell} "
        return f"{self.path}: {cell}skipped: {self.message}"


class InternalError(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A check that broke on a file. The rest goes on, and the run ends with exit code 2."""

    check: str
    path: str
    message: str


@dataclass(frozen=True, slots=True)
class OpenPoints:
    """How much the page of one program leaves open."""

    program: str
    count: int
    command: str
    """Shows the page."""


@dataclass(frozen=True, slots=True)
class Report:
    """All that one run has to say. Diagnostics are sorted by place, then code."""

    diagnostics: tuple[Diagnostic, ...]
    left_open: tuple[Diagnostic, ...] = ()
    """Points that rules leave open, where nothing was found; empty unless they were asked for."""
    notes: tuple[Note, ...] = ()
    internal_errors: tuple[InternalError, ...] = ()
    files: tuple[str, ...] = ()
    """The files checked, sorted, as shown to the user; those that were skipped are none of them."""
    programs: tuple[str, ...] = ()
    """Those of the files that start a program, where any of them trains."""
    suppressed: int = 0
    """Findings silenced by comments or per-file-ignores."""
    hidden: int = 0
    """Findings below the least severity or confidence that is reported."""
    assumed_torch: str = ""
    """The torch that findings were judged for where they depend on one and nothing pins any."""
    known: int = 0
    """Findings that a baseline holds."""
    unchanged: int = 0
    """Findings on lines that have not changed since the revision asked about."""
    errors: tuple[str, ...] = ()
    """Why files are not among those checked: settings, or a baseline of theirs, that cannot be read."""
    is_fixed: bool = False
    """Whether this is what remains after fixes."""
    open: tuple[OpenPoints, ...] = ()
    """Of each program that trains and has any, where that was asked for; the worst page first."""

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        """What was found and not checked: nothing is known about it."""
        return tuple(note for note in self.notes if isinstance(note, Skipped))
