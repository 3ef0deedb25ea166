"""The examples that users read in the documentation are what they claim to be."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.harness.programs import Program, hits, lint
from torchlint.catalogue import Rule, load_catalogue

RULES = [rule for rule in load_catalogue().rules.values() if rule.status == "stable" and rule.bad]
CODES = [rule.code for rule in RULES]
TORCH = {"TL308": "1.8", **dict.fromkeys(["TL208", "TL210", "TL301", "TL303", "TL503"], "2.12")}
"""The release that the examples of a rule are about: before 2.10 the determinism mode needs an environment variable."""


@pytest.mark.parametrize("rule", RULES, ids=CODES)
def test_the_bad_example_fires_its_rule_and_no_other(rule: Rule, tmp_path: Path) -> None:
    options = {} if rule.default else {"extend-select": rule.code}
    options |= {"torch": TORCH[rule.code]} if rule.code in TORCH else {}
    found = hits(lint(Program(rule.code, {"example.py": rule.bad.encode()}, options), tmp_path), tmp_path)
    assert {hit.code for hit in found} == {rule.code}


@pytest.mark.parametrize("rule", RULES, ids=CODES)
def test_the_good_example_is_silent(rule: Rule, tmp_path: Path) -> None:
    options = {"torch": TORCH[rule.code]} if rule.code in TORCH else {}
    assert hits(lint(Program(rule.code, {"example.py": rule.good.encode()}, options), tmp_path), tmp_path) == []
