"""Telling the editor what was found: it is sent to those that listen, and kept for those that ask."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator, Mapping

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from torchlint.server.checking import Answer


class Reports:
    """What was found last, by text.

    An editor that asks (`textDocument/diagnostic`) is sent nothing, since it would show both; where something was found
    in a text that it did not ask about, it is told to ask again.
    """

    def __init__(self, server: LanguageServer) -> None:
        self._server = server
        self._found: dict[str, tuple[types.Diagnostic, ...]] = {}
        self._numbers: dict[str, int] = {}
        """Of the report of each text: it changes when what is found does."""
        self._next = 0
        self._awaited: Counter[str] = Counter()
        """The texts that the editor has asked about and not been answered."""

    @contextlib.contextmanager
    def awaited(self, uri: str) -> Iterator[None]:
        """While this is entered the editor waits for what is found in a text, and need not be told to ask."""
        self._awaited[uri] += 1
        try:
            yield
        finally:
            self._awaited[uri] -= 1

    def tell(self, answer: Answer, versions: Mapping[str, int | None]) -> None:
        """Tell what a check found in the texts that have not changed since; of texts that were closed, nothing."""
        changed = set()
        parts = {part.uri: part for file in answer.files for part in file.parts}
        for uri in self._found.keys() - versions.keys():
            self._forget(uri)
        for uri, part in parts.items():
            if uri not in versions or versions[uri] != part.version:
                continue  # the check of the newer text follows
            found = tuple(one for each in answer.found.get(uri, ()) for one in each.diagnostics)
            is_new = self._found.get(uri) != found
            self._found[uri] = found
            if is_new:
                changed.add(uri)
                self._next += 1
                self._numbers[uri] = self._next
            if not self.are_asked_for:
                self._publish(uri, found, part.version)
        if self._is_told_to_ask and any(not self._awaited[uri] for uri in changed):
            self._server.workspace_diagnostic_refresh(None)

    def of(self, uri: str, known: str | None) -> types.DocumentDiagnosticReport:
        """What was found in a text; that it is what it was, for who knows that already."""
        number = str(self._numbers.get(uri, 0))
        if number == known:
            return types.RelatedUnchangedDocumentDiagnosticReport(number)
        return types.RelatedFullDocumentDiagnosticReport(self._found.get(uri, ()), result_id=number)

    @property
    def are_asked_for(self) -> bool:
        document = self._server.client_capabilities.text_document
        return document is not None and document.diagnostic is not None

    @property
    def _is_told_to_ask(self) -> bool:
        workspace = self._server.client_capabilities.workspace
        asked = None if workspace is None else workspace.diagnostics
        return self.are_asked_for and asked is not None and bool(asked.refresh_support)

    def _forget(self, uri: str) -> None:
        del self._found[uri]
        self._numbers.pop(uri, None)
        if not self.are_asked_for:
            self._publish(uri, (), None)

    def _publish(self, uri: str, found: tuple[types.Diagnostic, ...], version: int | None) -> None:
        self._server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, found, version))
