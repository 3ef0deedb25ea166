"""What each fix makes of code: `pairs/RULE.txt` holds it before and, behind `---`, afterwards."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.fixes.fixing import fix, fixed_bytes, found
from torchlint.catalogue import load_catalogue
from torchlint.fixes.table import FIXES

PAIRS = Path(__file__).with_name("pairs")


@dataclass(frozen=True)
class Pair:
    """Code before and after, and whether the fix is a safe one."""

    code: str
    name: str
    before: str
    after: str
    is_safe: bool


def _read(path: Path) -> list[Pair]:
    pairs = []
    for part in re.split(r"^=== ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        title, _, text = part.partition("\n")
        before, _, after = text.partition("---\n")
        name = title.removesuffix(" (unsafe)")
        pairs.append(Pair(path.stem, name, before, after or before, is_safe=name == title))
    return pairs


ALL = [pair for path in sorted(PAIRS.glob("*.txt")) for pair in _read(path)]


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("pair", ALL, ids=[f"{pair.code}-{pair.name}" for pair in ALL])
def test_a_fix_does_what_it_says(pair: Pair) -> None:
    rules = ("TL002", "TL101", "TL102") if pair.code == "TL002" else (pair.code,)
    assert pair.code in {one.code for one in found(pair.before.encode(), *rules)}, "nothing to fix"
    bold = fixed_bytes(pair.before.encode(), *rules, unsafe=True)
    assert bold.decode() == pair.after
    safe = fixed_bytes(pair.before.encode(), *rules)
    assert safe.decode() == (pair.after if pair.is_safe else pair.before)


@pytest.mark.parametrize("pair", ALL, ids=[f"{pair.code}-{pair.name}" for pair in ALL])
def test_a_second_run_changes_nothing(pair: Pair) -> None:
    again = fix({"train.py": pair.after.encode()}, pair.code, unsafe=True)
    assert again.files == ()


def test_each_rule_that_says_so_has_a_fix() -> None:
    said = {rule.code for rule in load_catalogue().rules.values() if rule.fix.is_automatic}
    assert said == set(FIXES) == {pair.code for pair in ALL}
