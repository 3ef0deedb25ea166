"""Trials: what stands under the main guard of a module that others import, and trains nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torchlint.project.index import Project


def only_tries(project: Project, path: str) -> bool:
    """Whether a file's main guard only tries out what the file is for: other files import it, and it trains nothing."""
    programs = project.programs_starting_in(path)
    return bool(project.importers.get(path)) and all(project.randomness_of(one).trained is None for one in programs)
