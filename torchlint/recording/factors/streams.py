"""Fixed numbers in place of entropy: the same in every run, and others in each process that a run starts."""

from __future__ import annotations

import os
from _random import Random  # `random` would be imported before the user's own of that name

from torchlint.recording.factors.replacing import renew_names, replace

TYPE_CHECKING = False  # `typing` takes a while to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_DESCENT = "TORCHLINT_DESCENT"
"""How the process was started: `/2/1` is the first child of the second child of the first process."""
_RANKS = ("RANK", "LOCAL_RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK")


class _Process:
    def __init__(self) -> None:
        self.descent = os.environ.get(_DESCENT, "")
        self.children = 0
        self.streams: dict[str, Random] = {}

    def starts_one(self) -> None:
        self.children += 1
        os.environ[_DESCENT] = f"{self.descent}/{self.children}"

    def is_forked(self) -> None:
        self.descent, self.children = f"{self.descent}/{self.children}", 0
        self.streams = {}

    @property
    def name(self) -> str:
        return self.descent + "".join(f" {each}={os.environ[each]}" for each in _RANKS if each in os.environ)


_PROCESS = _Process()


def fixed_number(stream: str, bits: int) -> int:
    """The next number of a stream of this process."""
    if stream not in _PROCESS.streams:
        _PROCESS.streams[stream] = Random(int.from_bytes(f"{stream} {_PROCESS.name}".encode(), "big"))
    return _PROCESS.streams[stream].getrandbits(bits)


def fixed_bytes(stream: str, count: int) -> bytes:
    return fixed_number(stream, 8 * count).to_bytes(count, "big") if count else b""


def number_of_process() -> int:
    """A number in place of the process id, above all that systems give: no other process is meant by mistake."""
    return 10_000_000 + Random(int.from_bytes(f"process {_PROCESS.name}".encode(), "big")).getrandbits(28)


def count_processes() -> None:
    """From now on each process that is started gets its place in the family."""
    os.environ.setdefault(_DESCENT, "")
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=_PROCESS.starts_one, after_in_child=_PROCESS.is_forked)
    for name in ("posix_spawn", "posix_spawnp"):
        replace(os, name, _counting)
    try:
        import _posixsubprocess as starting  # noqa: PLC0415 - not on Windows
    except ImportError:
        return
    plain = starting.fork_exec
    replace(starting, "fork_exec", _counting)
    renew_names({plain: starting.fork_exec})


def _counting(plain: Callable[..., int]) -> Callable[..., int]:
    def start(*given: Any, **named: Any) -> int:  # noqa: ANN401 - passed on as they are
        _PROCESS.starts_one()
        return plain(*given, **named)

    return start
