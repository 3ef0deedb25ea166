"""The rules as shipped: none is missing, and every word that a user reads is there and can be filled."""

from __future__ import annotations

import ast
import string
from collections.abc import Iterator

import pytest

from torchlint.catalogue import Catalogue, Rule, load_catalogue

NUMBERS = (
    *(1, 2),
    *(*range(101, 114), *range(115, 121)),
    *range(201, 214),
    *range(301, 315),
    *range(401, 406),
    *range(501, 507),
    *range(601, 608),
)
CODES = [f"TL{number:03}" for number in NUMBERS]
BUILT_NUMBERS = NUMBERS
BUILT = [f"TL{number:03}" for number in BUILT_NUMBERS]
OFF_BY_DEFAULT = {"TL107", "TL112", "TL120", "TL208", "TL212", "TL504", "TL604", "TL605", "TL606"}
ERRORS = {"TL001", "TL201", "TL202", "TL203", "TL204", "TL205", "TL206", "TL502", "TL603"}
NOTES = {
    *("TL117", "TL120", "TL208", "TL211", "TL212", "TL313", "TL503", "TL504", "TL601"),
    *("TL604", "TL605", "TL606"),
}

PATTERN_NAMES = {"spelling", "name", "torch", "value"}
REGISTRY_NAMES = {
    *("spelling", "name", "devices", "direction", "what_varies", "hint", "torch", "value", "place", "older"),
    *("in_torch", "and_torch", "library"),
    *("advice", "Advice"),
}
CHECK_NAMES: dict[str, set[str]] = {
    "TL001": {"reason", "they", "were", "files"},
    "TL002": {"selectors"},
    "TL117": {"keys"},
    "TL118": {"spelling", "name", "older"},
    "TL119": {"spelling", "view"},
    "TL203": {"name", "namespace", "nearest", "older"},
    "TL204": {"torch"},
    "TL205": {"value"},
    "TL206": {"matmul"},
    "TL207": {"spelling", "option"},
    "TL208": {"spelling"},
    "TL209": {"spelling"},
    "TL210": {"trains", "varying", "more", "stay", "option"},
    "TL211": {"magic", "what", "place"},
    "TL213": {"trainer", "seeder", "argument", "since"},
    "TL301": {"missing", "seeded", "fixes", "drawn", "saved", "starter", "started", "option", "idle", "because"},
    "TL302": {"setter", "source", "spelling", "what", "fix"},
    "TL303": {"made", "drawn", "seeder"},
    "TL304": {"spelling", "generator", "argument", "what", "fix"},
    "TL305": {"option", "name", "owner", "file", "key"},
    "TL306": {"spelling"},
    "TL307": {"generator"},
    "TL308": {"spelling", "torch"},
    "TL309": {"spelling"},
    "TL310": {"spelling"},
    "TL311": {"spelling", "option"},
    "TL312": {"spelling"},
    "TL313": {"spelling", "counted", "restored", "what", "fix"},
    "TL314": {"name", "layer", "noise"},
    "TL401": {"call", "use"},
    "TL402": {"what", "use"},
    "TL403": {"argument", "use", "spelling", "what", "fix"},
    "TL404": {"call", "use", "spelling", "what", "fix"},
    "TL405": {"spelling"},
    "TL501": {"spelling", "drawn"},
    "TL502": {"spelling", "reading"},
    "TL503": {"model"},
    "TL505": {"spelling", "what", "fix"},
    "TL506": {"call", "saved", "what", "fix"},
    "TL601": {"layer", "norm", "count", "where"},
    "TL602": {"clock"},
    "TL603": {"function", "scaler", "optimizer"},
    "TL604": {"spelling", "new"},
    "TL605": {"spelling"},
    "TL606": {"loader"},
    "TL607": {"first", "second"},
}
REGISTRY_VARIANTS = {"default", "raises", "raises_on", "alternative", "silent", "warn_only_raises"}
LONGEST_MESSAGE = 160
ENOUGH = 20
"""Findings read, below which a share says nothing."""
FILLED = {
    "spelling": "nn.Conv2d(padding_mode='replicate')",
    "devices": "CUDA and XPU",
    "direction": "backward",
    "torch": "torch 2.13",
    "place": "train.py:14",
    "older": "on torch <= 2.8",
    "namespace": "torch.backends.cuda.matmul",
    "name": "allow_tf32",
    "what_varies": "its backward pass varies",
    "in_torch": " (torch 2.13)",
    "and_torch": ", torch 2.13",
    "hint": "",
    "advice": "make the indices unique",
    "Advice": "Make the indices unique",
    "nearest": "deterministic",
    "setter": "torch.manual_seed",
    "source": "time.time_ns",
    "call": "os.listdir",
    "use": "the class ids",
    "what": "the set `vocabulary`",
    "argument": "path.name",
    "layer": "nn.Conv2d",
    "norm": "nn.BatchNorm2d",
    "view": "signal.unfold(0, 4, 2)",
    "missing": "torch, numpy.random and random",
    "seeded": "torch and numpy.random",
    "drawn": "`torch.utils.data.DataLoader` in train.py:41",
    "made": "the model's weights were drawn",
    "generator": "numpy",
    "trainer": "lightning.pytorch.Trainer",
    "reading": "host.mean()",
    "loader": "torch.utils.data.DataLoader",
    "new": '`torch.amp.autocast` with "cuda"',
    "function": "torch.nn.utils.clip_grad_norm_",
    "scaler": "self.scaler",
    "optimizer": "self.optimizer",
    "option": "--random-seed",
    "owner": "TrainingOptions",
    "more": "12 more layers",
    "saved": "`torch.save`",
}
BUILT_RULES = [rule for rule in load_catalogue().rules.values() if rule.status != "planned"]


