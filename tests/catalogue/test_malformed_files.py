"""Every malformed file is refused with a CatalogueError that names the file and the field."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.catalogue.rules_copy import RulesCopy
from torchlint.catalogue.load import (
    load_containers,
    load_generators,
    load_host_copies,
    load_orders,
    load_tensor_methods,
    load_values,
    load_words,
)
from torchlint.errors import CatalogueError

RULE = "TL501-data-parallel.toml"
PATTERNS = "TL212-unpinned-precision.toml"
PADDING = "registry/operators/padding.toml"
OPERATOR = """
[[operator]]
id = "own_kernel"
rule = "context"
title = "a kernel"
direction = "both"
confidence = "low"
condition = { text = "always" }
spelling = [{ call = "acme.kernel" }]
row = [{ device = "cuda", torch = "", under_mode = "raises", confidence = "low" }]
advice = "Do not."
sources = []
"""
OWN_FACT = """
[[fact]]
id = "own"
rule = "TL304"
what = "varies"
fix = "Do not."
sources = []

[[fact]]
"""
OWN_RULE = """
code = "ACME001"
name = "banned-call"
status = "stable"
since = "1.0"
summary = "A call that the team does not want."
why = "It is slow."
bad = "acme.slow()"
good = "acme.fast()"

[messages]
default = "`{spelling}` is slow"

[advice]
default = "Call `acme.fast`."

[fix]
one = "replace the slow call"
many = "replace {count} slow calls"

