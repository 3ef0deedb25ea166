"""A plan: one process to start, with what it loads, what it runs, and the findings that it is asked about."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from torchlint.project.shown import shown_path
from torchlint.recording.messages import Code, Hooks, ProbedFinding, Target
from torchlint.source.text import Source
from torchlint.verify.hooks import Table
from torchlint.verify.loading import File


@dataclass(frozen=True)
class Plan:
    """One process to start. Its target knows what its project tells about it once the plan is completed."""

    code: Code
    target: Target
    findings: tuple[ProbedFinding, ...]
    file: File
    hooks: Hooks
    called: tuple[str, ...] = ()
    """The classes and functions whose calls show how the target is built."""
    table: Table | None = None
    """How the user can say what it is built with; None where no words help."""
    moved: tuple[str, str] | None = None
    """The copy that it runs from, and what that is a copy of."""

    def original(self, path: str) -> str:
        """A path that the process tells, as it is outside the copy."""
        return path if self.moved is None else path.replace(*self.moved)

    def shown_path(self, path: str) -> str:
        """A path that the process tells, as the user sees it."""
        return shown_path(Path(), self.original(path))

    @property
    def source(self) -> Source:
        return self.file.source

    @property
    def shown(self) -> str:
        """The file, as the user calls it."""
        return self.file.source.path

    @property
    def name(self) -> str:
        return self.target.name

    @property
    def is_flagged(self) -> bool:
        """Whether findings of `check` are asked about, and not a target that the user names."""
        return any(each.code for each in self.findings)
