"""Reads the sizes in an error of a forward: those that were given, and those that were wanted."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator
from typing import Any

from torchlint.recording.building.names import IMAGE
from torchlint.recording.building.plans import Plan, Tensor, changed, exchanging, resized_to, tensors_of

_TWO_SIZES = re.compile(
    r"size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\)"
    r"|expanded size of the tensor \((\d+)\) must match the existing size \((\d+)\)"
    r"|Expected size (\d+) but got size (\d+)"
    r"|Expected (?:size )?(\d+),? (?:but )?got (\d+)"
    r"|got (\d+),? (?:but )?expected (\d+)"
    r"|input batch_size \((\d+)\) to match target batch_size \((\d+)\)"
)
_SHAPE = re.compile(r"[\[(]((?:\d+, ?)*\d+),?[\])]")
_CHANNELS = re.compile(
    r"to have (\d+) channels, but got (\d+)|\(\d+x(\d+) and (\d+)x\d+\)|Expected (\d+), got (\d+)"
    r"|got (\d+) expected (\d+)"
)
_INVALID = re.compile(r"shape '\[([\d, -]+)\]' is invalid for input of size (\d+)")
_LARGEST = 4096


def by_sizes(text: str, plan: Plan) -> Iterator[dict[str, Any]]:
    """Other sizes, where the message leaves little to guess."""
    yield from _spread_out(text, plan)
    yield from _two_sizes(text, plan)
    yield from _two_shapes(text, plan)
    yield from _masks(text, plan)
    yield from _viewed(text, plan)
    yield from _unbatched(text, plan)
    yield from _joined(text, plan)


def names_of(plan: Plan) -> list[str]:
    """The parameters that have tensors."""
    return list(dict.fromkeys(name for name, _ in tensors_of(plan)))


def differs(value: object, other: object) -> bool:
    """Tensors that are there already have no one truth."""
    return value is not other and repr(value) != repr(other)


def exchanged(plan: Plan, old: int, new: int) -> Iterator[dict[str, Any]]:
    """Sizes that are `old` become `new`: at one place of one input, then everywhere."""
    names = [name for name in names_of(plan) if any(old in t.sizes for owner, t in tensors_of(plan) if owner == name)]
    for name in names if old != new else ():
        for place in (1, -1, 0, 2):
            yield changed(plan, exchanging(old, new, place), name)
    if len(names) > 1:
        yield changed(plan, exchanging(old, new))


def _two_sizes(text: str, plan: Plan) -> Iterator[dict[str, Any]]:
    """A message that names just the two sizes that have to be one."""
    found = _TWO_SIZES.search(text)
    if found:
        one, other = (int(number) for number in found.groups() if number)
        for old, new in ((one, other), (other, one)):
            if any(old in tensor.sizes for _, tensor in tensors_of(plan)) and new > 1:
                yield changed(plan, exchanging(old, new))
                yield from exchanged(plan, old, new)


def _two_shapes(text: str, plan: Plan) -> Iterator[dict[str, Any]]:
    """`Expected hidden size (1, 2, 128), got [2, 7, 16]`: the one that was given becomes the other."""
    shapes = list(dict.fromkeys(tuple(map(int, found.split(","))) for found in _SHAPE.findall(text)))
    for given in shapes if len(shapes) > 1 else ():
        for name, tensor in tensors_of(plan):
            if tensor.sizes == given:
                others = [shape for shape in shapes if shape != given and all(0 < size <= _LARGEST for size in shape)]
                yield from (changed(plan, resized_to(*shape), name) for shape in others)


def _masks(text: str, plan: Plan) -> Iterator[dict[str, Any]]:
    """A mask of attention says which position sees which, for each row or for all."""
    if re.search(r"must match|broadcast|repeat dims|expand", text):
        for name, tensor in tensors_of(plan):
            if tensor.kind == "truth" and len(tensor.sizes) > 1:
                rows, length = tensor.sizes[0], tensor.sizes[-1]
                shapes = [(rows, length, length), (rows, 1, length, length), (rows, 1, 1, length), (length, length)]
                yield from (changed(plan, resized_to(*shape), name) for shape in shapes if shape != tensor.sizes)


def _unbatched(text: str, plan: Plan) -> Iterator[dict[str, Any]]:
    """`expected input[1, 2, 3, 3] to have 16 channels`: torch took three dimensions for one image of a batch."""
    found = re.search(r"expected input\[1, ([\d, ]+)\] to have (\d+) channels", text)
    given = tuple(map(int, found[1].split(","))) if found else ()
    for name, tensor in tensors_of(plan) if found else ():
        if tensor.sizes == given and found:
            yield changed(plan, resized_to(2, int(found[2]), *[IMAGE] * (len(given) - 1)), name)


def _viewed(text: str, plan: Plan) -> Iterator[dict[str, Any]]:
    """`shape '[2, 5, 1, 1]' is invalid for input of size 4096`: rows of five were meant, before they are spread out."""
    found = _INVALID.search(text)
    if found is None:
        return
    wanted = [int(size) for size in found[1].split(",")]
    while len(wanted) > 1 and wanted[-1] == 1:
        wanted.pop()
    for name, tensor in tensors_of(plan):
        if math.prod(tensor.sizes) == int(found[2]) and all(0 < size <= _LARGEST for size in wanted):
            yield changed(plan, resized_to(*wanted), name)


def _joined(text: str, plan: Plan) -> Iterator[dict[str, Any]]:
    """Several inputs are joined before a layer: together they have to be as wide as it is."""
    found = _CHANNELS.search(text)
    if found is None:
        return
    numbers = [int(number) for number in found.groups() if number]
    numbers = numbers[::-1] if found[0].startswith("got") else numbers
    names = names_of(plan)
    if len(names) > 1 and numbers[0] > 3:
        first = changed(plan, _as_wide(3), names[0])
        yield changed(first, _as_wide(numbers[0] - 3), names[1])
    for wanted, given in (numbers, reversed(numbers)) if "x" in found[0] else (numbers,):
        yield from _divided(plan, names, wanted, given)
        for name in names:
            for place in (1, -1):
                for size in _sizes_at(plan, name, place):
                    if 0 < size + wanted - given != size:
                        yield changed(plan, exchanging(size, size + wanted - given, place), name)


def _spread_out(text: str, plan: Plan) -> Iterator[dict[str, Any]]:
    """A loss of scores, a mask and rewards that are made rows of before they meet: all are as large as one of them."""
    found = _TWO_SIZES.search(text)
    sizes = [int(number) for number in found.groups() if number] if found else []
    shapes = dict.fromkeys(tensor.sizes for _, tensor in tensors_of(plan))
    if len(shapes) > 1 and any(len(shape) > 1 and math.prod(shape) in sizes for shape in shapes):
        yield from (changed(plan, resized_to(*shape)) for shape in sorted(shapes, key=len) if len(shape) > 1)


def _divided(plan: Plan, names: list[str], wanted: int, given: int) -> Iterator[dict[str, Any]]:
    """Inputs that are equally wide, and that together are too wide or too narrow, are to be so together."""
    for count in range(2, len(names) + 1):
        old, new = given // count, wanted // count
        equal = [name for name in names for place in (1, -1) if old in _sizes_at(plan, name, place)]
        if given % count or wanted % count or new in (0, old):
            continue
        for chosen in itertools.combinations(dict.fromkeys(equal), count):
            other = plan
            for name in chosen:
                other = changed(other, exchanging(old, new), name)
            yield dict(other)


def _sizes_at(plan: Plan, name: str, place: int) -> Iterator[int]:
    for owner, tensor in tensors_of(plan):
        if owner == name and -len(tensor.sizes) <= place < len(tensor.sizes):
            yield tensor.sizes[place]


def _as_wide(size: int) -> Any:  # noqa: ANN401 - a change
    """The channels of images, or the features of rows, are so many."""

    def change(tensor: Tensor) -> Tensor:
        sizes = [*tensor.sizes]
        if len(sizes) > 1:
            sizes[1] = size
        return tensor.resized(*sizes)

    return change
