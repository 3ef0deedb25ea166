"""What can be done about a finding."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pygls")

from lsprotocol import types

from tests.server.editor import BAD, NET, SERVER, Editor, converse, project

GOOD = "import torch\n\n"
ABLE = types.ClientCapabilities(
    window=types.WindowClientCapabilities(
        work_done_progress=True, show_document=types.ShowDocumentClientCapabilities(support=True)
    ),
    workspace=types.WorkspaceClientCapabilities(
        workspace_edit=types.WorkspaceEditClientCapabilities(document_changes=True)
    ),
)


def test_a_hover_tells_why_and_what_to_do(tmp_path: Path) -> None:
    folder = project(tmp_path, net=GOOD + BAD)

    async def talk(editor: Editor) -> None:
        await editor.begin(folder)
        uri = types.TextDocumentIdentifier(editor.open(folder / "net.py"))
        found = await editor.text_document_hover_async(types.HoverParams(uri, types.Position(2, 8)))
        assert found is not None
        assert isinstance(found.contents, types.MarkupContent)
        for words in ("**TL201 overwritten-function** (error", "**Why:**", "**Do:**", "`torchlint rule TL201`"):
            assert words in found.contents.value
        assert await editor.text_document_hover_async(types.HoverParams(uri, types.Position(0, 2))) is None

    assert converse(talk) == 0


LISTED = "import os\nimport torch\n\nlabels = {name: index for index, name in enumerate(os.listdir('data'))}\n"


@pytest.mark.parametrize("first", ["", "# é 𝄞\n"])
def test_a_fix_changes_the_text_that_is_shown(tmp_path: Path, first: str) -> None:
    """Also where the text was never saved, and a line has characters of two units before the place."""
    folder = project(tmp_path, net=GOOD)

    async def talk(editor: Editor) -> None:
        await editor.begin(folder, capabilities=ABLE)
        uri = editor.open(folder / "net.py", text=first + LISTED + f"{'𝄞'!r}; " + BAD)
        await editor.told(uri)
        line = first.count("\n") + 3
        actions = await editor.actions(uri, line)
        action = actions["Fix TL401: sort the directory listing"]
        assert action["isPreferred"]
        (change,) = action["edit"]["documentChanges"]
        assert change["textDocument"] == {"uri": uri, "version": 1}
        written = sorted((edit["range"]["start"]["character"], edit["newText"]) for edit in change["edits"])
        assert "".join(text for _, text in written).startswith("sorted(")
        unsafe = (await editor.actions(uri, line + 1))["Fix TL201: call the function instead of replacing it (unsafe)"]
        assert "isPreferred" not in unsafe

    assert converse(talk) == 0


def test_an_ignore_comment_with_a_reason(tmp_path: Path) -> None:
    folder = project(tmp_path, net=GOOD + BAD)

    async def talk(editor: Editor) -> None:
        await editor.begin(folder, capabilities=ABLE, options={"ignoreReason": "on purpose"})
        uri = editor.open(folder / "net.py")
        await editor.told(uri)
        actions = await editor.actions(uri, 2)
        (change,) = actions["Ignore TL201 on this line"]["edit"]["documentChanges"]
        assert change["textDocument"] == {"uri": uri, "version": 1}
        (edit,) = change["edits"]
        assert edit["newText"] == "  # torchlint: ignore[TL201] on purpose"
        editor.insert(uri, 2, edit["range"]["start"]["line"], edit["range"]["start"]["character"], edit["newText"])
        assert await editor.told(uri, 2) == ()
        assert await editor.actions(uri, 2) == {}

    assert converse(talk) == 0


def test_the_page_of_a_rule(tmp_path: Path) -> None:
    folder = project(tmp_path, net=GOOD + BAD)

    async def talk(editor: Editor) -> None:
        await editor.begin(folder, capabilities=ABLE)
        uri = editor.open(folder / "net.py")
        await editor.told(uri)
        assert "Show the page of TL201 overwritten-function" in await editor.actions(uri, 2)
        command = types.ExecuteCommandParams("torchlint.showRule", ["TL201"])
        text = await editor.workspace_execute_command_async(command)
        assert isinstance(text, str)
        assert text.startswith("# TL201 overwritten-function\n")
        (shown,) = editor.shown
        assert shown.endswith("/TL201.md")
        assert "## Use instead" in text_of(shown)

    assert converse(talk) == 0


def text_of(uri: str) -> str:
    return Path(uri.removeprefix("file://")).read_text(encoding="utf-8")


def test_only_what_is_saved_is_verified(tmp_path: Path) -> None:
    folder = project(tmp_path, net=NET)

    async def talk(editor: Editor) -> None:
        await editor.begin(folder)
        uri = editor.open(folder / "net.py", NET + "\n")
        await editor.told(uri)
        assert await _verified(editor, uri, 11) is None
        assert await _verified(editor, uri, 0) is None
        assert [message.partition(": ")[2] for message in editor.messages] == [
            "save the file first",
            "nothing is found on this line any more",
        ]

    assert converse(talk) == 0


@pytest.mark.torch
@pytest.mark.slow
def test_a_verification_with_progress_and_its_verdict_as_a_hint(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    folder = project(tmp_path, net=NET)

    async def talk(editor: Editor) -> None:
        await editor.begin(folder, capabilities=ABLE)
        uri = editor.open(folder / "net.py")
        await editor.told(uri)
        assert "Verify TL103: run this code" in await editor.actions(uri, 11)
        record = await _verified(editor, uri, 11)
        assert record is not None
        verdict = record["results"][0]["verdict"]
        begun = editor.steps.index("torchlint: verify net.py:12")
        assert "end" in editor.steps[begun:]
        assert f"TL103 in line 12: {verdict}" in editor.messages[-1]
        await editor.until(lambda: len(editor.published[uri][-1].diagnostics) == 2)
        hint = editor.published[uri][-1].diagnostics[1]
        assert hint.severity == types.DiagnosticSeverity.Hint
        assert f"was verified: {verdict} on " in hint.message

    assert converse(talk, SERVER, cwd=tmp_path) == 0


async def _verified(editor: Editor, uri: str, line: int) -> Any:  # noqa: ANN401
    command = types.ExecuteCommandParams("torchlint.verify", [uri, line])
    return await editor.workspace_execute_command_async(command)
