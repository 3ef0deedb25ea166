"""`torchlint verify` of one place, as a command of the editor: progress while it runs, then the verdict."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from torchlint.server import progress

_KNOWN = frozenset({0, 1})
"""Exit codes of a verification that came to its end."""


@dataclass(frozen=True)
class Verified:
    """How a verification ended: the object that `--output-format json` prints, and what the user is told."""

    record: dict[str, Any] | None
    message: str
    kind: types.MessageType


class Verifications:
    """Those that run."""

    def __init__(self) -> None:
        self._running: set[asyncio.subprocess.Process] = set()

    def stop(self) -> None:
        for process in self._running:
            _stop(process)

    async def verify(self, server: LanguageServer, place: str, options: list[str]) -> Verified:
        """Run what is found at a place such as `models.py:18`. A process of its own does it: the server stays free."""
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "torchlint", "verify", place, "--output-format", "json", *options),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        self._running.add(process)
        try:
            token = await progress.begin(server, f"verify {Path(place).name}", lambda: _stop(process))
            told, said = await process.communicate()
            progress.end(server, token)
        finally:
            self._running.discard(process)
        return _outcome(process.returncode, told, said.decode(errors="replace"), place)


def _stop(process: asyncio.subprocess.Process) -> None:
    with contextlib.suppress(ProcessLookupError):
        process.terminate()


def _outcome(code: int | None, told: bytes, said: str, place: str) -> Verified:
    if code not in _KNOWN:
        lines = [line for line in said.splitlines() if line.startswith("error:")] or said.splitlines()[-1:]
        return Verified(None, f"{place}: not verified: {' '.join(lines)}".strip(), types.MessageType.Error)
    record: dict[str, Any] = json.loads(told)
    lines = list(_verdicts(record))
    if not lines:
        return Verified(record, f"{place}: nothing is found here that can be run", types.MessageType.Info)
    kind = types.MessageType.Warning if code else types.MessageType.Info
    return Verified(record, "\n".join(lines), kind)


def _verdicts(record: dict[str, Any]) -> Iterator[str]:
    for result in record["results"]:
        device = f" on {result['device']}" if result["device"] else ""
        yield f"{result['code']} in line {result['line']}: {result['verdict']}{device}: {result['reason']}"
