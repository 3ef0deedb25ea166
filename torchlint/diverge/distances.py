"""How far two tensors are apart, from their bytes, without torch."""

from __future__ import annotations

import math
import struct
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, replace

_CHUNK = 4096
"""Bytes that are compared at once: most of two tensors is alike."""
_OF_ROUNDING = 1_000_000
"""Units in the last place beyond which nobody thinks of rounding."""
_WIDTHS = {
    "float32": 4,
    "float64": 8,
    "float16": 2,
    "bfloat16": 2,
    "int64": 8,
    "int32": 4,
    "int16": 2,
    "int8": 1,
    "uint8": 1,
    "bool": 1,
    "complex64": 4,
    "complex128": 8,
}
_INTEGERS = {1: "b", 2: "h", 4: "i", 8: "q"}
_FLOATS = {"float32": "f", "float64": "d", "float16": "e", "complex64": "f", "complex128": "d"}


@dataclass(frozen=True, slots=True)
class Distance:
    """What sets two tensors apart: `3 of 4096 elements, at most 1 unit in the last place`."""

    elements: int
    of: int
    ulps: int | None
    """The largest distance in units of the last place; None for whole numbers, NaN and other signs."""
    largest: float
    """The largest absolute difference."""
    is_sampled: bool = False
    """Whether only a few elements were looked at."""

    @property
    def words(self) -> str:
        ulps = ""
        if self.ulps is not None and self.ulps <= _OF_ROUNDING:
            ulps = f", by at most {self.ulps:,} unit{'s' * (self.ulps != 1)} in the last place"
        elements = f"{'sampled ' * self.is_sampled}elements"
        return f"{self.elements:,} of {self.of:,} {elements} differ{ulps} (largest difference {self.largest:.3g})"


def distance(dtype: str, first: bytes, other: bytes) -> Distance | None:
    """Compare element by element; None for types without elements of whole bytes, and for other sizes."""
    width = _WIDTHS.get(dtype)
    if width is None or len(first) != len(other):
        return None
    apart = [
        place
        for start in range(0, len(first), _CHUNK)
        if first[start : start + _CHUNK] != other[start : start + _CHUNK]
        for place in range(start, min(start + _CHUNK, len(first)), width)
        if first[place : place + width] != other[place : place + width]
    ]
    pairs = [(first[place : place + width], other[place : place + width]) for place in apart]
    ulps = [_ulps(dtype, *pair) for pair in pairs]
    known = [each for each in ulps if each is not None]
    largest = max((abs(_value(dtype, one) - _value(dtype, two)) for one, two in pairs), default=0.0)
    return Distance(len(apart), len(first) // width, max(known) if known and len(known) == len(ulps) else None, largest)


def distance_of_samples(dtype: str, first: Sequence[float], other: Sequence[float]) -> Distance | None:
    """The same for a few elements of two tensors; None where there are none, or all of them are equal."""
    letter = _FLOATS.get(dtype)
    if letter is None or not first or len(first) != len(other):
        return None
    try:
        found = distance(dtype, *(struct.pack(f"{len(own)}{letter}", *own) for own in (first, other)))
    except OverflowError:  # a number that this type does not have, in a damaged file
        return None
    return replace(found, is_sampled=True) if found is not None and found.elements else None


def _value(dtype: str, data: bytes) -> float:
    if dtype == "bfloat16":
        return _value("float32", b"\0\0" + data)
    letter = _FLOATS.get(dtype) or _INTEGERS[len(data)]
    value = float(struct.unpack(letter, data)[0])
    return value if math.isfinite(value) else math.nan


def _ulps(dtype: str, first: bytes, other: bytes) -> int | None:
    """The number of floating-point numbers between two, and one; None for what is none."""
    if dtype not in _FLOATS and dtype != "bfloat16":
        return None
    if math.isnan(_value(dtype, first)) or math.isnan(_value(dtype, other)):
        return None
    return abs(_in_order(first) - _in_order(other))


def _in_order(data: bytes) -> int:
    """A whole number in the order of the values: neighbours are one apart."""
    raw = array(_INTEGERS[len(data)], data)[0]
    lowest = -(1 << (8 * len(data) - 1))
    return lowest - raw if raw < 0 else raw
