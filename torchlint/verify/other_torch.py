"""Where a project wants another torch than the one that runs: verdicts and rows are those of the one that runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from torchlint.catalogue import load_catalogue
from torchlint.catalogue.versions import Minor, format_minor
from torchlint.config import load_settings
from torchlint.diagnostics import Note
from torchlint.engine.projects import ProjectRun
from torchlint.engine.run import RunOptions
from torchlint.project.roots import find_root
from torchlint.verify.targets import Plan


def other_torches(plans: Iterable[Plan], torch: Minor, check: RunOptions) -> Iterator[Note]:
    """One note for each project whose requirements do not admit the torch that runs."""
    for root in sorted({find_root(Path(plan.shown).absolute()) for plan in plans}):
        settings = load_settings(root, check.overrides, config=check.config, isolated=check.isolated)
        target = ProjectRun(settings, load_catalogue(settings.extensions), (), {}).project().target
        if target.declared and torch not in target.releases:
            yield Note(
                f"torch {format_minor(torch)} runs here, and the project wants {target} ({target.source}): "
                "operators are judged as the torch that runs has them"
            )
