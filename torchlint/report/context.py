"""What a format may ask for beside the report."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from torchlint.report.sources import Sources

if TYPE_CHECKING:
    from torchlint.catalogue import Rule
    from torchlint.diagnostics import Location

NotebookLines = Literal["cell", "file", "code"]
"""How people are told of a line in a notebook: in its cell, in the JSON file, or among the code of all cells."""


def _no_rules() -> Mapping[str, Rule]:
    return {}


@dataclass(frozen=True)
class Context:
    """How to print, and where to look things up."""

    colour: bool = False
    notebook_lines: NotebookLines = "cell"
    all_places: bool = False
    """Whether findings of a file that say the same are told one by one, also to people."""
    failing: int | None = None
    """How many findings make the exit code 1, where that is known."""
    sources: Sources = field(default_factory=Sources)
    load_rules: Callable[[], Mapping[str, Rule]] = _no_rules

    @functools.cached_property
    def rules(self) -> Mapping[str, Rule]:
        """The rules that found something, by code."""
        return self.load_rules()

    def placed(self, place: Location) -> Location:
        """The place as people are to read it."""
        if self.notebook_lines == "cell":
            return place
        return self.sources.in_file(place) if self.notebook_lines == "file" else self.sources.in_code(place)
