"""Reads an error of a forward for what its inputs should have been."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import nn
from torch.nn.modules import batchnorm, conv

from torchlint.recording.building.failures import conditions_at, user_line
from torchlint.recording.building.image_repairs import by_features, halved, larger, larger_batch, other_image
from torchlint.recording.building.inputs import Inputs, sizes_in
from torchlint.recording.building.layers import SEQUENCE, shapes_for
from torchlint.recording.building.names import IMAGE, INPUTS, first
from torchlint.recording.building.plans import (
    Kind,
    Plan,
    Tensor,
    changed,
    exchanging,
    of_kind,
    resized_to,
    tensors_of,
)
from torchlint.recording.building.shrinking import is_too_large
from torchlint.recording.building.size_repairs import by_sizes, differs, exchanged, names_of
from torchlint.recording.building.structure_repairs import (
    by_keys,
    containers,
    handed_on,
    in_containers,
    missing_key,
    optional,
)
from torchlint.recording.building.type_repairs import by_type
from torchlint.recording.loading.frames import frames_of

_MOST, _BACK = 80, 6
Repair = Callable[[str, Plan, Inputs], Iterator[dict[str, Any]]]
_NUMBER = re.compile(r"(?<![\w.])\d{1,5}(?![\w.]*\d)")


def repaired(error: BaseException, plan: Plan, inputs: Inputs) -> list[dict[str, Any]]:
    """Other inputs, the best founded first: of the parameters that the failing line names, if there are any."""
    line = user_line(error)
    named = {name for name in plan if re.search(rf"\b{re.escape(name)}\b", line)}
    found = list(itertools.islice(_repaired(error, plan, inputs), _MOST))
    others = [any(differs(other[name], plan.get(name)) for name in other if name not in named) for other in found]
    ranked = sorted(range(len(found)), key=lambda place: place + _BACK * others[place]) if named else range(len(found))
    return [found[place] for place in ranked]


def _repaired(error: BaseException, plan: Plan, inputs: Inputs) -> Iterator[dict[str, Any]]:
    text = f"{error}"
    if is_too_large(error):
        yield changed(plan, halved)
        return
    if "'NoneType'" in text:
        yield from optional(error, plan, inputs)
    yield from by_keys(error, plan)
    yield from by_type(error, plan)
    yield from by_features(text, plan)
    yield from _by_layer(error, plan)
    yield from by_sizes(text, plan)
    yield from _by_condition(error, plan)
    for pattern, repair in _REPAIRS:
        if re.search(pattern, text, re.IGNORECASE):
            yield from repair(text, plan, inputs)
    yield from _by_numbers(text, plan)
    yield from optional(error, plan, inputs)
    yield changed(plan, exchanging(2, 1))


def _by_layer(error: BaseException, plan: Plan) -> Iterator[dict[str, Any]]:
    """The layer of torch that refused its input says what it takes."""
    for frame, _ in reversed(frames_of(error)):
        layer = frame.f_locals.get("self")
        given = frame.f_locals.get("input", frame.f_locals.get("query"))
        if not isinstance(layer, nn.Module) or not isinstance(given, torch.Tensor) or not shapes_for(layer):
            continue
        wanted = shapes_for(layer)[0]
        if wanted.kind == "whole":
            yield from (changed(plan, of_kind("whole", wanted.high), name) for name in plan)
        place = 1 if _has_channels_second(layer) else -1
        if given.dim() > max(place, 0):
            yield from exchanged(plan, given.shape[place], wanted.sizes[place])
        if given.dim() != len(wanted.sizes):
            change = of_kind("whole", wanted.high) if wanted.kind == "whole" else resized_to(*wanted.sizes)
            yield from (changed(plan, change, name) for name in names_of(plan))
        return


def _has_channels_second(layer: nn.Module) -> bool:
    return isinstance(layer, (conv._ConvNd, batchnorm._NormBase, nn.GroupNorm))  # noqa: SLF001 - bases of layers


def _by_condition(error: BaseException, plan: Plan) -> Iterator[dict[str, Any]]:
    """Two numbers that a check of the user's wants to be equal."""
    tests, frame = conditions_at(error)
    if frame is None:
        return
    for node in (each for test in tests for each in ast.walk(test)):
        if isinstance(node, ast.Compare):
            sides = [_evaluated(side, frame.f_globals, frame.f_locals) for side in (node.left, node.comparators[0])]
            yield from _made_equal(sides[0], sides[1], plan)
            yield from _made_equal(sides[1], sides[0], plan)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance":
            kind = _evaluated(node.args[-1], frame.f_globals, frame.f_locals)
            if kind in (list, tuple, dict):
                yield from in_containers(plan)


