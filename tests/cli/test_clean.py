"""`torchlint clean` removes what torchlint kept, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchlint.cli import main

CODE = "import torch\ntorch.use_deterministic_algorithms = True\n"


@pytest.fixture
def checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    (tmp_path / ".git").mkdir()
    (tmp_path / "train.py").write_text(CODE)
    monkeypatch.chdir(tmp_path)
    assert main(["check", "--jobs", "1"]) == 1
    capsys.readouterr()
    return tmp_path


def test_it_removes_results_and_verdicts_and_says_how_many(checked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    verdicts = checked / ".torchlint_cache" / "verdicts"
    verdicts.mkdir()
    (verdicts / "one.json").write_text("{}")
    assert main(["clean"]) == 0
    said = capsys.readouterr().out
    assert said.startswith(f"removed {checked / '.torchlint_cache'} (0.0 MB, 1 verdict)")
    assert not (checked / ".torchlint_cache").exists()
    assert (checked / "train.py").read_text() == CODE
    assert main(["clean", "train.py"]) == 0
    assert capsys.readouterr().out == f"nothing to remove in {checked}\n"


def test_what_others_have_put_there_stays(checked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (checked / ".torchlint_cache" / "notes.txt").write_text("mine")
    assert main(["clean"]) == 0
    assert capsys.readouterr().out.endswith("; left: notes.txt\n")
    assert [path.name for path in (checked / ".torchlint_cache").iterdir()] == ["notes.txt"]


def test_a_link_is_not_followed(checked: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    cache = checked / ".torchlint_cache"
    cache.rename(elsewhere / "cache")
    cache.symlink_to(elsewhere / "cache")
    assert main(["clean"]) == 0
    assert list((elsewhere / "cache" / "check").glob("*.bin"))


def test_a_path_that_is_not_there_ends_with_two_and_the_others_are_cleaned(checked: Path) -> None:
    assert main(["clean", "missing", "."]) == 2
    assert not (checked / ".torchlint_cache").exists()


def test_a_folder_that_is_named_holds_one_folder_a_root(checked: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = checked / "store"
    monkeypatch.setenv("TORCHLINT_CACHE_DIR", str(store))
    assert main(["clean"]) == 0
    assert main(["check", "--jobs", "1"]) == 1
    assert not (checked / ".torchlint_cache").exists()
    assert [path.name.rpartition("-")[0] for path in store.iterdir() if path.is_dir()] == [checked.name]
    assert main(["clean"]) == 0
    assert list(store.rglob("*.bin")) == []


def test_no_cache_keeps_nothing(checked: Path) -> None:
    assert main(["clean"]) == 0
    assert main(["check", "--no-cache", "--jobs", "1"]) == 1
    assert not (checked / ".torchlint_cache").exists()
