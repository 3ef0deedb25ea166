"""Several folders, notebooks, configurations and settings that change, files that come and go."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pygls")

from lsprotocol import types

from tests.server.editor import BAD, NET, Editor, codes, converse, project

GOOD = "import torch\n\n"
WATCHING = types.ClientCapabilities(
    workspace=types.WorkspaceClientCapabilities(
        configuration=True,
        did_change_watched_files=types.DidChangeWatchedFilesClientCapabilities(dynamic_registration=True),
        did_change_configuration=types.DidChangeConfigurationClientCapabilities(dynamic_registration=True),
        file_operations=types.FileOperationClientCapabilities(did_create=True, did_delete=True, did_rename=True),
    )
)
NOTEBOOKS = types.ClientCapabilities(
    notebook_document=types.NotebookDocumentClientCapabilities(
        synchronization=types.NotebookDocumentSyncClientCapabilities()
    )
)


def test_each_folder_is_its_own_project(tmp_path: Path) -> None:
    old, new = project(tmp_path / "old", net=GOOD + BAD), project(tmp_path / "new", net=NET)
    (old / "torchlint.toml").write_text('ignore = ["TL201"]\n')
    (new / "requirements.txt").write_text("torch==2.6.0\n")

    async def talk(editor: Editor) -> None:
        await editor.begin(old, new)
        quiet, found = editor.open(old / "net.py"), editor.open(new / "net.py")
        assert await editor.told_codes(quiet) == []
        assert "torch 2.6)" in (await editor.told(found))[0].message
        (new / "requirements.txt").write_text("torch==2.7.0\n")
        removed = [types.WorkspaceFolder(old.as_uri(), "old")]
        event = types.WorkspaceFoldersChangeEvent(added=[], removed=removed)
        editor.workspace_did_change_workspace_folders(types.DidChangeWorkspaceFoldersParams(event))
        await editor.until(lambda: "torch 2.7)" in editor.published[found][-1].diagnostics[0].message)

    assert converse(talk) == 0


def test_a_configuration_that_changes_and_one_that_is_being_written(tmp_path: Path) -> None:
    folder = project(tmp_path, net=GOOD + BAD)
    config = folder / "torchlint.toml"

    async def talk(editor: Editor) -> None:
        await editor.begin(folder, capabilities=WATCHING)
        uri = editor.open(folder / "net.py")
        assert await editor.told_codes(uri) == ["TL201"]
        await editor.until(lambda: len(editor.registered) == 2)
        for _ in range(2):
            config.write_text("ignore = [")
            editor.changed_on_disk(config)
        await editor.until(lambda: editor.messages)
        assert codes(editor.published[uri][-1].diagnostics) == ["TL201"]
        config.write_text('ignore = ["TL201"]')
        editor.changed_on_disk(config)
        await editor.until_codes(uri, [])
        config.unlink()
        editor.changed_on_disk(config, kind=types.FileChangeType.Deleted)
        await editor.until_codes(uri, ["TL201"])
        (message,) = editor.messages
        assert "torchlint.toml" in message
        config.write_text("ignore = [")
        editor.changed_on_disk(config)
        await editor.until(lambda: len(editor.messages) == 2)

    assert converse(talk, settings={}) == 0


def test_settings_of_the_editor(tmp_path: Path) -> None:
    folder = project(tmp_path, net=NET + BAD)

    async def talk(editor: Editor) -> None:
        await editor.begin(folder, options={"select": ["TL103"], "torch": "2.6"})
        uri = editor.open(folder / "net.py")
        (found,) = await editor.told(uri)
        assert found.code == "TL103"
        assert "torch 2.6" in found.message

        def set_to(**settings: Any) -> None:  # noqa: ANN401
            told = types.DidChangeConfigurationParams({"torchlint": settings})
            editor.workspace_did_change_configuration(told)

        set_to(ignore=["TL103"])
        await editor.until_codes(uri, ["TL201"])
        set_to(select="TL103")
        await editor.until(lambda: editor.messages)
        (folder / "strict.toml").write_text('select = ["TL103"]')
        set_to(configuration="strict.toml")
        await editor.until_codes(uri, ["TL103"])
        set_to(torch="two")
        await editor.until(lambda: len(editor.messages) == 2)
        assert codes(editor.published[uri][-1].diagnostics) == ["TL103"]

    assert converse(talk) == 0


def test_settings_that_the_server_asks_for(tmp_path: Path) -> None:
    folder = project(tmp_path, net=GOOD + BAD)

    async def talk(editor: Editor) -> None:
        await editor.begin(folder, capabilities=WATCHING)
        uri = editor.open(folder / "net.py")
        await editor.until_codes(uri, [])
        editor.settings = {}
        editor.workspace_did_change_configuration(types.DidChangeConfigurationParams(None))
        await editor.until_codes(uri, ["TL201"])

    assert converse(talk, settings={"ignore": ["TL2"]}) == 0


def test_files_that_come_and_go(tmp_path: Path) -> None:
    folder = project(tmp_path, net=NET)
    manifest = folder / "requirements.txt"

    async def talk(editor: Editor) -> None:
        result = await editor.begin(folder, capabilities=WATCHING)
        assert result.capabilities.workspace is not None
        operations = result.capabilities.workspace.file_operations
        assert operations is not None
        assert None not in (operations.did_create, operations.did_delete, operations.did_rename)
        uri = editor.open(folder / "net.py")
        await editor.told(uri)

        def judged_for(words: str) -> bool:
            return words in editor.published[uri][-1].diagnostics[0].message

        manifest.write_text("torch==2.3.1\n")
        created = types.CreateFilesParams([types.FileCreate(manifest.as_uri())])
        editor.workspace_did_create_files(created)
        await editor.until(lambda: judged_for("torch 2.3)"))
        other = manifest.rename(folder / "notes.rst")
        renamed = types.RenameFilesParams([types.FileRename(manifest.as_uri(), other.as_uri())])
        editor.workspace_did_rename_files(renamed)
        await editor.until(lambda: not judged_for("torch 2.3)"))

    assert converse(talk, settings={}) == 0


def _cell(folder: Path, number: int, *, is_code: bool = True) -> types.NotebookCell:
    kind = types.NotebookCellKind.Code if is_code else types.NotebookCellKind.Markup
    return types.NotebookCell(kind, f"vscode-notebook-cell:{folder.as_posix()}/nb.ipynb#W{number}")


def test_findings_of_a_notebook_are_by_cell(tmp_path: Path) -> None:
    folder = project(tmp_path)
    cells = [_cell(folder, 0, is_code=False), _cell(folder, 1), _cell(folder, 2)]
    texts = ["# Title", "import torch\n%matplotlib inline", "'𝒳'; " + BAD]
    notebook = types.NotebookDocument((folder / "nb.ipynb").as_uri(), "jupyter-notebook", 1, cells)
    items = [types.TextDocumentItem(cell.document, "python", 1, text) for cell, text in zip(cells, texts, strict=True)]

    async def talk(editor: Editor) -> None:
        result = await editor.begin(folder, capabilities=NOTEBOOKS)
        assert result.capabilities.notebook_document_sync is not None
        editor.notebook_document_did_open(types.DidOpenNotebookDocumentParams(notebook, items))
        (found,) = await editor.told(cells[2].document)
        assert (found.code, found.range.start) == ("TL201", types.Position(0, 6))
        assert await editor.told(cells[1].document) == ()
        (ignoring,) = (
            edit for title, edit in (await editor.actions(cells[2].document, 0)).items() if "Ignore" in title
        )
        (edit,) = ignoring["edit"]["changes"][cells[2].document]
        assert edit["range"]["start"] == {"line": 0, "character": 47}
        new = _cell(folder, 3)
        opened = types.TextDocumentItem(new.document, "python", 1, BAD)
        change = types.NotebookDocumentChangeEvent(
            cells=types.NotebookDocumentCellChanges(
                structure=types.NotebookDocumentCellChangeStructure(
                    array=types.NotebookCellArrayChange(2, 1, [new]),
                    did_open=[opened],
                    did_close=[types.TextDocumentIdentifier(cells[2].document)],
                )
            )
        )
        identifier = types.VersionedNotebookDocumentIdentifier(2, notebook.uri)
        editor.notebook_document_did_change(types.DidChangeNotebookDocumentParams(identifier, change))
        assert await editor.told_codes(new.document) == ["TL201"]
        assert await editor.told(cells[2].document, None) == ()

    assert converse(talk) == 0


def test_a_notebook_that_is_open_as_its_json(tmp_path: Path) -> None:
    folder = project(tmp_path)
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "source": ["import torch\n", BAD]}
    text = json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1)

    async def talk(editor: Editor) -> None:
        await editor.begin(folder)
        uri = editor.open((folder / "nb.ipynb").as_uri(), text, "json")
        (found,) = await editor.told(uri)
        line = text.split("\n")[found.range.start.line]
        assert line[found.range.start.character :].startswith("torch.use_deterministic")

    assert converse(talk) == 0