def _evaluated(side: ast.expr, scope: dict[str, Any], names: dict[str, Any]) -> Any:  # noqa: ANN401 - any value
    try:
        return eval(compile(ast.Expression(side), "", "eval"), scope, names)  # noqa: S307 - the user's own check
    except Exception:  # noqa: BLE001 - what cannot be evaluated says nothing
        return None


def _made_equal(given: Any, wanted: Any, plan: Plan) -> Iterator[dict[str, Any]]:  # noqa: ANN401 - any values
    if isinstance(given, (tuple, list)) and isinstance(wanted, (tuple, list)) and len(given) == len(wanted):
        for one, other in zip(given, wanted, strict=True):
            yield from _made_equal(one, other, plan)
    elif isinstance(given, int) and isinstance(wanted, int) and given != wanted:
        if given < 6 and wanted < 6:
            yield from _ranks(plan, wanted)
        yield from exchanged(plan, given, wanted)


def _by_numbers(text: str, plan: Plan) -> Iterator[dict[str, Any]]:
    """Of the numbers in the message, one is a size that was given and another the size that was wanted."""
    numbers = list(dict.fromkeys(int(number) for number in _NUMBER.findall(text)))
    given = {size for _, tensor in tensors_of(plan) for size in tensor.sizes}
    for old in (number for number in numbers if number in given):
        for new in (number for number in numbers if number not in given and 0 < number <= 4096):
            if old >= 16 and new < 2:
                continue
            yield changed(plan, exchanging(old, new))
            yield from exchanged(plan, old, new)


def _ranks(plan: Plan, rank: int) -> Iterator[dict[str, Any]]:
    if not 0 < rank < 6:
        return
    for name in names_of(plan):
        tensor = next(t for owner, t in tensors_of(plan) if owner == name)
        if len(tensor.sizes) != rank and tensor.kind != "identity":
            yield from (changed(plan, resized_to(*sizes), name) for sizes in _of_rank(tensor, rank))


def _of_rank(tensor: Tensor, rank: int) -> list[tuple[int, ...]]:
    """The sizes of a tensor with another number of dimensions, the channels kept."""
    width = tensor.sizes[1] if len(tensor.sizes) > 3 else (tensor.sizes or (1,))[-1]
    length = tensor.sizes[1] if 1 < len(tensor.sizes) < 4 else SEQUENCE
    if tensor.kind == "truth":  # of attention: which position sees which
        masks: dict[int, list[tuple[int, ...]]] = {
            2: [(2, length)],
            3: [(2, length, length), (2, 1, length)],
            4: [(2, 1, length, length), (2, 1, 1, length)],
        }
        return masks.get(rank, [])
    tables: dict[int, list[tuple[int, ...]]] = {
        1: [tensor.sizes[:1] or (2,), (width,)],
        2: [(2, width), (IMAGE, IMAGE)],
        3: [(2, SEQUENCE, width), (2, width, IMAGE), (width, IMAGE, IMAGE)],
        4: [(2, width, IMAGE, IMAGE), (2, 16, 16, width), (2, 3, IMAGE, IMAGE), (2, 4, SEQUENCE, width)],
        5: [(2, width, 16, 16, 16), (2, 4, width, IMAGE, IMAGE), (2, 4, 16, 16, width)],
    }
    return tables[rank]


def _fewer_dimensions(_text: str, plan: Plan, _inputs: Inputs) -> Iterator[dict[str, Any]]:
    for name in names_of(plan):
        rank = max(len(tensor.sizes) for owner, tensor in tensors_of(plan) if owner == name) - 1
        if rank > 0:
            yield from ({**plan, name: other[name]} for other in _ranks(plan, rank) if differs(other[name], plan[name]))


