"""Which torch a file is judged for."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from torchlint.catalogue.versions import TorchTarget
from torchlint.project.outside import Outside
from torchlint.project.requirements.manifests import Manifests
from torchlint.project.target import Targets, unknown_torch

RELEASES = ((1, 0), (1, 6), (1, 13), (2, 0), (2, 1), (2, 6), (2, 15))
INSTALLED = "torchlint.project.outside.Outside.installed_torch"


def targets(folder: Path, files: Mapping[str, str], configured: str | None = None) -> Targets:
    """Of a project that holds these files."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    sources = [name for name in files if name.endswith((".py", ".ipynb"))]
    manifests = [folder / name for name in files if name not in sources]
    read = Manifests(folder, manifests, sources, lambda path: (folder / path).read_bytes(), {}, Outside())
    return Targets(folder, read, configured, RELEASES, Outside())


@pytest.fixture(autouse=True)
def _nothing_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(INSTALLED, lambda *_: "")


def test_the_nearest_manifest_that_names_torch_decides(tmp_path: Path) -> None:
    found = targets(
        tmp_path,
        {
            "requirements.txt": "torch>=2.1\n",
            "train.py": "",
            "packages/old/pyproject.toml": '[project]\ndependencies = ["torch<2"]\n',
            "packages/old/src/net.py": "",
            "packages/new/requirements.txt": "numpy\n",
            "packages/new/net.py": "",
        },
    )
    assert found.of("packages/old/src/net.py").releases == ((1, 0), (1, 6), (1, 13))
    assert found.of("packages/old/src/net.py").source == "packages/old/pyproject.toml: torch<2"
    assert found.of("packages/new/net.py") == found.of("train.py")
    assert found.of("train.py").releases == ((2, 1), (2, 6), (2, 15))


def test_a_manifest_in_a_folder_without_sources_speaks_for_the_folder_above(tmp_path: Path) -> None:
    files = {"docker/gpu/Dockerfile": "FROM pytorch/pytorch:2.1.0-cuda12.1\n", "train.py": "", "docs/conf.py": ""}
    files["docs/requirements.txt"] = "torch==2.6.0\n"
    found = targets(tmp_path, files)
    assert str(found.of("train.py")) == "2.1"
    assert str(found.of("docs/conf.py")) == "2.6"


def test_manifests_elsewhere_count_where_they_agree(tmp_path: Path) -> None:
    files = {"tools/x.py": "", "a/requirements.txt": "torch==2.1.0\n", "a/a.py": "", "b/b.py": ""}
    assert str(targets(tmp_path, files).of("tools/x.py")) == "2.1"
    files["b/requirements.txt"] = "torch==1.13.0\n"
    assert not targets(tmp_path, files).of("tools/x.py").pinned


def test_of_several_manifests_in_one_folder_the_declaration_counts_before_the_lock(tmp_path: Path) -> None:
    files = {"a.py": "", "uv.lock": '[[package]]\nname = "torch"\nversion = "2.1.2"\n'}
    assert str(targets(tmp_path, files).of("a.py")) == "2.1"
    files["pyproject.toml"] = '[project]\ndependencies = ["torch>=2.0,<2.6"]\n'
    assert str(targets(tmp_path, files).of("a.py")) == "2.0 to 2.1"
    files["pyproject.toml"] = '[project]\ndependencies = ["torch"]\n'
    assert str(targets(tmp_path, files).of("a.py")) == "2.1"


def test_requirements_txt_counts_before_its_neighbours(tmp_path: Path) -> None:
    files = {"a.py": "", "requirements-dev.txt": "torch==1.13.0\n", "requirements.txt": "torch==2.6.0\n"}
    assert str(targets(tmp_path, files).of("a.py")) == "2.6"


def test_requirements_in_a_folder_of_their_own_count_as_requirements(tmp_path: Path) -> None:
    files = {
        "a.py": "",
        "requirements/base.txt": "torch==2.6.0\n",
        "Dockerfile": "FROM pytorch/pytorch:1.13.1-cuda11\n",
    }
    assert targets(tmp_path, files).of("a.py").source == "requirements/base.txt: torch==2.6.0"


def test_lines_hold_together_unless_they_exclude_each_other(tmp_path: Path) -> None:
    held = targets(tmp_path, {"a.py": "", "requirements.txt": "torch>=1.13\ntorch<2.1\n"}).of("a.py")
    assert held.releases == ((1, 13), (2, 0))
    either = targets(tmp_path, {"a.py": "", "requirements.txt": "torch==1.6.0; a\ntorch==2.6.0; b\n"}).of("a.py")
    assert either.releases == ((1, 6), (2, 6))


@pytest.mark.parametrize(
    ("specifier", "judged"),
    [
        ("==2.99.0", "2.15"),
        (">=3", "2.15"),
        ("~=2.16", "2.15"),
        ("==0.3.1", "1.0"),
        ("==0.4.1.post2", "1.0"),
        ("<1", "1.0"),
    ],
)
def test_an_unknown_torch_is_judged_as_the_nearest_that_is_known(tmp_path: Path, specifier: str, judged: str) -> None:
    found = targets(tmp_path, {"a.py": "", "requirements.txt": f"torch{specifier}\n"}).of("a.py")
    assert (str(found), found.is_known, found.pinned) == (judged, False, True)
    (note,) = unknown_torch([found, found])
    assert note.message.startswith("requirements.txt: torch")
    assert f"judges it as torch {judged}" in note.message


def test_known_ones_have_no_note(tmp_path: Path) -> None:
    assert unknown_torch([targets(tmp_path, {"a.py": ""}).of("a.py")]) == []
    assert unknown_torch([]) == []


def test_one_note_speaks_of_all() -> None:
    unknown = [TorchTarget(((2, 15),), f"{name}: torch==2.{name}", is_known=False) for name in ("21", "20", "22")]
    (note,) = unknown_torch(unknown)
    assert note.message.startswith("20: torch==2.20 (and 2 more): ")


def test_nothing_pinned_is_the_newest_release(tmp_path: Path) -> None:
    found = targets(tmp_path, {"a.py": "", "requirements.txt": "torch\n"}).of("a.py")
    assert (str(found), found.pinned, found.declared) == ("2.15", False, False)
    assert found.source == "no torch release is pinned: the newest, and CUBLAS_WORKSPACE_CONFIG for 2.9 and older too"


def test_an_installed_torch_counts_where_nothing_is_declared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(INSTALLED, lambda *_: "2.6.0")
    found = targets(tmp_path, {"a.py": "", "b/b.py": "", "b/requirements.txt": "torch<2\n", "c/requirements.txt": ""})
    assert (str(found.of("b/b.py")), found.of("b/b.py").declared) == ("1.0 to 1.13", True)
    assert str(found.of("a.py")) == "1.0 to 1.13"
    found = targets(tmp_path / "other", {"a.py": ""})
    assert (str(found.of("a.py")), found.of("a.py").declared, found.of("a.py").pinned) == ("2.6", False, True)


def test_the_configuration_beats_every_manifest(tmp_path: Path) -> None:
    found = targets(tmp_path, {"a.py": "", "requirements.txt": "torch<2\n"}, configured=">=2.6")
    assert found.of("a.py").releases == ((2, 6), (2, 15))
