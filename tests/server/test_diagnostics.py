"""Findings of text that is not saved, as an editor is told of them."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

pytest.importorskip("pygls")

from lsprotocol import types

from tests.server.editor import BAD, Editor, codes, converse, project

GOOD = "import torch\n\n"


def test_the_unsaved_text_counts_and_a_closed_file_has_no_findings(tmp_path: Path) -> None:
    folder = project(tmp_path, net=GOOD)

    async def talk(editor: Editor) -> None:
        await editor.begin(folder)
        uri = editor.open(folder / "net.py")
        assert await editor.told(uri) == ()
        editor.insert(uri, 2, 2, 0, BAD)
        (found,) = await editor.told(uri, 2)
        assert (found.code, found.source, found.severity) == ("TL201", "torchlint", types.DiagnosticSeverity.Error)
        assert found.range == types.Range(types.Position(2, 0), types.Position(2, 41))
        editor.close(uri)
        assert await editor.told(uri, None) == ()

    assert converse(talk) == 0


@pytest.mark.parametrize(("encoding", "column"), [("utf-8", 18), ("utf-16", 15), ("utf-32", 14), (None, 15)])
def test_columns_count_what_the_client_counts(encoding: str | None, column: int, tmp_path: Path) -> None:
    folder = project(tmp_path, net=GOOD + f"x = '𝒳é' + '';{BAD}")
    general = None if encoding is None else types.GeneralClientCapabilities(position_encodings=[encoding])

    async def talk(editor: Editor) -> None:
        result = await editor.begin(folder, capabilities=types.ClientCapabilities(general=general))
        assert result.capabilities.position_encoding == (encoding or "utf-16")
        uri = editor.open(folder / "net.py")
        (found,) = await editor.told(uri)
        assert found.range.start == types.Position(2, column)
        editor.insert(uri, 2, 2, column, "y = 'é'; ")
        (moved,) = await editor.told(uri, 2)
        assert moved.range.start.character == column + (10 if encoding == "utf-8" else 9)

    assert converse(talk) == 0


def test_the_newest_text_wins(tmp_path: Path) -> None:
    folder = project(tmp_path, net=GOOD)

    async def talk(editor: Editor) -> None:
        await editor.begin(folder)
        uri = editor.open(folder / "net.py")
        for version in range(2, 40):
            editor.insert(uri, version, 2, 0, BAD)
        assert len(await editor.told(uri, 39)) == 38
        versions = [one.version for one in editor.published[uri]]
        assert versions == sorted(versions, key=int)  # type: ignore[arg-type]
        assert len(versions) < 38

    assert converse(talk) == 0


def test_half_a_line_is_told_so_and_costs_no_other_file_its_findings(tmp_path: Path) -> None:
    """A cold check of half a line would say of net.py that `reset` is unknown."""
    seeding = "import torch\n\n\ndef reset():\n    torch.manual_seed(0)\n"
    folder = project(tmp_path, seeding=seeding, net=GOOD + BAD)

    async def talk(editor: Editor) -> None:
        await editor.begin(folder)
        net, uri = editor.open(folder / "net.py"), editor.open(folder / "seeding.py")
        assert await editor.told_codes(uri) == []
        editor.insert(uri, 2, 4, 0, "    x = (\n")
        assert await editor.told_codes(uri, 2) == ["TL001"]
        assert codes(editor.published[net][-1].diagnostics) == ["TL201"]
        editor.write(uri, 3, seeding)
        assert await editor.told_codes(uri, 3) == []

    assert converse(talk) == 0


def test_lines_end_as_the_protocol_says_and_odd_texts_are_no_end(tmp_path: Path) -> None:
    folder = project(tmp_path, net=GOOD)

    async def talk(editor: Editor) -> None:
        await editor.begin(folder)
        uri = editor.open(folder / "net.py", "import torch\n# page\x0c two\u2028\x85\r\n\r")
        assert await editor.told(uri) == ()
        editor.insert(uri, 2, 3, 0, BAD)
        (found,) = await editor.told(uri, 2)
        assert found.range.start == types.Position(3, 0)
        for version, text in enumerate(
            ("", "\0", "(" * 5000, "x = 1\n" * 30_000, "\ufeffx = 1", "# coding: utf-16"), 3
        ):
            editor.write(uri, version, text)
            await editor.told(uri, version)
        editor.write(uri, 99, GOOD + BAD)
        assert await editor.told_codes(uri, 99) == ["TL201"]
        assert editor.messages == []

    assert converse(talk) == 0


def test_a_file_in_another_encoding(tmp_path: Path) -> None:
    folder = project(tmp_path)
    text = f"# coding: latin-1\nimport torch\nname = 'é'; {BAD}"
    (folder / "old.py").write_bytes(text.encode("latin-1"))

    async def talk(editor: Editor) -> None:
        await editor.begin(folder)
        uri = editor.open(folder / "old.py", text)
        (found,) = await editor.told(uri)
        assert (found.code, found.range.start) == ("TL201", types.Position(2, 12))

    assert converse(talk) == 0


def test_what_was_never_saved_and_what_belongs_to_no_project(tmp_path: Path) -> None:
    (tmp_path / "alone.py").write_text(GOOD + BAD)

    async def talk(editor: Editor) -> None:
        await editor.begin()
        named, untitled = editor.open(tmp_path / "alone.py"), editor.open("untitled:Untitled-1", GOOD + BAD)
        other = editor.open("untitled:notes", "no Python", language="markdown")
        assert await editor.told_codes(named) == ["TL201"]
        assert await editor.told_codes(untitled) == ["TL201"]
        assert other not in editor.published

    assert converse(talk, cwd=tmp_path) == 0


def test_who_asks_is_answered_and_sent_nothing(tmp_path: Path) -> None:
    folder = project(tmp_path, net=GOOD + BAD, other="import torch\n")
    asking = types.ClientCapabilities(
        text_document=types.TextDocumentClientCapabilities(diagnostic=types.DiagnosticClientCapabilities()),
        workspace=types.WorkspaceClientCapabilities(
            diagnostics=types.DiagnosticWorkspaceClientCapabilities(refresh_support=True)
        ),
    )

    async def talk(editor: Editor) -> None:
        result = await editor.begin(folder, capabilities=asking)
        assert result.capabilities.diagnostic_provider is not None
        uri = editor.open(folder / "net.py")

        async def report(known: str | None = None) -> types.DocumentDiagnosticReport:
            identifier = types.TextDocumentIdentifier(uri)
            params = types.DocumentDiagnosticParams(identifier, previous_result_id=known)
            return await asyncio.wait_for(editor.text_document_diagnostic_async(params), 60)

        full = await report()
        assert isinstance(full, types.RelatedFullDocumentDiagnosticReport)
        assert codes(full.items) == ["TL201"]
        assert (await report(full.result_id)).kind == "unchanged"
        editor.write(uri, 2, GOOD)
        again = await report(full.result_id)
        assert isinstance(again, types.RelatedFullDocumentDiagnosticReport)
        assert again.items == ()
        assert editor.refreshed == 0
        editor.open(folder / "other.py", GOOD + BAD)
        await editor.until(lambda: editor.refreshed)
        assert not editor.published

    assert converse(talk) == 0


def test_severities_related_places_and_tags(tmp_path: Path) -> None:
    data = "import os\n\n\ndef photographs(folder):\n    return [name for name in os.listdir(folder)]\n"
    train = "import random\nimport torch\nfrom data import photographs\nfrom torch import nn\n\n"
    train += "names = photographs('x')\nrandom.seed(0)\nrandom.shuffle(names)\ntrain = names[:800]\n"
    train += "x = 1  # torchlint: ignore[TL101]\n"
    folder = project(tmp_path, data=data, train=train)

    async def talk(editor: Editor) -> None:
        await editor.begin(folder)
        listing, used = editor.open(folder / "data.py"), editor.open(folder / "train.py")
        (found,) = [one for one in await editor.told(listing) if one.code == "TL401"]
        assert found.severity == types.DiagnosticSeverity.Warning
        assert found.related_information
        assert found.related_information[0].location.uri == used
        (unused,) = [one for one in await editor.told(used) if one.code == "TL002"]
        assert list(unused.tags or ()) == [types.DiagnosticTag.Unnecessary]

    assert converse(talk) == 0
