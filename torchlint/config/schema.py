"""The JSON Schema of a configuration file: what editors complete and check `[tool.torchlint]` with.

Keys, types and defaults are those of `config/options.py`, and so are the words: the text below each key there.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from torchlint.config.options import Options, TargetOptions

DRAFT = "http://json-schema.org/draft-07/schema#"
"""What SchemaStore asks for, and every editor reads."""
_ID = "https://json.schemastore.org/torchlint.json"
_OF_RULES = ("select", "ignore", "extend-select", "extend-ignore")
_ANY_RULE = "any-rule"
_TYPES = {"boolean": "true or false", "integer": "a whole number", "object": "a table", "string": "a string"}


def schema(rules: Iterable[str]) -> dict[str, Any]:
    """The schema of the table; `rules` are the codes, prefixes and names that an editor offers."""
    properties = _properties(Options)
    for key in _OF_RULES:
        properties[key]["items"] = {"$ref": f"#/definitions/{_ANY_RULE}"}
    properties["per-file-ignores"]["additionalProperties"]["items"] = {"$ref": f"#/definitions/{_ANY_RULE}"}
    properties["verify"]["additionalProperties"] = _table(TargetOptions)
    properties["max-file-size"]["exclusiveMinimum"] = 0
    return {
        "$schema": DRAFT,
        "$id": _ID,
        "title": "torchlint",
        "description": "Settings of torchlint: `[tool.torchlint]` of pyproject.toml, or a torchlint.toml.",
        **_table(Options, properties),
        "definitions": {
            # Rules of one's own are no mistake, so that every text is allowed.
            _ANY_RULE: {"anyOf": [{"enum": sorted(rules)}, {"type": "string"}]},
        },
    }


def keys() -> Iterator[tuple[str, str, str, str]]:
    """Of each key its type, its default as TOML has it, and its meaning: the rows of docs/configuration.md."""
    yield from _rows(Options, "")
    yield from _rows(TargetOptions, "verify.TARGET.")


def _rows(kind: type[msgspec.Struct], prefix: str) -> Iterator[tuple[str, str, str, str]]:
    for key, told in _properties(kind).items():
        default = told.get("default")
        shown = "not set" if default is None else f"`{msgspec.json.encode(default).decode()}`"
        yield f"{prefix}{key}", _type_of(told), shown, told["description"]


def _type_of(told: dict[str, Any]) -> str:
    """`a list of strings`, or the values that there are."""
    if "enum" in told:
        return ", ".join(f"`{json.dumps(value)}`" for value in told["enum"])
    if told["type"] == "array":
        items = told.get("items", {})
        return f"a list of {_type_of(items) if 'enum' in items else 'strings'}" if items else "a list"
    return _TYPES[told["type"]]


def _table(kind: type[msgspec.Struct], properties: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": False, "properties": properties or _properties(kind)}


def _properties(kind: type[msgspec.Struct]) -> dict[str, Any]:
    """Of each key its type, its default and its meaning. A key that is not set has no `null` in TOML."""
    (_,), components = msgspec.json.schema_components([kind])
    found: dict[str, Any] = json.loads(json.dumps(components[kind.__name__]["properties"]))  # tuples become lists
    words = dict(_words(kind))
    for name, key in zip(kind.__struct_fields__, kind.__struct_encode_fields__, strict=True):
        choices = [choice for choice in found[key].pop("anyOf", ()) if choice != {"type": "null"}]
        found[key] |= choices[0] if choices else {}
        if "enum" in found[key]:
            found[key]["enum"] = [value for value in found[key]["enum"] if value is not None]
        if found[key].get("default", "") is None:
            del found[key]["default"]
        found[key]["description"] = words[name]
    return found


def _words(kind: type[msgspec.Struct]) -> Iterator[tuple[str, str]]:
    """Of each field the text that stands below it."""
    body = ast.parse(inspect.getsource(kind)).body[0]
    assert isinstance(body, ast.ClassDef)
    for field, text in zip(body.body, body.body[1:], strict=False):
        is_text = isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant)
        if is_text and isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            yield field.target.id, re.sub(r"\s+", " ", str(text.value.value)).strip()  # type: ignore[attr-defined]
