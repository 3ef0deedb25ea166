"""What probe `repeat` says about a clean module, asked about every line and every operator there is."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from tests.verify.clean_modules.catalogue import CLEAN
from tests.verify.clean_modules.entry import Table
from tests.verify.flagged import OPERATORS, context, finding
from torchlint.recording.messages import Answer
from torchlint.recording.probes import repeat
from torchlint.recording.runs.repeated import Repeated
from torchlint.recording.subject import Subject

LAST_LINE = 100_000


@dataclass(frozen=True)
class Measured:
    answer: Answer
    repeated: Repeated


def measured(name: str, runs: int, seconds: float, table: Table = CLEAN) -> Measured:
    """Blame would fall on whatever the runs dispatch from the module's file."""
    build, inputs = table[name]
    flagged = finding(1, LAST_LINE, *OPERATORS)
    torch.manual_seed(0)
    made = context(build, flagged, *inputs(), runs=runs, seconds=seconds)
    return Measured(repeat.probe(made, flagged), made.repeated)


def subject_of(name: str) -> Subject:
    build, inputs = CLEAN[name]
    torch.manual_seed(0)
    return Subject(name, build(), inputs())
