"""The compiled catalogue is the one that its TOML files hold, and counts for these alone."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from torchlint.catalogue import compiled, load


@pytest.fixture
def rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The catalogue's own files, compiled."""
    folder = tmp_path / "rules"
    shutil.copytree(Path(__file__).parents[2] / "rules", folder, ignore=shutil.ignore_patterns(compiled.NAME))
    monkeypatch.setattr(load, "catalogue_root", lambda: folder)
    compiled.compile_files(folder)
    return folder


def test_it_is_the_catalogue_of_the_toml_files(rules: Path) -> None:
    fast = load.load_catalogue.__wrapped__()
    compiled._entries.cache_clear()
    for path in rules.rglob(compiled.NAME):
        path.unlink()
    assert vars(load.load_catalogue.__wrapped__()) == vars(fast)


def test_every_toml_file_is_compiled(rules: Path) -> None:
    for path in rules.rglob("*.toml"):
        assert compiled.data_of(path, path.read_bytes()) is not None


def test_an_edited_file_is_read_itself(rules: Path) -> None:
    path = rules / "registry" / "torch.toml"
    edited = path.read_bytes() + b"\n# edited\n"
    assert compiled.data_of(path, path.read_bytes()) is not None
    assert compiled.data_of(path, edited) is None


@pytest.mark.parametrize("damage", [b"", b"\xc1", b"\x80"])
def test_a_damaged_one_counts_for_nothing(rules: Path, damage: bytes) -> None:
    (rules / compiled.NAME).write_bytes(damage)
    path = next(rules.glob("*.toml"))
    assert compiled.data_of(path, path.read_bytes()) is None
    assert load.load_catalogue.__wrapped__().rules
