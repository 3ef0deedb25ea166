"""Inputs that are read by their attributes or keys: each member is guessed and repaired as an input of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from torchlint.recording.building.plans import Bundle, Plan

_MEMBER = re.compile(r"(\w+)(?:\.(\w+)|\[(\d+|'[^']*')\])((?:\.\w+|\[[^\]]*\])*)")


def apart(plan: Plan) -> dict[str, Any]:
    """`{"data": Bundle(x=…)}` as `{"data.x": …}`, dictionaries as `batch['x']`, lists as `targets[0]['boxes']`."""
    found: dict[str, Any] = {}
    for name, value in plan.items():
        found.update(_members(name, value))
    return found


def _members(name: str, value: Any) -> dict[str, Any]:  # noqa: ANN401 - any input
    if isinstance(value, Bundle) and value:
        return apart({f"{name}.{member}": inner for member, inner in value.items()})
    if isinstance(value, dict) and value and all(type(key) is str and key.isidentifier() for key in value):
        return apart({f"{name}['{key}']": inner for key, inner in value.items()})
    if type(value) is list and value and all(isinstance(each, dict) and each for each in value):
        return apart({f"{name}[{place}]": inner for place, inner in enumerate(value)})
    return {name: value}


def with_key(plan: Plan, key: str, value: Any) -> Iterator[dict[str, Any]]:  # noqa: ANN401 - any input
    """One member more, of each input that has some."""
    attributes = {name.rpartition(".")[0] for name in plan if re.search(r"\.\w+$", name)}
    keyed = {name.rpartition("[")[0] for name in plan if name.endswith("']")}
    for owner in sorted(attributes):
        yield {**plan, f"{owner}.{key}": value}
    for owner in sorted(keyed):
        yield {**plan, f"{owner}['{key}']": value}


def together(plan: Mapping[str, Any]) -> dict[str, Any]:
    """What `apart` took apart."""
    found: dict[str, Any] = {}
    inner: dict[str, dict[str, Any]] = {}
    for name, value in plan.items():
        member = _MEMBER.fullmatch(name)
        if member is None:
            found[name] = value
            continue
        outer, attribute, key, rest = member.groups()
        found.setdefault(outer, Bundle() if attribute else [] if key.isdecimal() else {})
        inner.setdefault(outer, {})[f"{attribute or key.strip(chr(39))}{rest}"] = value
    for outer, members in inner.items():
        made = together(members)
        if isinstance(found[outer], list):
            found[outer] = list(made.values())
        elif isinstance(found[outer], dict):
            found[outer].update(made)
    return found