def _other_rank(text: str, plan: Plan, _inputs: Inputs) -> Iterator[dict[str, Any]]:
    for found in re.findall(
        r"(\d)-?\s?[dD]\b|(\d)[- ]dim|expected (\d)|exactly (\d)|rank (\d)|(\d)\)? ?dimension", text
    ):
        yield from _ranks(plan, int(next(filter(None, found))))
    yield from _ranks(plan, 4)
    yield from _ranks(plan, 3)


def _kinds(*kinds: tuple[Kind, int]) -> Repair:
    def change(_text: str, plan: Plan, _inputs: Inputs) -> Iterator[dict[str, Any]]:
        names = names_of(plan)
        for kind, high in kinds:
            for name in [*reversed(names), None] if len(names) > 1 else names:
                yield changed(plan, of_kind(kind, high), name)

    return change


def _labels(_text: str, plan: Plan, _inputs: Inputs) -> Iterator[dict[str, Any]]:
    """A class for each row, where a name says that it is what is learned."""
    for name, value in plan.items():
        if isinstance(value, Tensor) and value.sizes and first(INPUTS, name) == "target":
            yield {**plan, name: Tensor(value.sizes[:1], "whole", 2)}
            yield {**plan, name: Tensor((*value.sizes[:1], *value.sizes[2:]), "whole", 2)}


def _truths(_text: str, plan: Plan, _inputs: Inputs) -> Iterator[dict[str, Any]]:
    """`if sparse:` wants a switch."""
    for name, value in plan.items():
        if isinstance(value, Tensor):
            yield {**plan, name: False}
            yield {**plan, name: True}


def _letters(text: str, plan: Plan, inputs: Inputs) -> Iterator[dict[str, Any]]:
    """`shape must be [['B', 'C', 'H', 'W']]`."""
    for width in (inputs.width, 3, 1):
        sizes = sizes_in(text.replace("'", ""), width)
        if sizes:
            yield from (changed(plan, resized_to(*sizes), name) for name in names_of(plan))


def _scalars(_text: str, plan: Plan, _inputs: Inputs) -> Iterator[dict[str, Any]]:
    for name, value in plan.items():
        if isinstance(value, Tensor):
            yield {**plan, name: 2}
            yield {**plan, name: 0.5}
        elif isinstance(value, (int, float)):
            yield {**plan, name: Tensor((2,), "unit")}
            yield {**plan, name: (value, value)}


_REPAIRS: tuple[tuple[str, Repair], ...] = (
    (r"missing \d+ required positional", handed_on),
    (r"shape must be|\['[*\w]+', '[*\w]+'|\([A-Z], [A-Z]|BxCxHxW|BCHW", _letters),
    (r"more than 1 (value|spatial)", larger_batch),
    (r"dimensions of repeat dims|same number of dimensions|number of sizes provided|to be a vector", _fewer_dimensions),
    (r"Boolean value of Tensor", _truths),
    (r"divisib|multiple of", other_image),
    (r"values to unpack|\dD\b|\d-D|(?<!non-singleton )dimension|\bdims?\b|ndim|rank|too many indices", _other_rank),
    (
        r"kernel size|padding size|too small|output size|non-empty|smaller than|must be (greater|at least|larger)",
        larger,
    ),
    (r"cannot be multiplied|invalid for input|view size|divide axis|match|size", other_image),
    (r"Long|Int\b|index|indices|class|spatial targets|multi-target", _labels),
    (r"Long|Int\b|indices|index tensor|integer|one_hot|must be .*int", _kinds(("whole", 2), ("whole", 5))),
    (r"Float|floating|Half|'Long'|result type|Double|implemented for|mean\(\)", _kinds(("normal", 2), ("unit", 2))),
    (r"bool", _kinds(("truth", 2))),
    (r"between 0 and 1|\[0, ?1\]|in range|within", _kinds(("unit", 2), ("truth", 2))),
    (r"out of (range|bounds)|Target \d+|assertion", _kinds(("whole", 2), ("whole", 1))),
    (r"tuple|list|iterat|unpack|sequence|has no attribute|subscriptable|dict|string indices", containers),
    (r"^'?\w+'?$", missing_key),
    (r"int|float|number|scalar|'Tensor'|Tensor", _scalars),
)
"""Words of the message, and what they call for, the specific before the general."""
