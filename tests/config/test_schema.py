"""The JSON Schema of a configuration: what it admits is what torchlint reads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.cli.command import run_torchlint
from torchlint.catalogue import load_catalogue
from torchlint.config.options import Options, TargetOptions, parse_options, parse_targets
from torchlint.config.schema import keys, schema
from torchlint.config.selection import selectors
from torchlint.errors import ConfigError

SCHEMA = schema(selectors(load_catalogue()))
RIGHT: list[dict[str, Any]] = [
    {},
    {"select": ["TL1", "unsorted-listing", "ALL"], "ignore": ["TL999"]},
    {"per-file-ignores": {"notebooks": ["TL4"]}, "torch": ">=2.1"},
    {"devices": ["cuda", "mps"], "determinism": "warn", "force-exclude": True},
    {"max-file-size": 1, "min-severity": "info", "min-confidence": "low", "fail-on": "error"},
    {"verify": {"pkg.models:UNet": {"args": [3, "x"], "kwargs": {"depth": 2}, "inputs": ["float32[2,3]"]}}},
    {"verify": {"pkg.models:UNet": {"factory": "tests.inputs:unet"}}},
]
WRONG: list[dict[str, Any]] = [
    {"selct": ["TL1"]},
    {"select": "TL1"},
    {"select": [1]},
    {"per-file-ignores": {"notebooks": "TL4"}},
    {"per-file-ignores": [["notebooks", "TL4"]]},
    {"devices": ["gpu"]},
    {"determinism": True},
    {"force-exclude": "yes"},
    {"max-file-size": 0},
    {"max-file-size": 2.5},
    {"min-severity": "warn"},
    {"torch": 2.6},
    {"verify": {"pkg.models:UNet": {"input": []}}},
    {"verify": {"pkg.models:UNet": {"factory": 3}}},
]


def is_read(table: dict[str, Any]) -> bool:
    """Whether torchlint reads a table without a word."""
    try:
        options = parse_options(table, Path("torchlint.toml"), "")
        return not parse_targets(options.verify, "`verify.")[1]
    except ConfigError:
        return False


def test_it_is_a_schema_of_the_draft_that_it_names() -> None:
    jsonschema.Draft7Validator.check_schema(SCHEMA)
    assert SCHEMA["$schema"] == jsonschema.Draft7Validator.META_SCHEMA["$id"]


@pytest.mark.parametrize("table", RIGHT)
def test_it_admits_what_torchlint_reads(table: dict[str, Any]) -> None:
    assert is_read(table)
    jsonschema.Draft7Validator(SCHEMA).validate(table)


@pytest.mark.parametrize("table", WRONG)
def test_it_refuses_what_torchlint_refuses(table: dict[str, Any]) -> None:
    assert not is_read(table)
    assert not jsonschema.Draft7Validator(SCHEMA).is_valid(table)


def test_each_key_is_described_with_a_default_that_it_admits() -> None:
    assert list(SCHEMA["properties"]) == list(Options.__struct_encode_fields__)
    described = [key for key, *_ in keys()]
    targets = [f"verify.TARGET.{key}" for key in TargetOptions.__struct_encode_fields__]
    assert described == [*Options.__struct_encode_fields__, *targets]
    for key, told in SCHEMA["properties"].items():
        assert len(told["description"]) > 15
        if "default" in told:
            jsonschema.Draft7Validator(SCHEMA).validate({key: told["default"]})


def test_it_offers_rules_by_code_by_name_and_by_prefix() -> None:
    offered = SCHEMA["definitions"]["any-rule"]["anyOf"][0]["enum"]
    assert {"ALL", "TL", "TL1", "TL10", "TL101", "replicate-padding"} <= set(offered)
    assert all(is_read({"select": [one]}) for one in offered)


def test_the_command_prints_it(tmp_path: Path) -> None:
    shown = run_torchlint("config", "schema", cwd=tmp_path)
    assert shown.returncode == 0
    assert not shown.stderr
    assert json.loads(shown.stdout) == SCHEMA
