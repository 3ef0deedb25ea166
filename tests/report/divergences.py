"""What comparisons of two runs found, for tests of the page of `diverge`."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

from tests.harness.made_recordings import From, Made, Op, recorded
from torchlint.diverge.data import (
    Cause,
    Cure,
    Divergence,
    Entered,
    Explanation,
    Ran,
    Source,
    Trial,
)
from torchlint.diverge.growth import growth_of
from torchlint.diverge.sources import Sources
from torchlint.diverge.timeline import timeline_of
from torchlint.diverge.tracing import origin_of
from torchlint.recording.journal.records import Values

PROGRAM = "import torch\ndata = sorted(os.listdir('data'))\nx = torch.tensor(data)\nloss = model(x)\n"
TRIALS = (
    Trial(("torch-random", "listing"), equal=True, runs=2, seconds=3.25),
    Trial(("torch-random",), equal=False, runs=2, seconds=3.0),
    Trial(("listing",), equal=True, runs=2, seconds=3.5),
    Trial(("threads",), equal=None, runs=1, seconds=1.0),
)


def made_runs(
    folder: Path, *, what: str = "data", operator: str = "aten.mm.default", source: str = ""
) -> tuple[Ran, Ran]:
    """Two runs which differ from the first step on."""
    program = source or str(folder / "train.py")
    (folder / "train.py").write_text(PROGRAM)
    values = [(Values(1, 0, "float32", struct.pack("<4f", 1.0, 2.0, 3.0, each)),) for each in (4.0, 5.0)]
    runs = []
    for number, name in enumerate("ab"):
        entered = From("listing", what, 5 + number, 2)
        operators = (
            Op("aten.empty.memory_format", 1),
            Op(operator, 3, gives=5 + number),
            Op("aten.sum.default", 4, takes=5 + number, gives=7 + number),
        )
        made = [Made((entered, *operators), 1 + number, (2.5,), (1.0, 2.0 + 1e-6 * number), values[number])]
        made += [
            Made(operators, 1 + number, (2.5 - step / 10 + 0.0125 * number,), (1.0, 2.0 + step * number))
            for step in range(1, 3)
        ]
        runs.append(Ran(recorded(folder / name, *made, source=program), 0, 1.5, ("hash-seed",) if number else ()))
    return runs[0], runs[1]


def made_cause(folder: Path, runs: tuple[Ran, Ran], **changes: Any) -> Cause:  # noqa: ANN401 - any field
    """The first difference of two runs, proven and explained."""
    sources = Sources(folder)
    origin = origin_of(runs[0].recorded, runs[1].recorded, "main", 1)
    assert origin is not None
    stack = (*sources.of(origin.found.operator.stack), Source("train.py", 4, None, "loss = model(x)"))
    fields: dict[str, Any] = {
        "process": "main",
        "step": 1,
        "differing": ("loss", "parameters"),
        "origin": origin,
        "source": stack[0],
        "stack": stack,
        "trials": TRIALS,
        "factors": ("listing",),
        "explained_by": (Explanation("TL301", "train.py", 2, "`os.listdir` has no order"),),
        "cures": (Cure("sorted(os.listdir(...))", equal=True, cost=1.02),),
        "entered": (Entered("listing data: other names, or another order", Source("train.py", 2, None, "names")),),
        "timeline": timeline_of(runs[0].recorded, runs[1].recorded, origin, sources),
    }
    return Cause(**{**fields, **changes})


def made_divergence(folder: Path, **changes: Any) -> Divergence:  # noqa: ANN401 - any field
    """Two runs that differ, with one cause unless others are given."""
    runs = changes.pop("runs", None) or made_runs(folder)
    fields: dict[str, Any] = {
        "verdict": "DIFFERENT",
        "command": ("python", "train.py", "--epochs", "1"),
        "runs": runs,
        "growth": growth_of(runs[0].recorded, runs[1].recorded),
        "not_varied": ("threads", "clock"),
        "notes": ("the recorder: `os.urandom` could not be held",),
        "experiments": 9,
    }
    if "causes" not in changes and changes.get("verdict", "DIFFERENT") == "DIFFERENT":
        fields["causes"] = (made_cause(folder, runs),)
    return Divergence(**{**fields, **changes})
