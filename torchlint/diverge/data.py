"""What a comparison of two runs found."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from torchlint.diverge.recordings import Recorded
from torchlint.diverge.tracing import Origin

Verdict = Literal["EQUAL", "DIFFERENT", "FAILED"]
MomentKind = Literal["data", "draw", "operator"]
MomentState = Literal["same", "first", "differs", "only-first", "only-second"]


@dataclass(frozen=True)
class Ran:
    """One run of the command."""

    recorded: Recorded
    status: int
    """Negative for a signal."""
    seconds: float
    vary: tuple[str, ...] = ()
    held: tuple[str, ...] = ()
    was_timed_out: bool = False
    troubles: tuple[str, ...] = ()
    output: Path = Path(os.devnull)
    """What it printed, unless that was shown."""

    @property
    def exit(self) -> int:
        """The exit status as a shell has it."""
        return self.status if self.status >= 0 else 128 - self.status


@dataclass(frozen=True)
class Trial:
    """An experiment: two runs with some factors held, up to the step that differed."""

    held: tuple[str, ...]
    """Beside those of the causes before."""
    equal: bool | None
    """None where the runs could not be made."""
    runs: int
    seconds: float = 0.0


@dataclass(frozen=True)
class Source:
    """The line that is shown for a difference."""

    path: str
    """Relative to where torchlint was started."""
    line: int
    cell: int | None = None
    text: str = ""

    @property
    def shown(self) -> str:
        cell = "" if self.cell is None else f"cell {self.cell}:"
        return f"{self.path}:{cell}{self.line}"


@dataclass(frozen=True)
class Explanation:
    """A finding of `check`, or a fact of the registry, about the place of a difference."""

    code: str
    path: str
    line: int
    message: str


@dataclass(frozen=True)
class Cure:
    """A change that a user would make, tried from outside."""

    cure: str
    equal: bool | None
    """None where it was not tried."""
    cost: float | None
    """Its time as a ratio to the time without it."""


@dataclass(frozen=True)
class Cause:
    """One difference: its place and its factor."""

    process: str
    step: int
    differing: tuple[str, ...]
    """What of the step differs: `loss`, `parameters`; nothing where one run made fewer steps."""
    origin: Origin | None
    """None where no operator could be named."""
    source: Source | None
    stack: tuple[Source, ...] = ()
    trials: tuple[Trial, ...] = ()
    factors: tuple[str, ...] = ()
    """The smallest set found that makes the runs equal when it is held; empty where none did."""
    explained_by: tuple[Explanation, ...] = ()
    cures: tuple[Cure, ...] = ()
    moves: bool = False
    """Whether other runs differed elsewhere."""
    until: int | None = None
    """The step of the training at which runs may end that show it; None for its own end."""
    needs_whole_runs: bool = False
    """Whether it was seen only where the first run went to its end, and so may have left something behind."""
    entered: tuple[Entered, ...] = ()
    timeline: tuple[Moment, ...] = ()
    """What both runs did around it, in the order of execution."""


@dataclass(frozen=True)
class Entered:
    """What came from outside torch before a difference, and was not the same."""

    words: str
    source: Source | None


@dataclass(frozen=True)
class Moment:
    """A row of the timelines of two runs, side by side."""

    kind: MomentKind
    ours: str
    """`aten.mm.default` or `listing data`; empty where the first run did nothing of the kind."""
    theirs: str
    source: Source | None
    state: MomentState
    """`first` is the first difference, be it in one run only; `differs` is behind it a consequence."""


@dataclass(frozen=True)
class Growth:
    """How far apart the runs are after a step: of some parameters, and of the loss."""

    step: int
    relative: float | None
    loss: tuple[float, float] | None
    digit: int | None
    """With how many significant digits the losses are printed differently; None where they are equal."""


@dataclass(frozen=True)
class Divergence:
    """All of it."""

    verdict: Verdict
    command: tuple[str, ...]
    runs: tuple[Ran, ...]
    causes: tuple[Cause, ...] = ()
    growth: tuple[Growth, ...] = ()
    not_varied: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    experiments: int = 0
    """Runs beyond the first two."""
    exit: int | None = None
    """The exit status of a command that failed."""
    was_interrupted: bool = False
    elsewhere: tuple[Cause, ...] = ()
    """The earliest difference of other ranks, of which no order among ranks follows."""
