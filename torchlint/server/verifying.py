"""`torchlint verify` of one place, as a command of the editor: progress while it runs, then the verdict."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer

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
            with contextlib.suppress(ProcessLookupError):
                process.terminate()

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
            token = await _begin(server, process, f"verify {Path(place).name}")
            told, said = await process.communicate()
            if token is not None:
                server.work_done_progress.end(token, types.WorkDoneProgressEnd())
        finally:
            self._running.discard(process)
        return _outcome(process.returncode, told, said.decode(errors="replace"), place)


async def _begin(server: LanguageServer, process: asyncio.subprocess.Process, title: str) -> str | None:
    """Show that it runs, and let the user stop it; None where the editor shows no progress."""
    window = server.client_capabilities.window
    if window is None or not window.work_done_progress:
        return None
    token = str(uuid.uuid4())
    await server.work_done_progress.create_async(token)
    begin = types.WorkDoneProgressBegin(title=f"torchlint {title}", cancellable=True)
    server.work_done_progress.begin(token, begin)

    def stop(_: object) -> None:
        with contextlib.suppress(ProcessLookupError):
            process.terminate()

    server.work_done_progress.tokens[token].add_done_callback(stop)
    return token


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
