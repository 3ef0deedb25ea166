"""What the editor shows of work that takes long."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable
from typing import TypeVar

from lsprotocol import types
from pygls.lsp.server import LanguageServer

Result = TypeVar("Result")

_PATIENCE = 1.0
"""Seconds before anything is shown."""


async def shown(server: LanguageServer, title: str, work: Awaitable[Result]) -> Result:
    """The result of work; the editor shows that it goes on where it takes long."""
    running = asyncio.ensure_future(work)
    await asyncio.wait({running}, timeout=_PATIENCE)
    token = None if running.done() else await begin(server, title)
    try:
        return await running
    finally:
        end(server, token)


async def begin(server: LanguageServer, title: str, stop: Callable[[], None] | None = None) -> str | None:
    """Show that work goes on, and let the user stop it if that can be; None where the editor shows no progress."""
    window = server.client_capabilities.window
    if window is None or not window.work_done_progress:
        return None
    token = str(uuid.uuid4())
    await server.work_done_progress.create_async(token)
    told = types.WorkDoneProgressBegin(title=f"torchlint: {title}", cancellable=stop is not None)
    server.work_done_progress.begin(token, told)
    if stop is not None:
        asked = server.work_done_progress.tokens[token]
        asked.add_done_callback(lambda _: stop())
    return token


def end(server: LanguageServer, token: str | None) -> None:
    if token is not None:
        server.work_done_progress.end(token, types.WorkDoneProgressEnd())
        server.work_done_progress.tokens.pop(token, None)
