"""Fingerprints: equal for what is the same finding in another run, different for what is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.report.findings import make_finding
from torchlint.fingerprints import fingerprints


def test_a_moved_or_indented_line_keeps_its_fingerprint() -> None:
    before = fingerprints([make_finding(line=3, source_line="    x.index_add_(0, i, v)")])
    after = fingerprints([make_finding(line=80, column=9, source_line="\tx.index_add_(0,  i, v) ")])
    assert before == after


def test_a_comment_about_another_finding_of_the_line_makes_this_one_no_new_one() -> None:
    before = fingerprints([make_finding(source_line="x.index_add_(0, i, v)")])
    after = fingerprints([make_finding(source_line="x.index_add_(0, i, v)  # torchlint: ignore[TL106] a reason")])
    assert before == after


def test_a_notebook_s_cell_has_no_part_in_it() -> None:
    assert fingerprints([make_finding(cell=3)]) == fingerprints([make_finding(cell=4)])


@pytest.mark.parametrize("change", [{"code": "TL102"}, {"path": "eval.py"}, {"source_line": "y.index_add_(0, i, v)"}])
def test_another_code_file_or_line_is_another_finding(change: dict[str, str]) -> None:
    assert fingerprints([make_finding()]) != fingerprints([make_finding(**change)])  # type: ignore[arg-type]


def test_equal_lines_are_told_apart_by_their_order_in_the_file() -> None:
    first, second = make_finding(line=3), make_finding(line=9)
    assert len(set(fingerprints([first, second]))) == 2
    assert fingerprints([second, first]) == tuple(reversed(fingerprints([first, second])))
    moved = [make_finding(line=5), make_finding(line=11)]
    assert fingerprints(moved) == fingerprints([first, second])


def test_it_does_not_matter_how_a_path_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "src").mkdir()
    monkeypatch.chdir(tmp_path)
    plain = fingerprints([make_finding("src/a.py")])
    assert fingerprints([make_finding("./src/../src/a.py")]) == plain
    assert fingerprints([make_finding(str(tmp_path / "src" / "a.py"))]) == plain
    monkeypatch.chdir(tmp_path / "src")
    assert fingerprints([make_finding("a.py")], tmp_path) == plain


def test_they_are_the_same_for_good() -> None:
    """Code-scanning services and baselines keep them: a change here makes every old finding a new one."""
    (found,) = fingerprints([make_finding()])
    assert found == "427772c5e9eebdae5e5e38f63e3e60d8a1367c85097b8c3be3f4897035f24f14"
