"""What `torchlint verify` says, as plain frozen data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import get_args

from torchlint.diagnostics import Location, Note
from torchlint.recording.messages import Answer, Environment, Executed
from torchlint.recording.names import ProbeName, VerdictName

STRONGEST_FIRST: tuple[VerdictName, ...] = get_args(VerdictName)
FAILING: frozenset[VerdictName] = frozenset({"DIVERGED", "CONFIRMED"})
TRACES: frozenset[VerdictName] = frozenset({"TRACED", "KERNEL-ONLY"})


@dataclass(frozen=True, slots=True)
class Finding:
    """What `check` said, as far as a verdict needs it."""

    code: str
    name: str
    message: str
    location: Location
    source_line: str
    variant: str = "default"
    """Which of the rule's messages it is."""
    fingerprint: str = ""
    """Of the finding and the code that is run for it."""


@dataclass(frozen=True, slots=True)
class Result:
    """The verdict about one finding: the strongest answer, and the others beside it."""

    finding: Finding
    target: str
    probe: ProbeName | None
    """None where no probe came to run."""
    verdict: VerdictName
    device: str
    reason: str
    evidence: dict[str, object] = field(default_factory=dict)
    others: tuple[Answer, ...] = ()
    reproduce: str = ""
    """A command that runs this one alone."""
    beside: tuple[str, ...] = ()
    """Other files whose code may have run for it."""

    @property
    def sort_key(self) -> tuple[tuple[str, int, int, int, int, int], str]:
        return (self.finding.location.sort_key, self.finding.code)

    @property
    def fails(self) -> bool:
        """Whether the program does what the finding says; that torch refuses a call does so where its mode is on."""
        is_refused = self.verdict == "RAISED" and self.finding.variant.startswith("raises_on")
        return self.verdict in FAILING or is_refused


@dataclass(frozen=True, slots=True)
class TargetRun:
    """How one target came to run, for the reports that show code."""

    name: str
    path: str
    text: str
    """What was executed, with the lines of the file."""
    executed: Executed | None
    end: str
    """`done`, or how the process ended."""
    seconds: float
    output: str = ""
    places: tuple[tuple[int | None, int], ...] = ()
    """Each line's cell, and its number there, in a notebook; empty for other files, whose lines are those of `text`."""


@dataclass(frozen=True, slots=True)
class Verification:
    """All that one run has to say. Results are sorted by place, then code."""

    results: tuple[Result, ...]
    environment: Environment | None
    runs: tuple[TargetRun, ...] = ()
    notes: tuple[Note, ...] = ()
    without_probe: int = 0
    """Findings that no probe can say anything about."""
    sandbox: str = ""
    """What protected the user's files while code ran."""
    missing: Mapping[str, int] = field(default_factory=dict)
    """Libraries that the code imports and the environment lacks, and how many targets need each."""
    was_interrupted: bool = False
    """The user ended the run, or the command in it."""
    not_run: int = 0
    """Findings whose turn did not come before that."""
    command_status: int | None = None
    """How a command of the user's own ended, as a shell tells it; None where torchlint ended it, or there was none."""

    @property
    def summary(self) -> dict[VerdictName, int]:
        """How many findings got each verdict; those that none got are left out."""
        counts = dict.fromkeys(STRONGEST_FIRST, 0)
        for result in self.results:
            counts[result.verdict] += 1
        return {verdict: count for verdict, count in counts.items() if count}