[[detect]]
call = ["acme.slow"]
"""


def test_the_copy_itself_loads(copy: RulesCopy) -> None:
    assert copy.load().rules["TL501"].name == "data-parallel"


BROKEN_RULES = {
    "unknown key": ('since      = "0.1.0"', 'sinse      = "0.1.0"', "sinse"),
    "wrong severity": ('severity   = "warning"', 'severity   = "eror"', "$.severity"),
    "wrong status": ('status     = "stable"', 'status     = "done"', "$.status"),
    "wrong type": ("default    = true", 'default    = "yes"', "$.default"),
    "unknown probe": ("probe      = []", 'probe      = ["guess"]', "$.probe"),
    "unknown fix safety": ('safety = "none"', 'safety = "maybe"', "$.fix.safety"),
    "code without digits": ('code       = "TL501"', 'code       = "TLX"', "code `TLX`"),
    "name with a capital": ('name       = "data-parallel"', 'name       = "Data"', "name `Data`"),
    "missing summary": ("summary    =", "why2 =", "why2"),
    "missing why": ("why = ", "limits2 = ", "limits2"),
    "no default message": ("[messages]\ndefault", "[messages]\nusual", "`messages` needs a `default`"),
    "no default advice": ("[advice]\ndefault", "[advice]\nusual", "`advice` needs a `default`"),
    "not TOML": ("[fix]", "[fix", RULE),
}


@pytest.mark.parametrize(("old", "new", "field"), BROKEN_RULES.values(), ids=BROKEN_RULES)
def test_a_malformed_rule_is_refused(copy: RulesCopy, old: str, new: str, field: str) -> None:
    assert_refused(copy, RULE, (old, new), field)


def assert_refused(copy: RulesCopy, file: str, change: tuple[str, str], field: str) -> None:
    copy.replace(file, *change)
    with pytest.raises(CatalogueError) as caught:
        copy.load()
    assert file in str(caught.value)
    assert field in str(caught.value)


BROKEN_PATTERNS = {
    "nothing to detect": ("[[detect]]\n", "[[elsewhere]]\n", "elsewhere"),
    "unknown message": ("[[detect]]\n", '[[detect]]\nmessage = "loud"\n', "the message `loud`"),
    "two shapes in one pattern": ("[[detect]]\n", '[[detect]]\nimport = ["torch"]\n', "exactly one of"),
    "torch range that admits nothing": ("[[detect]]\n", '[[detect]]\ntorch = ">=2.5,<2.1"\n', "allows no release"),
    "torch range that is no range": ("[[detect]]\n", '[[detect]]\ntorch = "2.5"\n', "is not a range"),
    "value without assign": ("[[detect]]\n", "[[detect]]\nvalue = [1]\n", "`value` needs an `assign`"),
}


@pytest.mark.parametrize(("old", "new", "field"), BROKEN_PATTERNS.values(), ids=BROKEN_PATTERNS)
def test_a_malformed_pattern_is_refused(copy: RulesCopy, old: str, new: str, field: str) -> None:
    assert_refused(copy, PATTERNS, (old, new), field)


BROKEN_OPERATORS = {
    "gap between rows": ('torch = ">=1.9,<2.3"', 'torch = ">=1.9,<2.2"', "leave a gap or overlap"),
    "overlap of rows": ('torch = ">=1.9,<2.3"', 'torch = ">=1.9,<2.4"', "leave a gap or overlap"),
    "row after an open row": ('torch = ">=1.9,<2.3"', 'torch = ">=1.9"', "leave a gap or overlap"),
    "unknown device": ('device = "cuda"', 'device = "cuda:0"', ".device"),
    "unknown behaviour": ('under_mode = "raises"', 'under_mode = "fails"', ".under_mode"),
    "unknown confidence": ('confidence = "medium"', 'confidence = "sure"', ".confidence"),
    "unknown dtype": ('dtype = ["float", "complex"]', 'dtype = ["double"]', ".condition.dtype"),
    "call and method": (
        '{ call = "torch.nn.ReplicationPad1d" }',
        '{ call = "torch.nn.ReplicationPad1d", method = "pad" }',
        "exactly one of `call`, `method` and `subscript`",
    ),
    "two tests in a condition": ('equals = ["replicate"]', 'equals = ["replicate"], given = true', "exactly one of"),
    "unknown key": ('rule = "TL101"', 'rules = "TL101"', "rules"),
}


@pytest.mark.parametrize(("old", "new", "field"), BROKEN_OPERATORS.values(), ids=BROKEN_OPERATORS)
def test_a_malformed_operator_is_refused(copy: RulesCopy, old: str, new: str, field: str) -> None:
    copy.replace(PADDING, old, new)
    with pytest.raises(CatalogueError) as caught:
        copy.load()
    assert "padding.toml" in str(caught.value)
    assert field in str(caught.value)


BROKEN_RELEASES = {
    "a release that is not listed": (
        'since = "1.6.0"',
        'since = "1.6"',
        "operator `causal_conv1d`: `releases` lacks 1.6",
    ),
    "a range that admits nothing": ('before = "1.6.0"', 'before = "1.0.0"', "allow no release"),
    "rows that overlap in some releases": ('since = "1.6.0"', 'since = "1.5.4"', "leave a gap or overlap"),
}


@pytest.mark.parametrize(("old", "new", "field"), BROKEN_RELEASES.values(), ids=BROKEN_RELEASES)
def test_rows_of_other_releases_than_the_library_has_are_refused(
    copy: RulesCopy, old: str, new: str, field: str
) -> None:
    copy.replace("registry/operators/language_models.toml", old, new)
    with pytest.raises(CatalogueError) as caught:
        copy.load()
    assert "language_models.toml" in str(caught.value)
    assert field in str(caught.value)


def test_an_operator_without_a_source_is_refused(copy: RulesCopy) -> None:
    copy.write("registry/operators/own.toml", OPERATOR)
    with pytest.raises(CatalogueError, match=r"own.toml: operator `own_kernel` names no source"):
        copy.load()


def test_a_name_of_environments_that_is_no_expression_is_refused(copy: RulesCopy) -> None:
    copy.replace("registry/generators.toml", "random = '(?:ALE", "random = '((?:ALE")
    with pytest.raises(CatalogueError, match=r"generators\.toml: `random`"):
        load_generators.__wrapped__()


@pytest.mark.parametrize("key", ["made_by", "holding"])
def test_a_name_of_drawing_objects_that_is_no_expression_is_refused(copy: RulesCopy, key: str) -> None:
    copy.replace("registry/generators.toml", f"{key} = 'monai", f"{key} = '(monai")
    with pytest.raises(CatalogueError, match=rf"generators\.toml: `{key}`"):
        load_generators.__wrapped__()


def test_a_meaning_of_words_that_is_no_expression_is_refused(copy: RulesCopy) -> None:
    copy.replace("registry/words.toml", '"testing|', '"(testing|')
    with pytest.raises(CatalogueError, match=r"words\.toml: `trial`"):
        load_words.__wrapped__()


def test_a_malformed_model_of_flows_is_refused(copy: RulesCopy) -> None:
    copy.replace("registry/flow/containers.toml", "passing =", "unheard_of =")
    copy.replace("registry/flow/orders.toml", "listed =", "unheard_of =")
    copy.replace("registry/flow/host_copies.toml", "viewing =", "unheard_of =")
    with pytest.raises(CatalogueError, match=r"containers\.toml"):
        load_containers.__wrapped__()
    with pytest.raises(CatalogueError, match=r"orders\.toml"):
        load_orders.__wrapped__()
    with pytest.raises(CatalogueError, match=r"host_copies\.toml"):
        load_host_copies.__wrapped__()


BROKEN_LIBRARIES = {
    "unknown key": ("package =", "packages =", "packages"),
    "unknown key of a fact": ("used_by =", "used_in =", "used_in"),
    "unknown key of a use": ("left_out =", "left_off =", "left_off"),
    "no source": ("\n[[fact]]\n", OWN_FACT, "fact `own` names no source"),
    "a release that is not listed": ('before = "3.1.0"', 'before = "3.1"', "`releases` lacks 3.1"),
    "a range that admits nothing": ('before = "3.1.0"', 'before = "1.0.0"', "allow no release"),
    "a release that stands twice": ('"1.0.0", "1.1.0"', '"1.0.0", "1.0.0"', "stands twice"),
    "call and method": ('{ call = "optuna', '{ method = "x", call = "optuna', "exactly one of `call` and `method`"),
    "a condition of no kind": ('named = ["optuna.pr', 'called = ["optuna.pr', "called"),
    "a rule that is not there": ('rule = "TL505"', 'rule = "TL599"', "TL599 has no words"),
    "a rule without words for it": ('rule = "TL505"', 'rule = "TL501"', "TL501 has no words"),
    "a fact that stands twice": ('id = "optuna_sampler"', 'id = "optuna_study"', "`optuna_study` stands twice"),
}


@pytest.mark.parametrize(("old", "new", "field"), BROKEN_LIBRARIES.values(), ids=BROKEN_LIBRARIES)
def test_a_malformed_library_is_refused(copy: RulesCopy, old: str, new: str, field: str) -> None:
    copy.replace("registry/libraries/optuna.toml", old, new)
    with pytest.raises(CatalogueError) as caught:
        copy.load()
    assert "optuna.toml" in str(caught.value)
    assert field in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        ('values = "moved"', 'values = "turned"', ".values"),
        ("rounds = true", "rounded = true", "rounded"),
        ("[functional]", "[functions]", "functions"),
    ],
)
def test_a_malformed_row_of_tensor_methods_is_refused(copy: RulesCopy, old: str, new: str, field: str) -> None:
    copy.replace("registry/tensor_methods.toml", old, new)
    with pytest.raises(CatalogueError) as caught:
        load_tensor_methods.__wrapped__()
    assert "tensor_methods.toml" in str(caught.value)
    assert field in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        ("ndarray = [", "arrays = [", ".annotations"),
        ("Conv1d = [2", 'Conv1d = ["2"', ".layers"),
        ("[modes]", "[mode]", "mode"),
    ],
)
def test_a_malformed_table_of_values_is_refused(copy: RulesCopy, old: str, new: str, field: str) -> None:
    copy.replace("registry/values.toml", old, new)
    with pytest.raises(CatalogueError) as caught:
        load_values.__wrapped__()
    assert "values.toml" in str(caught.value)
    assert field in str(caught.value)


def test_an_operator_of_no_rule_is_refused(copy: RulesCopy) -> None:
    copy.replace(PADDING, 'rule = "TL101"', 'rule = "TL199"')
    with pytest.raises(CatalogueError, match=r"`replication_pad1d`: `rule`: no rule TL199"):
        copy.load()


def test_an_operator_that_stands_twice_is_refused(copy: RulesCopy) -> None:
    copy.replace(PADDING, 'id = "replication_pad2d"', 'id = "replication_pad1d"')
    with pytest.raises(CatalogueError, match="`replication_pad1d` stands twice"):
        copy.load()


@pytest.mark.parametrize(
    ("name", "old", "new", "field"),
    [
        ("switches.toml", 'unknown_name = "raises"', 'unknown_name = "warns"', ".unknown_name"),
        ("programs.toml", "sets = [", "sets_all = [", "sets_all"),
        ("names.toml", "[same]", "[equal]", "equal"),
        ("torch.toml", "nvidia_images", "images", "images"),
    ],
)
def test_a_malformed_registry_file_is_refused(copy: RulesCopy, name: str, old: str, new: str, field: str) -> None:
    copy.replace(f"registry/{name}", old, new)
    with pytest.raises(CatalogueError) as caught:
        copy.load()
    assert name in str(caught.value)
    assert field in str(caught.value)


def test_a_code_that_is_taken_is_refused(copy: RulesCopy) -> None:
    text = (copy.root / RULE).read_text(encoding="utf-8")
    copy.write("TL501-replica-threads.toml", text.replace('"data-parallel"', '"replica-threads"'))
    with pytest.raises(CatalogueError, match=r"TL501-replica-threads.toml: `code`: TL501 is taken by data-parallel"):
        copy.load()


def test_a_file_name_that_is_not_the_rule_s_is_refused(copy: RulesCopy) -> None:
    (copy.root / RULE).rename(copy.root / "TL501.toml")
    with pytest.raises(CatalogueError, match=r"TL501.toml: .* TL501-data-parallel.toml"):
        copy.load()


def test_a_missing_registry_file_is_named(copy: RulesCopy) -> None:
    (copy.root / "registry" / "names.toml").unlink()
    with pytest.raises(CatalogueError, match=r"names.toml: No such file"):
        copy.load()


def test_a_team_s_own_rule_joins_the_catalogue(copy: RulesCopy, tmp_path: Path) -> None:
    (tmp_path / "ACME001-banned-call.toml").write_text(OWN_RULE, encoding="utf-8")
    rules = copy.load(tmp_path / "ACME001-banned-call.toml").rules
    assert rules["ACME001"].detect[0].call == ("acme.slow",)
    assert "TL101" in rules


def test_a_folder_of_own_rules_is_read(copy: RulesCopy, tmp_path: Path) -> None:
    folder = tmp_path / "lint"
    folder.mkdir()
    (folder / "ACME001-banned-call.toml").write_text(OWN_RULE, encoding="utf-8")
    assert copy.load(folder).find("banned-call") is not None


def test_an_own_rule_may_not_take_a_tl_code(copy: RulesCopy, tmp_path: Path) -> None:
    path = tmp_path / "TL901-banned-call.toml"
    path.write_text(OWN_RULE.replace("ACME001", "TL901"), encoding="utf-8")
    with pytest.raises(CatalogueError, match=r"TL901-banned-call.toml: `code`: TL901 belongs to another rule"):
        copy.load(path)


def test_an_own_rule_without_a_pattern_is_refused(copy: RulesCopy, tmp_path: Path) -> None:
    path = tmp_path / "ACME001-banned-call.toml"
    path.write_text(OWN_RULE.partition("[[detect]]")[0], encoding="utf-8")
    with pytest.raises(CatalogueError, match=r"ACME001-banned-call.toml: .*`detect` patterns"):
        copy.load(path)


def test_an_own_rule_with_only_a_check_is_refused(copy: RulesCopy, tmp_path: Path) -> None:
    path = tmp_path / "ACME001-banned-call.toml"
    text = OWN_RULE.partition("[[detect]]")[0]
    path.write_text(text.replace('since = "1.0"', 'since = "1.0"\ncheck = "mine"'), encoding="utf-8")
    with pytest.raises(CatalogueError, match=r"ACME001-banned-call.toml: `detect`: ACME001 has no pattern"):
        copy.load(path)


def test_a_missing_rule_folder_is_named(copy: RulesCopy, tmp_path: Path) -> None:
    with pytest.raises(CatalogueError, match=r"extend-rules: .*nowhere does not exist"):
        copy.load(tmp_path / "nowhere")
