"""A finding on its way to a diagnostic: positions known, the project's word still out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from torchlint.diagnostics import Confidence, Cure, Location, Related, Severity


@dataclass(frozen=True, slots=True)
class Draft:
    """Plain data, so that it travels between processes. `path` is the file's path inside its project."""

    code: str
    check: str
    path: str
    location: Location
    source_line: str
    lines: tuple[int, int]
    """First and last line in the joined source, for suppressions."""
    values: Mapping[str, str]
    message: str
    severity: Severity | None
    confidence: Confidence | None
    related: tuple[Related, ...] = ()
    operators: tuple[str, ...] = ()
    """Registry entries whose rows decide."""
    torch: str = ""
    """The releases the finding is about; empty for all."""
    devices: tuple[str, ...] = ()
    """The devices the finding is about; empty for all."""
    cure: Cure | None = None
    """Instead of the rule's own cure."""
