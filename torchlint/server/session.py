"""One session with an editor: what is open, what was found in it, and what the editor was told."""

from __future__ import annotations

import asyncio
import dataclasses
import functools
import gc
import logging
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException, PyglsError
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

import torchlint
from torchlint.api import CheckOptions
from torchlint.catalogue import Catalogue, Rule, load_catalogue
from torchlint.config import load_settings
from torchlint.engine.cache.results import ResultCache
from torchlint.errors import ConfigError, TorchlintError
from torchlint.server.checking import Answer, Checker
from torchlint.server.opened import OpenFile, open_files
from torchlint.server.places import Places
from torchlint.server.progress import shown
from torchlint.server.reports import Reports
from torchlint.server.rounds import Rounds, beside_the_loop
from torchlint.server.settings import ClientSettings, check_options, read_settings
from torchlint.server.verifying import Verifications

_PAUSE = 5.0
"""Seconds without a change."""
LOG = logging.getLogger("torchlint.server")
_NOTEBOOKS = types.NotebookDocumentSyncOptions(
    [
        types.NotebookDocumentFilterWithCells(
            cells=[types.NotebookCellLanguage("python")],
            notebook=types.NotebookDocumentFilterNotebookType("jupyter-notebook"),
        )
    ]
)


class Session(LanguageServer):
    """The server, and the state of its one session."""

    def __init__(self, cache: ResultCache) -> None:
        super().__init__(
            "torchlint",
            torchlint.__version__,
            text_document_sync_kind=types.TextDocumentSyncKind.Incremental,
            notebook_document_sync=_NOTEBOOKS,
        )
        self.settings = ClientSettings()
        self.checker = Checker(cache)
        self.rounds = Rounds(self._check)
        self.verifications = Verifications()
        self.reports = Reports(self)
        self.answer: Answer | None = None
        self.was_shut_down = False
        self._said: set[str] = set()
        self._wrong: set[str] = set()
        """The errors of the last check."""

    @property
    def folders(self) -> list[Path]:
        """The folders that are open."""
        uris = [folder.uri for folder in self.workspace.folders.values()] or [self.workspace.root_uri or ""]
        return [Path(path) for path in map(to_fs_path, filter(None, uris)) if path]

    @functools.cached_property
    def page_folder(self) -> Path:
        """Where pages of rules are written for the editor to open; it is gone when the server ends."""
        self._pages = tempfile.TemporaryDirectory(prefix="torchlint-")
        return Path(self._pages.name)

    def take_settings(self, told: object) -> None:
        """Use what the editor sent; what is wrong with it is said, and the settings stay as they are."""
        try:
            self.settings = read_settings(told)
        except ConfigError as error:
            self.say_once(str(error))

    def say_once(self, message: str, kind: types.MessageType = types.MessageType.Error) -> None:
        """Show a message, unless the user has seen it."""
        LOG.log(logging.ERROR if kind == types.MessageType.Error else logging.INFO, "%s", message)
        if message not in self._said:
            self._said.add(message)
            self.window_show_message(types.ShowMessageParams(kind, f"torchlint: {message}"))

    def report_server_error(self, error: Exception, source: type[PyglsError | JsonRpcException]) -> None:
        """A message that cannot be read, or a request that fails, is no end: it is logged."""
        LOG.error("%s: %s", source.__name__, error)

    def rules(self, answer: Answer, uri: str) -> dict[str, Rule]:
        """The rules behind what is found in a text, by code; a project's own come from its configuration."""
        findings = [one.finding for one in answer.found.get(uri, ())]
        if not findings:
            return {}
        catalogue = self.catalogue(Path(findings[0].location.path).absolute().parent)
        return {code: rule for code in {one.code for one in findings} if (rule := catalogue.find(code)) is not None}

    def catalogue(self, folder: Path) -> Catalogue:
        """The rules of a folder; the built-in ones while its configuration cannot be read."""
        try:
            options = self._options()
            settings = load_settings(folder, options.overrides, config=options.config, isolated=options.isolated)
            return load_catalogue(settings.extensions)
        except TorchlintError:
            return load_catalogue()  # a check says what is wrong

    def _options(self) -> CheckOptions:
        return check_options(self.settings, self.folders)

    async def _check(self) -> None:
        """Check what is open now, and tell what was found in the texts that are still the same."""
        answer = await self._answer(open_files(self.workspace))
        self._say_problems(answer)
        self.answer = answer
        asyncio.get_running_loop().call_later(_PAUSE, self._collect, self.rounds.asked)
        self.reports.tell(answer, versions(self.workspace.text_documents))

    async def _answer(self, files: Sequence[OpenFile]) -> Answer:
        """What a check says; where it cannot say anything, what the last one found."""
        codec = self.workspace.position_codec
        last = {} if self.answer is None else self.answer.found
        try:
            options = self._options()
            check = beside_the_loop(lambda: self.checker.check(files, options, codec))
            answer = await shown(self, "reading the project", check)
        except TorchlintError as error:
            return Answer(files, Places(files, codec), last, errors=(str(error),))
        except Exception as error:
            LOG.exception("the check failed")
            self.say_once(f"internal: {type(error).__name__}: {error}")
            return Answer(files, Places(files, codec), last)
        return answer if answer.found or not answer.errors else dataclasses.replace(answer, found=last)

    def _collect(self, asked: int) -> None:
        """Let Python's collector run, which takes a while, where nothing was asked for since."""
        if self.rounds.is_settled and self.rounds.asked == asked:
            gc.collect()

    def _say_problems(self, answer: Answer) -> None:
        for note in answer.notes:
            if note not in self._said:
                self._said.add(note)
                LOG.warning("%s", note)
        self._said -= self._wrong - set(answer.errors)  # what was put right may go wrong again
        self._wrong = set(answer.errors)
        for message in answer.errors:
            self.say_once(message)
        for error in answer.internal_errors:
            words = " ".join(error.message.split())
            self.say_once(f"internal: check `{error.check}` broke on {error.path}: {words}")


def versions(texts: Mapping[str, Any]) -> dict[str, int | None]:
    """Those of the texts that are open now, by URI."""
    return {text.uri: text.version for text in texts.values()}
