"""How a server begins, what it survives, and how it ends."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pygls")

from lsprotocol import types

from tests.cli.command import run_torchlint
from tests.server.editor import BAD, SERVER, Editor, converse, project

WITHOUT_PYGLS = "import sys; sys.modules['pygls'] = None; from torchlint.cli import main; sys.exit(main(['server']))"
BROKEN = """
import sys
from unittest import mock
from torchlint.cli import main
from torchlint.diagnostics import InternalError, Report
from torchlint.server import checking

def check(paths, options, contents):
    print("a print of some library")
    if any(b"raise" in data for data in contents.values()):
        raise RuntimeError("of the engine")
    return Report((), internal_errors=(InternalError("a_check", "net.py", "KeyError: 1"),))

with mock.patch.object(checking, "check_paths", check):
    sys.exit(main(["server", "--no-cache"]))
"""
IMPATIENT = """
import sys
from unittest import mock
from torchlint.cli import main

with mock.patch("torchlint.server.progress._PATIENCE", 0):
    sys.exit(main(["server", "--no-cache"]))
"""


@pytest.fixture
def server() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(SERVER, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        yield process
        process.kill()


def send(process: subprocess.Popen[bytes], body: bytes) -> None:
    assert process.stdin is not None
    process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
    process.stdin.flush()


def message(method: str, number: int | None = None, **params: Any) -> bytes:  # noqa: ANN401
    told = {"jsonrpc": "2.0", "method": method, "params": params}
    return json.dumps(told if number is None else {**told, "id": number}).encode()


def answer(process: subprocess.Popen[bytes], number: int) -> dict[str, Any]:
    assert process.stdout is not None
    while True:
        header = process.stdout.readline()
        assert header, "the server has ended"
        size = int(header.removeprefix(b"Content-Length:"))
        while process.stdout.readline().strip():
            pass
        told: dict[str, Any] = json.loads(process.stdout.read(size))
        if told.get("id") == number:
            return told


def test_what_is_no_message_is_no_end(server: subprocess.Popen[bytes]) -> None:
    send(server, b"{no json")
    send(server, b'"text"')
    send(server, message("initialize", 1, capabilities={}, processId=None, rootUri=None))
    assert answer(server, 1)["result"]["serverInfo"]["name"] == "torchlint"
    send(server, message("textDocument/didChange", textDocument={"uri": "file:///never/opened.py", "version": 1}))
    send(server, message("textDocument/hover", 2, textDocument=1))
    send(server, message("no/such/request", 3))
    assert answer(server, 3)["error"]["code"] == -32601
    send(server, message("shutdown", 4))
    assert answer(server, 4)["result"] is None
    send(server, message("exit"))
    assert server.wait(60) == 0


def test_it_ends_when_its_client_has_died(server: subprocess.Popen[bytes]) -> None:
    send(server, message("initialize", 1, capabilities={}, processId=None, rootUri=None))
    answer(server, 1)
    assert server.stdin is not None
    server.stdin.close()
    assert server.wait(60) == 1


def test_an_exit_without_a_shutdown(server: subprocess.Popen[bytes]) -> None:
    send(server, message("initialize", 1, capabilities={}, processId=None, rootUri=None))
    answer(server, 1)
    send(server, message("exit"))
    assert server.wait(60) == 1


def test_an_internal_error_is_shown_once(tmp_path: Path) -> None:
    folder = project(tmp_path, net="")

    async def talk(editor: Editor) -> None:
        await editor.begin(folder)
        uri = editor.open(folder / "net.py")
        for version, text in enumerate(("x = 1\n", "raise X\n", "x = 2\n", "raise Y\n"), 2):
            editor.write(uri, version, text)
            await editor.told(uri, version)
        assert editor.messages == [
            "torchlint: internal: check `a_check` broke on net.py: KeyError: 1",
            "torchlint: internal: RuntimeError: of the engine",
        ]
        assert any("of the engine" in line for line in editor.logged)

    assert converse(talk, (sys.executable, "-c", BROKEN)) == 0


def test_a_check_that_takes_long_is_shown(tmp_path: Path) -> None:
    folder = project(tmp_path, net="import torch\n")
    window = types.WindowClientCapabilities(work_done_progress=True)

    async def talk(editor: Editor) -> None:
        await editor.begin(folder, capabilities=types.ClientCapabilities(window=window))
        await editor.told(editor.open(folder / "net.py"))
        await editor.until(lambda: editor.steps[-1:] == ["end"])
        assert editor.steps[:2] == ["create", "torchlint: reading the project"]

    assert converse(talk, (sys.executable, "-c", IMPATIENT)) == 0


def test_odd_addresses_are_no_end(tmp_path: Path) -> None:
    folder = project(tmp_path, net="import torch\n" + BAD)
    odd = ["file:///%00.py", "file://host/share/x.py", "file:///", "git:/x.py?ref", "x.py", "", f"file:///{999 * 'a'}"]

    async def talk(editor: Editor) -> None:
        await editor.begin(folder)
        for uri in odd:
            editor.open(uri, "import torch\n")
        assert await editor.told_codes(editor.open(folder / "net.py")) == ["TL201"]
        assert editor.messages == []

    assert converse(talk) == 0


def test_without_pygls_it_says_what_to_install() -> None:
    result = subprocess.run([sys.executable, "-c", WITHOUT_PYGLS], capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert 'pip install "pygls>=2"' in result.stderr


def test_the_command_is_listed_and_imports_pygls_only_when_it_runs(tmp_path: Path) -> None:
    assert "server" in run_torchlint("--help", cwd=tmp_path).stdout
    assert "Serve editors" in run_torchlint("server", "--help", cwd=tmp_path).stdout
    loaded = "import sys; from torchlint.cli.group import root; root.get_command(None, 'server'); "
    loaded += "sys.exit('pygls' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", loaded], check=False).returncode == 0


def test_results_are_kept_on_disk_for_the_next_session(tmp_path: Path) -> None:
    folder = project(tmp_path, net="import torch\n" + BAD)

    async def talk(editor: Editor) -> None:
        await editor.begin(folder)
        assert await editor.told_codes(editor.open(folder / "net.py")) == ["TL201"]

    for _ in range(2):
        assert converse(talk, SERVER[:-1]) == 0
        assert len(list((folder / ".torchlint_cache").rglob("*.bin"))) == 1
