"""The tools that torchlint is compared with, each in an environment of its own."""

from __future__ import annotations

import subprocess
import sys
import venv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_PATTERNS = Path(__file__).with_name("semgrep.yaml")
_LIMIT = 900
"""Seconds that an installation may take."""


@dataclass(frozen=True, slots=True)
class Peer:
    """`command` runs it on a folder; its first word is a program of the environment."""

    name: str
    packages: tuple[str, ...]
    command: tuple[str, ...]

    def on(self, folder: Path, environment: Path) -> list[str]:
        return [str(environment / "bin" / self.command[0]), *self.command[1:], str(folder)]


RUFF = Peer(
    "ruff --select ALL",
    ("ruff==0.17.6",),
    ("ruff", "check", "--select", "ALL", "--no-cache", "--isolated", "--quiet", "--exit-zero"),
)
PEERS = (
    RUFF,
    Peer("TorchFix (flake8)", ("torchfix==0.7.0", "flake8"), ("flake8", "--isolated", "--select=TOR", "-j1")),
    Peer("torchdetscan", ("torchdetscan==0.1",), ("torchdetscan",)),
    Peer(
        "semgrep, five patterns",
        ("semgrep==1.185.0",),
        ("semgrep", "scan", "--config", str(_PATTERNS), "--metrics=off", "--disable-version-check", "--quiet", "-j1"),
    ),
)


def installed(peer: Peer, work: Path) -> Path | None:
    """The environment of a tool; None where it cannot be installed, or does not start."""
    environment = work / "peers" / peer.command[0]
    if not (environment / "installed").is_file():
        venv.create(environment, with_pip=True, clear=True)
        pip = (str(environment / "bin" / "python"), "-m", "pip", "install", "--quiet", *peer.packages)
        if not _succeeds(pip) or not _succeeds([str(environment / "bin" / peer.command[0]), "--help"]):
            return None
        (environment / "installed").touch()
    return environment


def _succeeds(command: Sequence[str]) -> bool:
    try:
        return subprocess.run(command, capture_output=True, check=False, timeout=_LIMIT).returncode == 0
    except (OSError, subprocess.TimeoutExpired) as error:
        print(f"{command[0]}: {error}", file=sys.stderr)
        return False
