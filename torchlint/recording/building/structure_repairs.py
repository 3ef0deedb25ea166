"""Inputs that are lists, tuples and tables of tensors, and inputs that were left out."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

from torchlint.recording.building.failures import user_line
from torchlint.recording.building.inputs import Inputs
from torchlint.recording.building.members import together, with_key
from torchlint.recording.building.names import WIDTH
from torchlint.recording.building.plans import Plan, Tensor, tensors_of


def containers(_text: str, plan: Plan, _inputs: Inputs) -> Iterator[dict[str, Any]]:
    yield from in_containers(plan)


def in_containers(plan: Plan) -> Iterator[dict[str, Any]]:
    """A tensor alone becomes several of them, several become one."""
    for name, value in plan.items():
        if isinstance(value, (list, tuple)) and value:
            yield {**plan, name: value[0]}
            yield {**plan, name: tuple(value) if isinstance(value, list) else list(value)}
            yield {**plan, name: [*value, *value]}
        elif isinstance(value, Tensor):
            for other in ([value] * 2, (value,) * 2, [value] * 4, [value], [value] * 3, {"0": value, "1": value}):
                yield {**plan, name: other}


def missing_key(text: str, plan: Plan, _inputs: Inputs) -> Iterator[dict[str, Any]]:
    """`KeyError: 'image'` names the key."""
    yield from _in_dictionary(text.strip("'\""), plan)


def _in_dictionary(key: str, plan: Plan) -> Iterator[dict[str, Any]]:
    some = next((tensor for _, tensor in tensors_of(plan)), Tensor((2, WIDTH)))
    yield from with_key(plan, key, some)
    for name, value in plan.items():
        if isinstance(value, dict):
            yield {
                **plan,
                name: {**{k: v for k, v in value.items() if k not in "01"}, key: next(iter(value.values()), some)},
            }
        elif isinstance(value, Tensor):
            yield {**plan, name: {key: value}}


def handed_on(text: str, plan: Plan, inputs: Inputs) -> Iterator[dict[str, Any]]:
    """A forward that takes anything hands it on to a method, which says what it lacks."""
    missing = re.search(r"missing \d+ required positional arguments?: (.+)", text)
    parameters = inputs.signature.parameters.values() if inputs.signature else ()
    if missing and any(each.kind is each.VAR_KEYWORD for each in parameters):
        main = next((tensor for _, tensor in tensors_of(plan)), Tensor((2, inputs.width)))
        lacking = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in re.findall(r"'(\w+)'", missing[1])
        ]
        yield {**plan, **{each.name: inputs.guess(each, main) for each in lacking}}


def optional(error: BaseException, plan: Plan, inputs: Inputs) -> Iterator[dict[str, Any]]:
    """Optional inputs that the code cannot do without are in its complaint, or None is."""
    parameters = inputs.signature.parameters if inputs.signature else {}
    complaint = f"{error} {user_line(error)}"
    main = next((tensor for _, tensor in tensors_of(plan)), Tensor((2, inputs.width)))
    given = together(plan)
    for name, parameter in parameters.items():
        if name in given or parameter.default is not None:
            continue
        if "None" in complaint or re.search(rf"\b{re.escape(name)}\b", complaint):
            yield {**plan, name: inputs.guess(parameter, main)}


def by_keys(error: BaseException, plan: Plan) -> Iterator[dict[str, Any]]:
    """`batch["image"]` on a tensor: the input is a dictionary with that key."""
    for key in re.findall(r"""\[\s*["'](\w+)["']\s*\]""", user_line(error)):
        if isinstance(error, (IndexError, TypeError, KeyError)):
            yield from _in_dictionary(key, plan)
