"""Where a project begins, in the layouts that people have."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from torchlint.engine import projects
from torchlint.project.roots import Roots, find_root


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


def plant(work: Path, *names: str) -> None:
    for name in names:
        path = work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith("/"):
            path.mkdir()
        else:
            path.touch()


def root(work: Path, file: str, *named: str) -> str:
    """The root of a file, relative to the folder of the test."""
    return Roots(work / name for name in named).of(work / file).relative_to(work).as_posix()


@pytest.mark.parametrize(
    "marker",
    [
        *(".git/", ".hg/", "pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "requirements-dev.txt"),
        *("environment.yml", "environment.yaml", "Pipfile", "Dockerfile", "Dockerfile.gpu", "torchlint.toml"),
    ],
)
def test_a_marker_makes_a_root(work: Path, marker: str) -> None:
    plant(work, "p/a/b/train.py", f"p/{marker}")
    assert root(work, "p/a/b/train.py") == root(work, "p/a/b/train.py", "p/a") == root(work, "p/a", "p/a") == "p"


@pytest.mark.parametrize("name", ["README.md", "notes.txt", "run.sh", "config.yml", "requirements.md"])
def test_other_files_make_none(work: Path, name: str) -> None:
    plant(work, "p/a/train.py", f"p/{name}")
    assert root(work, "p/a/train.py") == "p/a"


def test_without_a_marker_the_named_folder_is_the_root_of_all_below_it(work: Path) -> None:
    plant(work, "kaggle/train.py", "kaggle/src/models/net.py")
    assert root(work, "kaggle/src/models/net.py", "kaggle") == "kaggle"
    assert root(work, "kaggle/src/models/net.py", "kaggle", "kaggle/src") == "kaggle"
    assert root(work, "kaggle/train.py", "kaggle/src") == "kaggle"
    assert root(work, "kaggle/src/models/net.py") == "kaggle/src/models"


def test_a_repository_or_a_configuration_beats_what_is_deeper_down(work: Path) -> None:
    plant(work, ".git/", "packages/old/requirements.txt", "packages/old/train.py", "packages/new/torchlint.toml")
    assert root(work, "packages/old/train.py", "packages") == "."
    assert root(work, "packages/new/train.py", "packages") == "packages/new"


def test_folders_with_manifests_of_their_own_are_projects_of_their_own(work: Path) -> None:
    plant(work, "all/one/requirements.txt", "all/one/src/a.py", "all/two/Dockerfile", "all/b.py")
    assert root(work, "all/one/src/a.py", "all") == root(work, "all/one/src/a.py") == "all/one"
    assert root(work, "all/two/c.py", "all") == "all/two"
    assert root(work, "all/b.py", "all") == "all"


def test_a_manifest_deeper_down_is_for_a_part_of_the_project(work: Path) -> None:
    plant(work, "zip/requirements.txt", "zip/demo/requirements.txt", "zip/demo/app.py", "zip/a/b/Dockerfile")
    assert root(work, "zip/demo/app.py", "zip") == root(work, "zip/demo/app.py") == "zip"
    assert root(work, "zip/a/b/c.py", "zip") == "zip"


def test_a_manifest_in_the_home_folder_is_for_no_project(work: Path) -> None:
    plant(work, "../requirements.txt", "p/a/train.py")
    assert root(work, "p/a/train.py") == "p/a"
    assert root(work, "p/a/train.py", "p") == "p"


def test_the_root_of_a_package_is_the_folder_that_holds_it(work: Path) -> None:
    plant(work, "p/train.py", "p/net/__init__.py", "p/net/blocks/__init__.py", "p/net/blocks/conv.py")
    assert root(work, "p/net/blocks/conv.py") == "p"
    assert root(work, "p/net/blocks/conv.py", "p/net") == "p"


def test_an_installed_package_is_a_root_by_itself(work: Path) -> None:
    plant(work, "lib/site-packages/net/__init__.py", "lib/site-packages/net/conv.py", "lib/site-packages/other.py")
    assert root(work, "lib/site-packages/net/conv.py") == "lib/site-packages/net"


@pytest.mark.parametrize(
    ("folder", "record"),
    [
        ("lib/site-packages", "README.txt"),
        ("usr/dist-packages", "setup.py"),
        ("unpacked", "net-1.0.dist-info/RECORD"),
        ("vendored", "net-1.0-py3.8.egg-info"),
        ("eggs", "net-1.0-py3.8.egg-info/PKG-INFO"),
    ],
)
def test_packages_side_by_side_are_projects_of_their_own(work: Path, folder: str, record: str) -> None:
    plant(work, ".git/", "pyproject.toml", f"{folder}/{record}", f"{folder}/net/__init__.py", f"{folder}/six.py")
    plant(work, f"{folder}/net/a/requirements.txt", f"{folder}/net/a/b.py", f"{folder}/space/name/x.py")
    for named in [], [folder], ["."], [f"{folder}/net"], [f"{folder}/net/a"]:
        assert root(work, f"{folder}/net/a/b.py", *named) == f"{folder}/net"
        assert root(work, f"{folder}/net", *named) == f"{folder}/net"
        assert root(work, f"{folder}/space/name/x.py", *named) == f"{folder}/space"
        assert root(work, f"{folder}/six.py", *named) == root(work, folder, *named) == folder
    assert root(work, "train.py") == root(work, "a/train.py") == "."


def test_a_project_may_have_packages_among_its_files(work: Path) -> None:
    plant(work, "p/requirements.txt", "p/net-1.0.dist-info/RECORD", "p/net/__init__.py", "p/own/__init__.py")
    plant(work, "q/pyproject.toml", "q/src/net.egg-info/PKG-INFO", "q/src/net/__init__.py", "q/src/own/__init__.py")
    plant(work, "r/torchlint.toml", "r/lib/net-1.0.dist-info/RECORD", "r/lib/net/__init__.py")
    plant(work, "s/net.egg-info/PKG-INFO", "s/net/__init__.py", "s/net/a.py", "s/train.py")
    assert root(work, "p/net/a.py") == root(work, "p/own/b.py") == "p"
    assert root(work, "q/src/net/a.py") == root(work, "q/src/own/b.py") == "q"
    assert root(work, "r/lib/net/a.py") == "r"
    assert root(work, "s/net/a.py") == "s/net"


@pytest.mark.usefixtures("work")
def test_a_package_in_the_home_folder_is_a_root_by_itself(tmp_path: Path) -> None:
    plant(tmp_path, "net/__init__.py", "net/conv.py")
    assert find_root(tmp_path / "net" / "conv.py") == tmp_path / "net"


def test_a_path_through_a_parent_folder_is_the_path_it_leads_to(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(work, "here/.git/", "there/a/train.py")
    monkeypatch.chdir(work / "here")
    assert Roots([Path("../there")]).of(Path("../there/a/train.py")) == work / "there"


def test_a_user_without_a_home_has_roots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As one whom a container starts by a number: neither HOME nor the list of users says where it lives."""

    def none() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", none)
    (tmp_path / "requirements.txt").touch()
    (tmp_path / "models").mkdir()
    assert find_root(tmp_path / "models") == tmp_path


@pytest.mark.parametrize(
    ("root", "path", "shown"),
    [
        ("/lab", "/lab/net/a.py", "net/a.py"),
        ("/lab", "/lab/../lab/a.py", "a.py"),
        ("/lab", "/labs/a.py", "../labs/a.py"),
        ("/", "/lab/a.py", "lab/a.py"),
        ("/", "//lab/a.py", "lab/a.py"),
        ("/lab", "/lab", "."),
    ],
)
@pytest.mark.skipif(os.name != "posix", reason="roots of another system")
def test_a_file_is_named_from_its_root(root: str, path: str, shown: str) -> None:
    assert projects._relative(Path(root), Path(path)) == shown
