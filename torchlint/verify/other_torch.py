"""Where a project wants another torch than the one that runs: verdicts and rows are those of the one that runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from torchlint.catalogue.versions import Minor, format_minor
from torchlint.diagnostics import Note
from torchlint.engine.run import RunOptions, list_roots
from torchlint.verify.plan import Plan


def other_torches(plans: Iterable[Plan], torch: Minor, check: RunOptions) -> Iterator[Note]:
    """One note for each project whose requirements do not admit the torch that runs."""
    shown = sorted({Path(plan.shown) for plan in plans})
    targets = dict.fromkeys(target for root in list_roots(shown, check) for target in root.targets)
    for target in targets:
        if target.declared and torch not in target.releases:
            yield Note(
                f"torch {format_minor(torch)} runs here, and the project wants {target} ({target.source}): "
                "operators are judged for the torch that runs"
            )
