from __future__ import annotations

import os
from pathlib import Path

import pytest

from torchlint.errors import TorchlintError
from torchlint.verify.sandbox.project_copy import copy_of


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    for path, size in {
        "pkg/model.py": 10,
        "pkg/generated.py": 5000,
        "pkg/config.yaml": 20,
        "data/huge.bin": 5000,
        ".git/objects/pack": 10,
        "env/pyvenv.cfg": 1,
        "env/lib/torch.py": 10,
        "pkg/__pycache__/model.pyc": 10,
    }.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(b"x" * size)
    return root


def test_sources_and_small_files_are_copied(project: Path, tmp_path: Path) -> None:
    copied = copy_of(project, tmp_path / "copy", largest_file=1000)
    assert sorted(path.relative_to(copied).as_posix() for path in copied.rglob("*") if path.is_file()) == [
        "pkg/config.yaml",
        "pkg/generated.py",
        "pkg/model.py",
    ]


def test_a_project_of_too_many_files_is_refused(project: Path, tmp_path: Path) -> None:
    with pytest.raises(TorchlintError, match="too much to run from a copy"):
        copy_of(project, tmp_path / "copy", largest_copy=1000)


def test_links_and_special_files_are_left_out(project: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside.py"
    outside.write_text("original")
    (project / "link.py").symlink_to(outside)
    (project / "folder").symlink_to(tmp_path)
    os.mkfifo(project / "fifo")
    copied = copy_of(project, tmp_path / "copy")
    assert not any((copied / name).exists() for name in ("link.py", "folder", "fifo"))


def test_the_copy_is_another_file(project: Path, tmp_path: Path) -> None:
    copied = copy_of(project, tmp_path / "copy")
    (copied / "pkg/model.py").write_text("changed")
    assert (project / "pkg/model.py").read_text() == "x" * 10


def test_a_copy_inside_the_project_does_not_hold_itself(project: Path) -> None:
    copied = copy_of(project, project / "temporary" / "0")
    assert (copied / "pkg" / "model.py").exists()
    assert not (copied / "temporary").exists()
