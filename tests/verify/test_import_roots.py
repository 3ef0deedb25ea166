"""Imports of folders that only the program puts on the path, and relative imports without a package."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from torchlint.verify.import_roots import import_roots, nearest
from torchlint.verify.loading import module_of


def written(root: Path, files: Mapping[str, str]) -> list[Path]:
    for place, text in files.items():
        path = root / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return sorted(root.rglob("*.py"))


def test_a_folder_that_holds_what_is_imported_by_a_bare_name(tmp_path: Path) -> None:
    files = written(
        tmp_path, {"code/net.py": "from soft import Soft\nimport json\n", "code/tools/soft.py": "", "code/json.py": ""}
    )
    assert import_roots(files, tmp_path) == (tmp_path / "code/tools",)


@pytest.mark.parametrize(
    "files",
    [
        {"net.py": "import soft\n", "soft.py": ""},
        {"code/net.py": "import soft\n", "code/soft.py": ""},
        {"net.py": "import soft\n", "a/soft.py": "", "b/soft.py": "", "c/soft.py": "", "d/soft.py": ""},
        {"nets/net.py": "from soft.soft import Soft\n", "soft/soft.py": ""},
        {"nets/net.py": "import soft, data.rows\n", "tools/soft.py": "", "tools/data.py": "", "data/rows.py": ""},
        {"net.py": "import code.soft\nfrom . import soft\n", "code/soft.py": ""},
    ],
)
def test_what_is_found_anyhow_or_is_there_too_often_adds_nothing(tmp_path: Path, files: Mapping[str, str]) -> None:
    assert import_roots(written(tmp_path, files), tmp_path) == ()


def test_the_folders_near_a_file_come_first(tmp_path: Path) -> None:
    near, far = tmp_path / "a/b/tools", tmp_path / "c/tools"
    assert nearest([far, near], tmp_path / "a/b/net.py") == [near, far]


def test_relative_imports_make_a_package(tmp_path: Path) -> None:
    written(tmp_path, {"kit/models/net.py": "from ..layers import Block\n", "kit/layers.py": "", "kit/plain.py": ""})
    assert module_of(tmp_path / "kit/models/net.py") == "kit.models.net"
    assert module_of(tmp_path / "kit/plain.py") == "plain"
