"""What `torchlint rule` and the pages say is said in full: nothing is left for a finding to fill in."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from torchlint.catalogue import Rule, load_catalogue, rules
from torchlint.cli.catalogue import rule as command

PAGES = Path(__file__).parents[2] / "docs" / "rules"
RULES = [rule for rule in load_catalogue().rules.values() if rule.status != "planned"]
TEMPLATE = re.compile(r"(?<!\$)\{\w*\}")
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"^ {4}.*$", re.MULTILINE)


def each_rule() -> pytest.MarkDecorator:
    return pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)


def explanation(code: str) -> str:
    done = CliRunner().invoke(command, [code])
    assert done.exit_code == 0, done.output
    return done.output


@each_rule()
def test_no_explanation_holds_an_unfilled_template(rule: Rule) -> None:
    assert TEMPLATE.findall(INDENTED.sub("", explanation(rule.code))) == []
    page = (PAGES / f"{rule.code}-{rule.name}.md").read_text(encoding="utf-8")
    assert TEMPLATE.findall(FENCED.sub("", page)) == []


@each_rule()
def test_every_explanation_says_what_to_do(rule: Rule) -> None:
    assert "\nWhat to do\n" in explanation(rule.code)
    assert rule.what_to_do.endswith((".", "?", ").\n", ".\n"))


def test_a_rule_has_a_url_only_where_its_page_is_published(monkeypatch: pytest.MonkeyPatch) -> None:
    rule = next(rule for rule in RULES if rule.code == "TL101")
    assert rule.url == ""
    assert "torchlint.readthedocs.io" not in explanation("TL101")
    monkeypatch.setattr(rules, "PUBLISHED", "https://docs.example.org/")
    assert rule.url == "https://docs.example.org/rules/TL101-replicate-padding/"
    assert msgspec.structs.replace(rule, code="ACME001").url == ""  # a rule of the user's own has no page there


def test_only_rules_whose_operators_have_an_alternative_speak_of_the_cost_of_the_mode() -> None:
    said = {rule.code: rule.what_to_do for rule in RULES}
    closing = "The determinism mode counts for the whole program."
    assert closing in said["TL101"]
    assert closing not in said["TL108"]  # the mode raises for every one of these losses
    assert closing not in said["TL301"]


def test_advice_for_several_situations_stands_behind_the_message_of_each() -> None:
    rule = next(rule for rule in RULES if rule.code == "TL313")
    paragraphs = rule.what_to_do.split("\n\n")
    of_findings = {text for variant, text in rule.advice.items() if not variant.startswith("open")}
    assert len(paragraphs) == len(of_findings - {"{fix}"}) == 7
    assert all(paragraph.startswith("“`") and "”: " in paragraph for paragraph in paragraphs)
    alone = next(rule for rule in RULES if rule.code == "TL405")
    assert alone.what_to_do == alone.advice["default"]
