"""What came of a request."""

from __future__ import annotations

from dataclasses import dataclass

from torchlint.recording.confinement.job import End


@dataclass(frozen=True)
class Outcome:
    """`messages` are those that arrived, also where the process crashed after them."""

    messages: tuple[bytes, ...]
    end: End
    detail: str
    """One line, such as `segmentation fault (signal 11)`; empty where it was done."""
    output: str
    """Standard output and error, head and tail."""
    seconds: float
