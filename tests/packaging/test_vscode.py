"""The extension for Visual Studio Code: built as its README says."""

from __future__ import annotations

import json
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

import torchlint
from torchlint.server.settings import ClientSettings

EXTENSION = Path(__file__).parents[2] / "editors" / "vscode"


def manifest() -> dict[str, object]:
    read: dict[str, object] = json.loads((EXTENSION / "package.json").read_text(encoding="utf-8"))
    return read


def test_it_has_the_version_of_torchlint() -> None:
    lock = json.loads((EXTENSION / "package-lock.json").read_text(encoding="utf-8"))
    assert manifest()["version"] == lock["version"] == torchlint.__version__
    assert f"torchlint-{torchlint.__version__}.vsix" in (EXTENSION / "README.md").read_text(encoding="utf-8")


def test_the_lock_names_no_registry() -> None:
    assert '"resolved"' not in (EXTENSION / "package-lock.json").read_text(encoding="utf-8")


def test_it_offers_the_settings_of_the_server() -> None:
    offered = set(manifest()["contributes"]["configuration"]["properties"])  # type: ignore[index]
    read = {f"torchlint.{name}" for name in ClientSettings.__struct_encode_fields__}
    assert read == offered - {"torchlint.path", "torchlint.trace.server"}


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("npm") is None, reason="needs node")
def test_it_is_built_from_its_lock(tmp_path: Path) -> None:
    copy = tmp_path / "vscode"
    shutil.copytree(EXTENSION, copy, ignore=shutil.ignore_patterns("node_modules", "out", "*.vsix"))
    for command in (["npm", "ci"], ["npx", "tsc"], ["npx", "vsce", "package", "--allow-missing-repository"]):
        result = subprocess.run(command, cwd=copy, capture_output=True, text=True, check=False, timeout=600)
        assert result.returncode == 0, result.stdout + result.stderr
    with zipfile.ZipFile(copy / f"torchlint-{torchlint.__version__}.vsix") as built:
        names = set(built.namelist())
    assert {"extension/package.json", "extension/out/extension.js", "extension/LICENSE.txt"} <= names
    assert "extension/node_modules/vscode-languageclient/package.json" in names
    assert not [name for name in names if name.endswith(".ts") and "node_modules" not in name]
