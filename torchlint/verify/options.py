"""How to run what is to be verified, and how far such a run has come."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from torchlint.engine.run import RunOptions
from torchlint.recording.names import ProbeName
from torchlint.verify.sandbox import Confinement
from torchlint.verify.saved_findings import SavedFinding

ALL_DEVICES = "all"


@dataclass(frozen=True)
class Standing:
    """How far a run of many targets has come."""

    done: int
    total: int
    running: tuple[tuple[str, float], ...] = ()
    """What runs now, and for how many seconds it has; the slowest first."""


Progress = Callable[[Standing], None]


@dataclass(frozen=True)
class VerifyOptions:
    """How to run, apart from what to check."""

    check: RunOptions = field(default_factory=RunOptions)
    devices: tuple[str, ...] = (ALL_DEVICES,)
    runs: int = 10
    threads: int = 2
    seconds: float = 60.0
    """For each target, on a machine that has nothing else to do."""
    memory_bytes: int = 4 << 30
    jobs: int = 1
    seed: int = 0
    probes: tuple[ProbeName, ...] = ()
    """Only these; none is all that a rule names."""
    saved: tuple[SavedFinding, ...] | None = None
    """Only these findings of an earlier check."""
    confinement: Confinement | None = None
    """Another protection than that of this system."""
    progress: Progress | None = None
    """Told now and then how far the run is."""
    begin: Callable[[], None] | None = None
    """Called once, when all that was asked for is there and the code is about to run."""
    needs_environment: bool = False
    """Tell where things would run, even where nothing does."""

    @property
    def named_devices(self) -> tuple[str, ...]:
        """The devices that have to be there."""
        return tuple(device for device in self.devices if device != ALL_DEVICES)
