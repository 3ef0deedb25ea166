"""The messages that the server answers, each with its handler."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.uris import from_fs_path

from torchlint.catalogue import Rule
from torchlint.server import watched
from torchlint.server.actions import SHOW_RULE, VERIFY, Actions, found_on
from torchlint.server.pages import hover_text, page
from torchlint.server.session import LOG, Session
from torchlint.server.settings import SECTION
from torchlint.server.texts import Texts

_LEVELS = {
    types.TraceValue.Off: logging.WARNING,
    types.TraceValue.Messages: logging.INFO,
    types.TraceValue.Verbose: logging.DEBUG,
}


def initialize(ls: Session, params: types.InitializeParams) -> None:
    encoding = ls.workspace.position_encoding
    folders = list(ls.workspace.folders.values())
    ls.protocol._workspace = Texts(  # noqa: SLF001 - pygls has no other place to say which texts to make
        ls.workspace.root_uri, types.TextDocumentSyncKind.Incremental, folders, encoding
    )
    ls.take_settings(params.initialization_options)
    set_trace(ls, types.SetTraceParams(params.trace or types.TraceValue.Off))


async def initialized(ls: Session, _params: types.InitializedParams) -> None:
    watched.register(ls)
    await _ask_for_settings(ls)


def set_trace(_ls: Session, params: types.SetTraceParams) -> None:
    LOG.setLevel(_LEVELS.get(types.TraceValue(params.value), logging.WARNING))


def shutdown(ls: Session, _params: None) -> None:
    ls.was_shut_down = True
    ls.verifications.stop()


def changed(ls: Session, _params: Any) -> None:  # noqa: ANN401 - of any message that says that something changed
    ls.rounds.ask()


async def configured(ls: Session, params: types.DidChangeConfigurationParams) -> None:
    if not await _ask_for_settings(ls) and params.settings is not None:
        ls.take_settings(params.settings)
    ls.rounds.ask()


def files_changed(ls: Session, params: types.DidChangeWatchedFilesParams) -> None:
    if watched.concern((change.uri for change in params.changes), ls.folders):
        ls.rounds.ask()


async def diagnostic(ls: Session, params: types.DocumentDiagnosticParams) -> types.DocumentDiagnosticReport:
    with ls.reports.awaited(params.text_document.uri):
        await ls.rounds.settled()
    return ls.reports.of(params.text_document.uri, params.previous_result_id)


async def code_action(ls: Session, params: types.CodeActionParams) -> list[types.CodeAction]:
    await ls.rounds.settled()
    only = params.context.only
    if ls.answer is None or (only and not any(_includes_quick_fixes(kind) for kind in only)):
        return []
    uri = params.text_document.uri
    actions = Actions(ls.answer, ls.settings.ignore_reason, takes_versions=_takes_versions(ls))
    return actions.at(uri, params.range, ls.rules(ls.answer, uri))


async def hover(ls: Session, params: types.HoverParams) -> types.Hover | None:
    await ls.rounds.settled()
    uri, at = params.text_document.uri, params.position
    if ls.answer is None:
        return None
    found = [one for one in found_on(ls.answer, uri, types.Range(at, at)) if _holds(one.diagnostics[0].range, at)]
    if not found:
        return None
    rules = ls.rules(ls.answer, uri)
    text = hover_text((one.finding, rules.get(one.finding.code)) for one in found)
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text), found[0].diagnostics[0].range)


async def verify(ls: Session, uri: str, line: int) -> dict[str, Any] | None:
    """Run what is found on a line of a file, and show the verdict."""
    await ls.rounds.settled()
    at = types.Position(line, 0)
    found = [] if ls.answer is None else list(found_on(ls.answer, uri, types.Range(at, at)))
    file = None if ls.answer is None or not found else ls.answer.places.file_of(found[0].finding.location)
    if file is None or file.is_unsaved:
        message = "torchlint: save the file first" if file else "torchlint: nothing is found on this line any more"
        ls.window_show_message(types.ShowMessageParams(types.MessageType.Info, message))
        return None
    options = [] if ls.settings.configuration is None else ["--config", ls.settings.configuration]
    codes = ",".join(sorted({one.finding.code for one in found}))
    place = found[0].finding.location.shown_line
    verified = await ls.verifications.verify(ls, place, ["--extend-select", codes, *options])
    ls.window_show_message(types.ShowMessageParams(verified.kind, verified.message))
    ls.rounds.ask()  # the verdict is kept, and shown from now on
    return verified.record


async def show_rule(ls: Session, code: str) -> str | None:
    """Open the page of a rule: the published one, else one that is written for it. Its text is returned."""
    folder = ls.folders[0] if ls.folders else Path()
    rule = ls.catalogue(folder).find(code)
    window = ls.client_capabilities.window
    if rule is not None and window is not None and window.show_document is not None and window.show_document.support:
        uri = rule.url or _written_page(ls.page_folder, rule)
        await ls.window_show_document_async(types.ShowDocumentParams(uri, external=bool(rule.url)))
    return None if rule is None else page(rule)


def _written_page(folder: Path, rule: Rule) -> str:
    path = folder / f"{rule.code}.md"
    path.write_text(page(rule), encoding="utf-8")
    return str(from_fs_path(str(path)))


async def _ask_for_settings(ls: Session) -> bool:
    """Whether the editor lets servers ask, and was asked."""
    workspace = ls.client_capabilities.workspace
    if workspace is None or not workspace.configuration:
        return False
    asked = types.ConfigurationParams([types.ConfigurationItem(section=SECTION)])
    told = await ls.workspace_configuration_async(asked)
    if told and told[0] is not None:
        ls.take_settings(told[0])
    return True


def _includes_quick_fixes(kind: types.CodeActionKind | str) -> bool:
    wanted = kind.value if isinstance(kind, types.CodeActionKind) else kind
    return wanted in ("", types.CodeActionKind.QuickFix.value)


def _takes_versions(ls: Session) -> bool:
    workspace = ls.client_capabilities.workspace
    edit = None if workspace is None else workspace.workspace_edit
    return edit is not None and bool(edit.document_changes)


def _holds(place: types.Range, at: types.Position) -> bool:
    return (place.start.line, place.start.character) <= (at.line, at.character) <= (place.end.line, place.end.character)


HANDLERS: Mapping[str, Callable[..., Any]] = {
    types.INITIALIZE: initialize,
    types.INITIALIZED: initialized,
    types.SHUTDOWN: shutdown,
    types.SET_TRACE: set_trace,
    types.TEXT_DOCUMENT_DID_OPEN: changed,
    types.TEXT_DOCUMENT_DID_CHANGE: changed,
    types.TEXT_DOCUMENT_DID_SAVE: changed,
    types.TEXT_DOCUMENT_DID_CLOSE: changed,
    types.NOTEBOOK_DOCUMENT_DID_OPEN: changed,
    types.NOTEBOOK_DOCUMENT_DID_CHANGE: changed,
    types.NOTEBOOK_DOCUMENT_DID_SAVE: changed,
    types.NOTEBOOK_DOCUMENT_DID_CLOSE: changed,
    types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS: changed,
    types.WORKSPACE_DID_CREATE_FILES: changed,
    types.WORKSPACE_DID_DELETE_FILES: changed,
    types.WORKSPACE_DID_RENAME_FILES: changed,
    types.WORKSPACE_DID_CHANGE_CONFIGURATION: configured,
    types.WORKSPACE_DID_CHANGE_WATCHED_FILES: files_changed,
    types.TEXT_DOCUMENT_DIAGNOSTIC: diagnostic,
    types.TEXT_DOCUMENT_CODE_ACTION: code_action,
    types.TEXT_DOCUMENT_HOVER: hover,
}
_OPTIONS: Mapping[str, object] = {
    types.TEXT_DOCUMENT_DIAGNOSTIC: types.DiagnosticOptions(
        inter_file_dependencies=True, workspace_diagnostics=False, identifier=SECTION
    ),
    types.TEXT_DOCUMENT_CODE_ACTION: types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix]),
    types.WORKSPACE_DID_CREATE_FILES: watched.FILE_OPERATIONS,
    types.WORKSPACE_DID_DELETE_FILES: watched.FILE_OPERATIONS,
    types.WORKSPACE_DID_RENAME_FILES: watched.FILE_OPERATIONS,
}
_COMMANDS: Mapping[str, Callable[..., Any]] = {VERIFY: verify, SHOW_RULE: show_rule}


def add_features(server: Session) -> None:
    """Have the server answer all of these."""
    for name, handler in HANDLERS.items():
        server.feature(name, _OPTIONS.get(name))(handler)
    for name, command in _COMMANDS.items():
        server.command(name)(command)
