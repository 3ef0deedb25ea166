"""What protects the user's files and network here, in words, before anything is run."""

from __future__ import annotations

from dataclasses import dataclass

from torchlint.recording.confinement import landlock, walls
from torchlint.recording.confinement.job import Walls


@dataclass(frozen=True)
class Confinement:
    walls: Walls

    @classmethod
    def of_this_system(cls) -> Confinement:
        return cls(walls.standing())

    @classmethod
    def none(cls) -> Confinement:
        """Nothing but the audit hook, as on a system without walls."""
        return cls(Walls())

    @property
    def is_sandboxed(self) -> bool:
        """The kernel itself refuses writes outside the scratch folder."""
        return self.walls.landlock > 0

    @property
    def protections(self) -> tuple[str, ...]:
        found = []
        if self.walls.landlock:
            found.append(f"landlock ({', '.join(self._landlock_covers())})")
        if self.walls.seccomp:
            found.append("seccomp (sockets, metadata of files)")
        return (*found, "audit hook")

    @property
    def gaps(self) -> tuple[str, ...]:
        """What the kernel does not keep from the code that is run."""
        missing = []
        if not self.is_sandboxed:
            missing.append("writes to files")
        if not self.walls.seccomp:
            missing.append("network" if self.walls.landlock < landlock.FIRST_WITH_TCP else "UDP")
            missing.append("permissions and times of files")
        if self.walls.landlock < landlock.FIRST_WITH_SCOPE:
            missing.append("signals to other processes")
        return tuple(missing)

    def _landlock_covers(self) -> list[str]:
        covered = ["writes"]
        if self.walls.landlock >= landlock.FIRST_WITH_TCP:
            covered.append("TCP")
        if self.walls.landlock >= landlock.FIRST_WITH_SCOPE:
            covered.append("signals")
        return covered
