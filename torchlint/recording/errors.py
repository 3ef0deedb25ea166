"""Why a target could not be run, in the words of the report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

Kind = Literal["load", "constructor", "inputs", "data-dependent", "no device", "refused", "time", "nothing to compare"]


class CannotRun(Exception):  # noqa: N818 - it becomes a verdict (SKIPPED), not an error of the tool
    """A target that cannot be brought to run. `kind` says at which step, the message why."""

    def __init__(self, kind: Kind, reason: str, obstacles: Sequence[Exception] = ()) -> None:
        super().__init__(reason)
        self.kind = kind
        self.reason = reason
        self.obstacles = obstacles
        """The errors behind it, the most telling first."""
