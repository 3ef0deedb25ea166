"""Rounds of fixes: each is checked, and one that ended nothing is taken back."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.fixes.fixing import fix
from torchlint import api
from torchlint.config import Overrides
from torchlint.diagnostics import Report
from torchlint.engine.fixing import FixChoice

TEXT = b"import torch\n\ntorch.manual_seed = 1\ntorch.manual_seed = 2\n"
OPTIONS = api.CheckOptions(overrides=Overrides(select=("TL001", "TL201"), torch="2.8"), isolated=True, jobs=1)
CHOICE = FixChoice(fix=True)
FILE = Path("train.py")


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _check(texts: Mapping[Path, bytes]) -> Report:
    return api.check_paths((), OPTIONS, texts)


def test_what_ends_nothing_is_taken_back() -> None:
    asked = []

    def stubborn(texts: Mapping[Path, bytes]) -> Report:
        asked.append(texts[FILE])
        return _check({FILE: TEXT})

    found = api.fix_report(_check({FILE: TEXT}), stubborn, CHOICE, OPTIONS, {FILE: TEXT})
    assert found.files == ()
    assert asked[-1] == TEXT
    assert [one.edits for one in found.report.diagnostics] == [None, None]


def test_one_that_ends_nothing_does_not_cost_the_others() -> None:
    def half_stubborn(texts: Mapping[Path, bytes]) -> Report:
        return _check({FILE: texts[FILE].replace(b"seed(1)", b"seed = 1")})

    found = api.fix_report(_check({FILE: TEXT}), half_stubborn, CHOICE, OPTIONS, {FILE: TEXT})
    assert [file.after for file in found.files] == [TEXT.replace(b"seed = 2", b"seed(2)")]
    assert [file.count for file in found.files] == [1]


def test_what_does_not_parse_afterwards_is_taken_back() -> None:
    def unreadable(texts: Mapping[Path, bytes]) -> Report:
        return _check({FILE: texts[FILE] if texts[FILE] == TEXT else b"def ("})

    found = api.fix_report(_check({FILE: TEXT}), unreadable, CHOICE, OPTIONS, {FILE: TEXT})
    assert found.files == ()


def test_fixes_that_meet_wait_for_the_next_round() -> None:
    text = b"import torch\n\ntorch.manual_seed = 1; torch.manual_seed = 2\n"
    rounds: list[bytes] = []

    def check(texts: Mapping[Path, bytes]) -> Report:
        rounds.append(texts[FILE])
        return _check(texts)

    api.fix_report(_check({FILE: text}), check, CHOICE, OPTIONS, {FILE: text})
    assert rounds == [text.replace(b" = 1", b"(1)").replace(b" = 2", b"(2)")]
    met = b"import torch\n\nsetattr(torch, 'manual_seed', 1) or setattr(torch, 'manual_seed', 2)\n"
    assert fix({"train.py": met}, "TL201").files[0].count == 2


def test_a_line_that_changed_since_is_not_fixed() -> None:
    changed = TEXT.replace(b"torch.manual_seed = 1", b"torch.manual_seed = 9")
    told = api.with_edits(_check({FILE: TEXT}), OPTIONS, {FILE: changed})
    assert [one.edits is None for one in told.diagnostics] == [True, False]


def test_files_of_one_project_are_fixed_together() -> None:
    found = fix({"a.py": TEXT, "b.py": TEXT}, "TL201")
    assert [(str(file.path), file.count) for file in found.files] == [("a.py", 2), ("b.py", 2)]
    assert found.report.diagnostics == ()
