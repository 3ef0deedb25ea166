"""What protects the user's files and network here, in words, before anything is run."""

from __future__ import annotations

import functools
import subprocess
import sys
from dataclasses import dataclass

import msgspec

from torchlint.errors import TorchlintError
from torchlint.recording.confinement import landlock, walls
from torchlint.recording.confinement.job import Walls
from torchlint.recording.process.exit_status import how_it_ended
from torchlint.verify.sandbox import bootstrap
from torchlint.verify.sandbox.temporary import OwnFolder

_SECONDS_FOR_A_TRIAL = 300.0


@dataclass(frozen=True)
class Confinement:
    walls: Walls

    @classmethod
    def of_this_system(cls) -> Confinement:
        """What a trial could put up: a wall that is refused is as good as none. TorchlintError where nothing can be."""
        return cls(_tried_walls())

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


@functools.cache
def _tried_walls() -> Walls:
    offered = walls.offered()
    refused = ""
    for tried in (offered, Walls(landlock=offered.landlock), Walls(seccomp=offered.seccomp), Walls()):
        refused = _refusal(tried)
        if not refused:
            return tried
    raise TorchlintError(
        f"no process can be confined here ({refused}), so nothing was run: let the security profile of this container "
        "allow it, or run a command of your own, which is not confined: `torchlint verify -- python train.py`"
    )


def _refusal(tried: Walls) -> str:
    """Why a process cannot be confined so; empty where it can."""
    with OwnFolder("trial-") as folder:
        arguments = {"folder": str(folder.path / "x"), "tried": msgspec.to_builtins(tried)}
        done = subprocess.run(  # noqa: S603 - our own interpreter, with our own program
            bootstrap.command(sys.executable, "torchlint.recording.confinement.trial", arguments),
            capture_output=True,
            text=True,
            errors="replace",
            cwd=folder.path,
            env=bootstrap.environment(sys.executable, hash_seed=0),
            stdin=subprocess.DEVNULL,
            timeout=_SECONDS_FOR_A_TRIAL,
            check=False,
        )
    if done.returncode:
        return (done.stderr.strip().splitlines() or [how_it_ended(done.returncode)])[-1]
    return done.stdout
