"""Which files are checked, and which tell facts."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from torchlint.source.discovery import Discovery, discover, scan_project


def plant(root: Path, *names: str, text: str = "") -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def find(
    root: Path, *paths: str, exclude: Sequence[str] = (), force: bool = False, gitignore: bool = True
) -> Discovery:
    named = [root / path for path in paths] or [root]
    return discover(named, root=root, exclude=exclude, force_exclude=force, respect_gitignore=gitignore)


def names(
    root: Path, *paths: str, exclude: Sequence[str] = (), force: bool = False, gitignore: bool = True
) -> list[str]:
    found = find(root, *paths, exclude=exclude, force=force, gitignore=gitignore)
    return [path.relative_to(root).as_posix() for path in found.files]


def test_folders_give_python_files_and_notebooks_sorted(tmp_path: Path) -> None:
    plant(tmp_path, "b.py", "a/z.ipynb", "a/b/c.pyw", "a/d.pyi", "e.txt", "f.PY")
    assert names(tmp_path) == ["a/b/c.pyw", "a/z.ipynb", "b.py", "f.PY"]


@pytest.mark.parametrize(
    ("name", "first", "mode", "is_found"),
    [
        ("train", "#!/usr/bin/env python3\n", 0o755, True),
        ("train", "#! /opt/conda/bin/python -u\n", 0o755, True),
        ("train", "#!/usr/bin/env python3\n", 0o644, False),
        ("train", "#!/bin/sh\npython x.py\n", 0o755, False),
        ("train", "", 0o755, False),
        ("train.in", "#!/usr/bin/env python3\n", 0o755, False),
    ],
)
def test_an_executable_without_suffix_is_python_if_its_first_line_says_so(
    tmp_path: Path, name: str, first: str, mode: int, *, is_found: bool
) -> None:
    plant(tmp_path, name, text=first)
    (tmp_path / name).chmod(mode)
    assert names(tmp_path) == [name] * is_found
    assert [one.name for one in scan_project(tmp_path).sources] == [name] * is_found


def test_a_named_file_is_checked_whatever_its_suffix(tmp_path: Path) -> None:
    plant(tmp_path, "script")
    assert names(tmp_path, "script") == ["script"]


def test_missing_paths_are_told_and_the_others_go_on(tmp_path: Path) -> None:
    plant(tmp_path, "a.py")
    found = find(tmp_path, "nowhere", "a.py")
    assert found.missing == (tmp_path / "nowhere",)
    assert found.files == (tmp_path / "a.py",)


def test_overlapping_paths_give_each_file_once(tmp_path: Path) -> None:
    plant(tmp_path, "src/a.py", "src/b/c.py")
    assert names(tmp_path, "src/b", "src", "src/a.py", "src/b/../a.py") == ["src/a.py", "src/b/c.py"]


def test_relative_paths_stay_relative(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(tmp_path, "src/a.py")
    monkeypatch.chdir(tmp_path)
    assert discover([Path()], root=tmp_path, exclude=(), force_exclude=False).files == (Path("src/a.py"),)


@pytest.mark.parametrize(
    "folder", ["build", "site-packages", ".venv", "node_modules", ".git", "x/__pycache__", ".ipynb_checkpoints"]
)
def test_folders_of_no_interest_are_left_out_unless_named(tmp_path: Path, folder: str) -> None:
    plant(tmp_path, f"{folder}/a.py", f"{folder}/deep/b.py")
    assert names(tmp_path) == []
    assert names(tmp_path, folder) == [f"{folder}/a.py", f"{folder}/deep/b.py"]
    assert names(tmp_path, f"{folder}/deep") == [f"{folder}/deep/b.py"]
    assert names(tmp_path, folder, force=True) == []


def test_a_virtual_environment_is_known_by_its_mark(tmp_path: Path) -> None:
    plant(tmp_path, "myenv/pyvenv.cfg", "myenv/lib/a.py", "b.py")
    assert names(tmp_path) == ["b.py"]
    assert names(tmp_path, "myenv") == ["myenv/lib/a.py"]


@pytest.mark.parametrize(
    ("pattern", "kept"),
    [
        ("legacy", ["src/b.py"]),
        ("legacy/", ["src/b.py"]),
        ("leg*", ["src/b.py"]),
        ("b.py", ["legacy/a.py", "src/legacy/c.py"]),
        ("src/legacy", ["legacy/a.py", "src/b.py"]),
        ("./src/*.py", ["legacy/a.py"]),
        ("**/c.py", ["legacy/a.py", "src/b.py"]),
        ("**/legacy", ["src/b.py"]),
        ("", ["legacy/a.py", "src/b.py", "src/legacy/c.py"]),
    ],
)
def test_excludes_match_parts_by_name_and_paths_from_the_root(tmp_path: Path, pattern: str, kept: list[str]) -> None:
    plant(tmp_path, "legacy/a.py", "src/b.py", "src/legacy/c.py")
    assert names(tmp_path, exclude=[pattern]) == kept


def test_a_named_file_beats_an_exclude_unless_forced(tmp_path: Path) -> None:
    plant(tmp_path, "legacy/a.py")
    assert names(tmp_path, "legacy/a.py", exclude=["legacy"]) == ["legacy/a.py"]
    assert names(tmp_path, "legacy/a.py", exclude=["legacy"], force=True) == []


def repository(root: Path, ignored: str, *files: str) -> None:
    plant(root, ".git/HEAD", *files)
    plant(root, ".gitignore", text=ignored)


def test_gitignore_files_are_read_as_git_reads_them(tmp_path: Path) -> None:
    repository(
        tmp_path, "*.gen.py\n/top.py\nout/\n", "a.gen.py", "top.py", "x/top.py", "x/out/a.py", "x/a.gen.py", "b.py"
    )
    plant(tmp_path, "x/.gitignore", text="!a.gen.py\n")
    assert names(tmp_path) == ["b.py", "x/a.gen.py", "x/top.py"]
    assert "top.py" in names(tmp_path, gitignore=False)


_IGNORED = (
    "*\n!*/\n!*.*\n",
    "*\n!*/\n!*.py\nout/\n",
    "/*\n!/src/\n",
    "src/*\n!src/deep/\n",
    "src/**\n!src/deep/\n!src/deep/a.py\n",
    "out\n!src/out/\n",
    "out/\n!out/\n",
    "a.py\n!/src/a.py\nsrc/deep\n",
    "**/deep/\n!a.py\n",
)


@pytest.mark.skipif(shutil.which("git") is None, reason="git says what it leaves out")
@pytest.mark.parametrize("ignored", _IGNORED)
def test_what_is_found_is_what_git_does_not_ignore(tmp_path: Path, ignored: str) -> None:
    folders = ("", "src/", "src/deep/", "src/deep/out/", "out/", "src/out/")
    plant(tmp_path, *(f"{folder}{name}" for folder in folders for name in ("a.py", "b.py")))
    plant(tmp_path, ".gitignore", text=ignored)
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    command = ["git", "ls-files", "--others", "--exclude-standard", "*.py"]
    shown = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    assert names(tmp_path) == sorted(shown.splitlines())


def test_gitignore_files_above_the_named_folder_count(tmp_path: Path) -> None:
    repository(tmp_path, "src/gen/\n", "src/gen/a.py", "src/b.py")
    plant(tmp_path, ".git/info/exclude", text="c.py\n")
    plant(tmp_path, "src/c.py")
    assert names(tmp_path, "src") == ["src/b.py"]


def test_a_named_folder_that_git_ignores_is_checked(tmp_path: Path) -> None:
    repository(tmp_path, "gen\n", "gen/a.py", "gen/deep/b.py")
    assert names(tmp_path) == []
    assert names(tmp_path, "gen") == ["gen/a.py", "gen/deep/b.py"]
    assert names(tmp_path, "gen/deep", "gen/a.py") == ["gen/a.py", "gen/deep/b.py"]


def test_a_gitignore_with_a_broken_pattern_or_odd_bytes_still_works(tmp_path: Path) -> None:
    repository(tmp_path, "", "a.py", "b.py")
    (tmp_path / ".gitignore").write_bytes(b"!\n//\n\xff\nb.py\n")
    assert names(tmp_path) == ["a.py"]


def test_links_in_a_circle_end_and_each_real_folder_is_entered_once(tmp_path: Path) -> None:
    plant(tmp_path, "src/z/a.py")
    os.symlink(tmp_path, tmp_path / "src" / "circle")  # noqa: PTH211
    os.symlink(tmp_path / "src" / "z", tmp_path / "src" / "also")  # noqa: PTH211
    os.symlink(tmp_path / "src" / "z" / "a.py", tmp_path / "src" / "a_link.py")  # noqa: PTH211
    os.symlink("self.py", tmp_path / "self.py")  # noqa: PTH211
    os.symlink("nowhere.py", tmp_path / "dangling.py")  # noqa: PTH211
    assert names(tmp_path) == ["src/z/a.py"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_folder_is_a_note(tmp_path: Path) -> None:
    plant(tmp_path, "locked/a.py", "b.py")
    (tmp_path / "locked").chmod(0)
    try:
        found = find(tmp_path)
    finally:
        (tmp_path / "locked").chmod(0o700)
    assert [each.message for each in found.skipped] == ["folder cannot be read: Permission denied"]


def test_a_folder_that_vanishes_is_a_note(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: str) -> None:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(os, "scandir", refuse)
    assert [each.message for each in find(tmp_path).skipped] == ["folder cannot be read: Permission denied"]


def relative(root: Path, paths: Sequence[Path]) -> list[str]:
    return [path.relative_to(root).as_posix() for path in paths]


def test_a_project_scan_sorts_files_by_what_they_tell(tmp_path: Path) -> None:
    plant(
        tmp_path,
        "a.py",
        "nb.ipynb",
        "Dockerfile.gpu",
        "run.sh",
        ".env",
        ".github/workflows/ci.yml",
        "tox.ini",
        "Makefile",
    )
    plant(
        tmp_path,
        "pyproject.toml",
        "setup.py",
        "requirements-dev.txt",
        "requirements/base.txt",
        "environment.yml",
        "uv.lock",
        "notes.txt",
    )
    found = scan_project(tmp_path)
    assert relative(tmp_path, found.sources) == ["a.py", "nb.ipynb", "setup.py"]
    assert set(relative(tmp_path, found.environment)) == {
        *(".env", ".github/workflows/ci.yml", "Dockerfile.gpu", "Makefile", "environment.yml", "run.sh", "tox.ini"),
    }
    assert set(relative(tmp_path, found.requirements)) == {
        *("Dockerfile.gpu", "run.sh"),
        *("environment.yml", "pyproject.toml", "requirements-dev.txt", "requirements/base.txt", "setup.py", "uv.lock"),
    }
    assert not found.truncated


def test_a_project_scan_sees_ignored_files_but_no_environments_or_links(tmp_path: Path) -> None:
    repository(
        tmp_path, "gen/\n.env\n", "gen/a.py", ".env", "build/b.py", "env/pyvenv.cfg", "env/c.py", "x/node_modules/d.py"
    )
    os.symlink(tmp_path / "gen", tmp_path / "linked")  # noqa: PTH211
    found = scan_project(tmp_path)
    assert relative(tmp_path, found.sources) == ["gen/a.py"]
    assert relative(tmp_path, found.environment) == [".env"]


def test_a_project_scan_skips_large_data_files_and_stops_at_its_limit(tmp_path: Path) -> None:
    plant(tmp_path, "big.yaml", text="x" * 300_000)
    plant(tmp_path, "a.py", "b.py", "c/d.py")
    assert scan_project(tmp_path).environment == ()
    assert not scan_project(tmp_path, limit=3).truncated
    found = scan_project(tmp_path, limit=2)
    assert found.truncated
    assert len(found.sources) == 2
