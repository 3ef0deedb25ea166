"""What travels between the command line and the processes of the user's command: plain data, and no torch."""

from __future__ import annotations

import msgspec

from torchlint.recording.messages import Environment, ProbedFinding

REQUEST = "request.json"
STARTED = ".started"
"""Ends the name of the file that a Python leaves when it starts, whether or not it imports torch."""
TROUBLE = ".trouble"
"""Ends the name of the file that says why a process is not recorded."""
RECORD = ".record"
"""Ends the name of the file that a process with torch writes."""


class CommandRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What to look for."""

    files: dict[str, tuple[ProbedFinding, ...]]
    """The findings of each file, by its path in full without links. Findings are known by their index."""


class Observed(msgspec.Struct, frozen=True, kw_only=True):
    """One call as it was seen, to be shown."""

    words: str
    """What was observed of the registry's condition."""
    sizes: dict[str, tuple[int, ...]]
    inputs: tuple[str, ...]
    repeated: float | None = None
    """The share of writes that meet a place a second time; None for what writes by no index."""
    places: int | None = None


class Tally(msgspec.Struct, kw_only=True):
    """How often the calls of one place met the condition of one entry. Costly looks are sampled: not every call is."""

    finding: int
    entry: str
    met: int = 0
    unmet: int = 0
    unmet_by_code: int = 0
    """Those among the unmet that no input could change."""
    guarded: int = 0
    """Those that ran under torch's determinism mode, which replaces or refuses the operator."""
    example: Observed | None = None
    """The call that met the condition most clearly."""
    counterexample: Observed | None = None


class Place(msgspec.Struct, kw_only=True):
    """All calls of one operator in one direction from one line, by modules of one construction."""

    operator: str
    is_backward: bool
    line: tuple[str, int] | None
    """The innermost line outside torch."""
    constructor: tuple[str, int] | None
    module: str
    """The name of the module that was met first, with its class: `encoder.pad (ReplicationPad2d)`."""
    device: str
    calls: int = 0
    looked: int = 0
    largest: dict[str, tuple[int, ...]] = {}
    """The sizes of the largest call that was looked at."""
    tallies: list[Tally] = []


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """What one process saw, up to now."""

    pid: int
    argv: tuple[str, ...]
    seconds: float
    environment: Environment
    loaded: tuple[str, ...]
    """The files of the request that this process ran."""
    reached: dict[int, tuple[str, ...]]
    """The operators that the line of each finding led to, by the finding's index."""
    places: tuple[Place, ...]
    has_backward: bool
    troubles: tuple[str, ...] = ()
    """What broke in the recorder."""
