"""An editor as the server sees one: the client of pygls, talking to a real process."""

from __future__ import annotations

import asyncio
import os
import sys
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.lsp.client import LanguageClient

PATIENCE = 15
"""Seconds: a busy machine is no failure."""
SERVER = (sys.executable, "-m", "torchlint", "server", "--no-cache")
BAD = "torch.use_deterministic_algorithms = True\n"
"""TL201 wherever it stands."""
NET = """import torch
from torch import nn
from torch.nn import functional as F


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Conv2d(3, 2, kernel_size=1)

    def forward(self, photograph):
        return F.interpolate(self.head(photograph), size=(8, 8), mode="bilinear")
"""
"""TL103 in line 12."""


class Editor(LanguageClient):
    """Remembers what it was told, and waits for what it expects."""

    def __init__(self, settings: dict[str, Any] | None = None) -> None:
        super().__init__("tests", "1")
        self.published: dict[str, list[types.PublishDiagnosticsParams]] = defaultdict(list)
        self.messages: list[str] = []
        self.logged: list[str] = []
        self.shown: list[str] = []
        self.steps: list[str] = []
        self.registered: list[str] = []
        self.refreshed = 0
        self.settings = settings
        self._told = asyncio.Event()
        self._listen()

    def _listen(self) -> None:
        def told(keep: Callable[[Any], None], answer: object = None) -> Callable[[Any], object]:
            def handler(params: Any) -> object:  # noqa: ANN401
                keep(params)
                self._told.set()
                return answer

            return handler

        feature = self.feature
        feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(told(lambda one: self.published[one.uri].append(one)))
        feature(types.WINDOW_SHOW_MESSAGE)(told(lambda one: self.messages.append(one.message)))
        feature(types.WINDOW_LOG_MESSAGE)(told(lambda one: self.logged.append(one.message)))
        feature(types.WINDOW_SHOW_DOCUMENT)(
            told(lambda one: self.shown.append(one.uri), types.ShowDocumentResult(success=True))
        )
        feature(types.WINDOW_WORK_DONE_PROGRESS_CREATE)(told(lambda _: self.steps.append("create")))
        feature(types.PROGRESS)(told(lambda one: self.steps.append(_kind(one.value))))
        feature(types.CLIENT_REGISTER_CAPABILITY)(
            told(lambda one: self.registered.extend(each.method for each in one.registrations))
        )
        feature(types.WORKSPACE_DIAGNOSTIC_REFRESH)(told(lambda _: self._count_refresh()))
        feature(types.WORKSPACE_CONFIGURATION)(lambda params: [self.settings for _ in params.items])

    def _count_refresh(self) -> None:
        self.refreshed += 1

    async def until(self, holds: Callable[[], Any]) -> None:
        """Wait until something is so."""

        async def wait() -> None:
            while not holds():
                self._told.clear()
                await self._told.wait()

        await asyncio.wait_for(wait(), PATIENCE)

    async def begin(
        self, *folders: Path, capabilities: types.ClientCapabilities | None = None, options: object = None
    ) -> types.InitializeResult:
        opened = [types.WorkspaceFolder(folder.as_uri(), folder.name) for folder in folders]
        result = await self.initialize_async(
            types.InitializeParams(
                capabilities=capabilities or types.ClientCapabilities(),
                workspace_folders=opened,
                initialization_options=options,
            )
        )
        self.initialized(types.InitializedParams())
        return result

    def open(self, place: Path | str, text: str | None = None, language: str = "python") -> str:
        """Open a file, as it is on disk unless there is another text; its URI is returned."""
        uri = place if isinstance(place, str) else place.as_uri()
        said = place.read_text(encoding="utf-8") if text is None and isinstance(place, Path) else text or ""
        item = types.TextDocumentItem(uri, language, 1, said)
        self.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return uri

    def write(self, uri: str, version: int, text: str) -> None:
        """The text of a file is another now."""
        change = types.TextDocumentContentChangeWholeDocument(text)
        self._change(uri, version, change)

    def insert(self, uri: str, version: int, line: int, character: int, text: str) -> None:
        at = types.Position(line, character)
        self._change(uri, version, types.TextDocumentContentChangePartial(types.Range(at, at), text))

    def _change(self, uri: str, version: int, change: types.TextDocumentContentChangeEvent) -> None:
        identifier = types.VersionedTextDocumentIdentifier(version=version, uri=uri)
        self.text_document_did_change(types.DidChangeTextDocumentParams(identifier, [change]))

    def close(self, uri: str) -> None:
        self.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri)))

    async def told(self, uri: str, version: int | None = 1) -> Sequence[types.Diagnostic]:
        """What is published last of a text, once it is of this version."""
        await self.until(lambda: self.published[uri] and self.published[uri][-1].version == version)
        return self.published[uri][-1].diagnostics

    async def told_codes(self, uri: str, version: int | None = 1) -> list[str]:
        return codes(await self.told(uri, version))

    async def until_codes(self, uri: str, expected: list[str]) -> None:
        await self.until(lambda: self.published[uri] and codes(self.published[uri][-1].diagnostics) == expected)

    async def actions(self, uri: str, line: int) -> dict[str, dict[str, Any]]:
        """The code actions for a line by their titles, as plain data: pygls takes some of them for commands."""
        at = types.Range(types.Position(line, 0), types.Position(line, 1))
        params = types.CodeActionParams(types.TextDocumentIdentifier(uri), at, types.CodeActionContext([]))
        found = await self.text_document_code_action_async(params)
        plain: list[dict[str, Any]] = [self.protocol._converter.unstructure(one) for one in found or ()]
        return {one["title"]: one for one in plain}

    def changed_on_disk(self, *paths: Path, kind: types.FileChangeType = types.FileChangeType.Changed) -> None:
        events = [types.FileEvent(path.as_uri(), kind) for path in paths]
        self.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams(events))


def codes(diagnostics: Sequence[types.Diagnostic]) -> list[str]:
    return [str(one.code) for one in diagnostics]


def _kind(value: Any) -> str:  # noqa: ANN401 - one of three shapes
    """`end`, or what has begun."""
    told: dict[str, str] = value if isinstance(value, dict) else vars(value) if hasattr(value, "__dict__") else {}
    return told.get("title") or told.get("kind") or str(getattr(value, "title", None) or value.kind)


def converse(
    talk: Callable[[Editor], Awaitable[None]],
    command: Sequence[str] = SERVER,
    settings: dict[str, Any] | None = None,
    cwd: Path | None = None,
) -> int:
    """Start a server, talk with it, shut it down, and return its exit code."""

    async def whole() -> int:
        editor = Editor(settings)
        await editor.start_io(*command, cwd=cwd, env={**os.environ, "PYTHONWARNINGS": "ignore"})
        process = editor._server
        assert process is not None
        try:
            await talk(editor)
            await asyncio.wait_for(editor.shutdown_async(None), PATIENCE)
            editor.exit(None)
            return await asyncio.wait_for(process.wait(), PATIENCE)
        finally:
            if process.returncode is None:
                process.kill()
            await editor.stop()  # type: ignore[no-untyped-call]

    return asyncio.run(whole())


def project(folder: Path, **files: str) -> Path:
    """A project with these files, `net="..."` for net.py."""
    (folder / ".git").mkdir(parents=True)
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    return folder