def texts(rule: Rule) -> Iterator[str]:
    yield from rule.messages.values()
    yield from rule.advice.values()


def placeholders(text: str) -> set[str]:
    return {field for _, field, _, _ in string.Formatter().parse(text) if field is not None}


def each_built_rule() -> pytest.MarkDecorator:
    return pytest.mark.parametrize("rule", BUILT_RULES, ids=lambda rule: rule.code)


def test_every_code_of_the_design_is_there(catalogue: Catalogue) -> None:
    assert list(catalogue.rules) == CODES


def test_exactly_the_built_rules_can_be_selected(catalogue: Catalogue) -> None:
    assert [rule.code for rule in catalogue.rules.values() if rule.selectable] == BUILT


def test_defaults_and_severities_are_the_design_s(catalogue: Catalogue) -> None:
    rules = catalogue.rules.values()
    assert {rule.code for rule in rules if not rule.default} == OFF_BY_DEFAULT
    assert {rule.code for rule in rules if rule.severity == "error"} == ERRORS
    assert {rule.code for rule in rules if rule.severity == "info"} == NOTES


def test_names_are_unique(catalogue: Catalogue) -> None:
    assert len({rule.name for rule in catalogue.rules.values()}) == len(catalogue.rules)


def test_a_rule_is_found_by_code_and_by_name(catalogue: Catalogue) -> None:
    assert catalogue.find("tl101") is catalogue.find("Replicate-Padding") is catalogue.rules["TL101"]
    assert catalogue.find("TL999") is None


def test_summaries_are_one_sentence(catalogue: Catalogue) -> None:
    for rule in catalogue.rules.values():
        assert rule.summary.endswith("."), rule.code
        assert "\n" not in rule.summary, rule.code


@each_built_rule()
def test_a_built_rule_has_every_text(rule: Rule) -> None:
    assert all((rule.summary, rule.why.strip(), rule.limits.strip(), rule.bad.strip(), rule.good.strip()))
    assert "{count}" in rule.fix.many
    assert placeholders(rule.fix.one) == set()
    assert placeholders(rule.fix.many) == {"count"}
    assert rule.references
    assert all(url.startswith("https://") for url in rule.references)


@each_built_rule()
def test_a_message_has_its_advice(rule: Rule) -> None:
    if rule.registry:  # a variant without advice of its own takes the default
        assert "default" in rule.advice.keys() <= rule.messages.keys()
    else:
        # What is left open shares the advice of what is found.
        assert {
            one for one in rule.messages if one != "default" and not one.startswith("open")
        } <= rule.advice.keys() | {"default"} or set(rule.advice) == {"default"}
    assert all(text.endswith((".", "?", "{fix}")) for text in rule.advice.values())
    assert not any(text.endswith(".") for text in rule.messages.values())


@each_built_rule()
def test_placeholders_are_those_a_finding_fills(rule: Rule) -> None:
    if rule.registry:
        known = REGISTRY_NAMES | CHECK_NAMES.get(rule.code, set())
    elif rule.detect:
        known = PATTERN_NAMES | CHECK_NAMES.get(rule.code, set())
    else:
        known = CHECK_NAMES[rule.code]
    assert {field for text in texts(rule) for field in placeholders(text)} <= known


@each_built_rule()
def test_a_filled_message_fits_a_line(rule: Rule) -> None:
    for text in rule.messages.values():
        filled = text.format(**{field: FILLED.get(field, "something") for field in placeholders(text)})
        assert len(filled) <= LONGEST_MESSAGE, filled


@each_built_rule()
def test_no_text_promises_safety(rule: Rule) -> None:
    words = " ".join((*texts(rule), rule.summary, rule.why, rule.limits)).lower()
    assert " safe " not in f" {words} "


def test_registry_rules_have_a_message_for_every_state_of_the_mode(catalogue: Catalogue) -> None:
    for rule in catalogue.rules.values():
        if rule.registry and rule.status != "planned":
            older = {f"{variant}_older" for variant in REGISTRY_VARIANTS - {"default"}}
            assert REGISTRY_VARIANTS | older <= set(rule.messages)
            assert all("{older}" in rule.messages[variant] for variant in older)


@each_built_rule()
def test_a_default_rule_is_right_nineteen_times_in_twenty(rule: Rule) -> None:
    figures = rule.measured
    if rule.default and figures is not None and figures.read >= ENOUGH:
        assert figures.right * 20 >= figures.read * 19, figures


@each_built_rule()
def test_the_examples_are_python(rule: Rule) -> None:
    if rule.code == "TL001":
        with pytest.raises(SyntaxError):
            ast.parse(rule.bad)
    else:
        ast.parse(rule.bad)
    ast.parse(rule.good)
    assert rule.bad != rule.good
