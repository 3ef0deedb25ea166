"""The examples that users read in the documentation are what they claim to be."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.harness.programs import Program, hits, lint
from torchlint.catalogue import Rule, load_catalogue

RULES = [rule for rule in load_catalogue().rules.values() if rule.status == "stable" and rule.bad]
CODES = [rule.code for rule in RULES]
TORCH = {"TL308": "1.8"}
"""The release that the bad example of a rule is about, where that is an old one."""


@pytest.mark.parametrize("rule", RULES, ids=CODES)
def test_the_bad_example_fires_its_rule_and_no_other(rule: Rule, tmp_path: Path) -> None:
    options = {} if rule.default else {"extend-select": rule.code}
    options |= {"torch": TORCH[rule.code]} if rule.code in TORCH else {}
    found = hits(lint(Program(rule.code, {"example.py": rule.bad.encode()}, options), tmp_path), tmp_path)
    assert {hit.code for hit in found} == {rule.code}


@pytest.mark.parametrize("rule", RULES, ids=CODES)
def test_the_good_example_is_silent(rule: Rule, tmp_path: Path) -> None:
    assert hits(lint(Program(rule.code, {"example.py": rule.good.encode()}), tmp_path), tmp_path) == []
