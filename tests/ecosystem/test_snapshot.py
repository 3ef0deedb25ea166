"""The ecosystem command on made-up data; no package is fetched."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from tests.ecosystem import __main__ as command
from tests.ecosystem.packages import PINS, FetchError, Package, fetch, read_pins, unpack
from tests.ecosystem.reading import lines_reader, moved_lines, sample, shown_lines
from tests.ecosystem.snapshot import Moves, Row, compare, dump, load

SLEEPY = Row("sleepy", "sleepy/a.py", 0, 3, "TL501", "high")
UNSURE = Row("sleepy", "sleepy/a.py", 0, 2, "TL401", "low")
IN_CELL = Row("sleepy", "demo.ipynb", 2, 1, "TL207", "medium")
BAD = "import torch\n\ntorch.use_deterministic_algorithms = True\n"


@pytest.fixture
def folders(tmp_path: Path) -> dict[str, Path]:
    (tmp_path / "sleepy").mkdir()
    (tmp_path / "sleepy" / "a.py").write_text("one\n  two\nthree\nfour\n")
    cells = [{"source": "# Title"}, {"source": ["benchmark = True\n", "x"]}]
    (tmp_path / "demo.ipynb").write_text(json.dumps({"cells": cells}))
    return {"sleepy": tmp_path}


def test_a_snapshot_comes_back_as_it_went_out() -> None:
    rows = [SLEEPY, IN_CELL, UNSURE, UNSURE]
    assert sorted(load(dump(rows))) == sorted(rows)
    assert dump(load(dump(rows))) == dump(reversed(rows))
    assert "sleepy\tdemo.ipynb\t2.1\tTL207\tmedium\n" in dump(rows)


def test_text_that_is_no_snapshot_is_refused() -> None:
    with pytest.raises(ValueError, match="starts with"):
        load("a\tb\n")


def test_equal_snapshots_show_no_moves() -> None:
    assert compare([SLEEPY, UNSURE], [UNSURE, SLEEPY]) == []


def test_moves_are_told_by_rule() -> None:
    surer = Row("sleepy", "sleepy/a.py", 0, 2, "TL401", "high")
    assert compare([UNSURE, SLEEPY], [surer]) == [
        Moves("TL401", added=(surer,), removed=(UNSURE,)),
        Moves("TL501", added=(), removed=(SLEEPY,)),
    ]


def test_two_findings_on_one_line_count_twice() -> None:
    (moves,) = compare([SLEEPY], [SLEEPY, SLEEPY])
    assert moves.added == (SLEEPY,)


def test_moves_are_printed_with_their_source(folders: dict[str, Path]) -> None:
    moves = compare([UNSURE], [IN_CELL])
    assert list(moved_lines(moves, {"TL401": "unsorted-listing"}, lines_reader(folders))) == [
        "TL207 : 1 added, 0 removed",
        "  + sleepy demo.ipynb:2.1 [medium]  benchmark = True",
        "",
        "TL401 unsorted-listing: 0 added, 1 removed",
        "  - sleepy sleepy/a.py:2 [low]  two",
        "",
    ]


def test_a_line_that_is_not_there_is_printed_without_source(folders: dict[str, Path]) -> None:
    gone = Row("sleepy", "sleepy/gone.py", 0, 9, "TL501", "high")
    assert "  + sleepy sleepy/gone.py:9" in list(moved_lines(compare([], [gone]), {}, lines_reader(folders)))


def test_findings_are_shown_with_their_surroundings(folders: dict[str, Path]) -> None:
    assert list(shown_lines([SLEEPY], {SLEEPY: "what it says"}, lines_reader(folders))) == [
        "[1/1] sleepy sleepy/a.py:3",
        "  what it says",
        "        1 | one",
        "        2 |   two",
        "  >     3 | three",
        "        4 | four",
        "",
    ]


def test_a_sample_is_the_same_for_the_same_seed() -> None:
    rows = [Row("p", "p.py", 0, line, "TL401", "high") for line in range(1, 101)]
    assert sample(rows, 30, 0) == sample(rows[::-1], 30, 0)
    assert sample(rows, 30, 0) != sample(rows, 30, 1)
    assert len(set(sample(rows, 30, 0))) == 30
    assert sample(rows, 200, 0) == rows


def test_the_pins_are_exact_and_sorted() -> None:
    packages = read_pins(PINS.read_text())
    assert len(packages) >= 15
    assert packages == sorted(packages, key=lambda package: package.name)


def make_wheel(folder: Path, *, source: str) -> Package:
    folder.mkdir(exist_ok=True)
    with zipfile.ZipFile(folder / "sleepy_net-1.0-py3-none-any.whl", "w") as archive:
        archive.writestr("sleepy_net/train.py", source)
        archive.writestr("sleepy_net/weights.bin", "0")
    return Package("sleepy-net", "1.0")


def test_sources_are_unpacked_as_a_project_of_their_own(tmp_path: Path) -> None:
    package = make_wheel(tmp_path / "wheels", source=BAD)
    wheels = fetch([package], tmp_path / "wheels")
    folder = unpack(package, wheels[package], tmp_path / "sources")
    assert sorted(path.name for path in folder.rglob("*") if path.is_file()) == ["torchlint.toml", "train.py"]
    assert [path.name for path in (tmp_path / "sources").iterdir()] == ["sleepy-net-1.0"]


def test_a_run_compares_updates_and_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    make_wheel(tmp_path / "wheels", source=BAD)
    (tmp_path / "packages.txt").write_text("sleepy-net==1.0\n")
    monkeypatch.setattr(command, "PINS", tmp_path / "packages.txt")
    monkeypatch.setattr(command, "SNAPSHOT", tmp_path / "snapshot.tsv")
    options = ["--wheels", str(tmp_path / "wheels"), "--cache", str(tmp_path)]
    assert command.main(options) == 2
    assert command.main([*options, "--update"]) == 0
    assert "sleepy-net\tsleepy_net/train.py\t3\tTL201\thigh" in (tmp_path / "snapshot.tsv").read_text()
    assert command.main(options) == 0
    (tmp_path / "snapshot.tsv").write_text(dump([]))
    capsys.readouterr()
    assert command.main(options) == 1
    assert "+ sleepy-net sleepy_net/train.py:3  torch.use_deterministic" in capsys.readouterr().out
    assert command.main([*options, "--show", "tl201"]) == 0
    assert ">     3 | torch.use_deterministic_algorithms = True" in capsys.readouterr().out


def test_a_package_that_cannot_be_had_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Failed:
        returncode = 1

    monkeypatch.setattr("tests.ecosystem.packages.subprocess.run", lambda *_a, **_k: Failed())
    with pytest.raises(FetchError, match=r"sleepy-net==1\.0"):
        fetch([Package("sleepy-net", "1.0")], tmp_path)
