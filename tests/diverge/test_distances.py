"""How far two tensors are apart, from their bytes."""

from __future__ import annotations

import math
import struct

import pytest

from torchlint.diverge.distances import Distance, distance, distance_of_samples


def floats(*values: float, letter: str = "f") -> bytes:
    return struct.pack(f"{len(values)}{letter}", *values)


def test_the_elements_that_differ_are_counted_with_the_largest_distance() -> None:
    found = distance("float32", floats(1, 2, 3, 4), floats(1, 2.5, 3, 4.25))
    assert found is not None
    assert (found.elements, found.of, found.largest) == (2, 4, 0.5)


@pytest.mark.parametrize(
    ("dtype", "letter", "one", "two", "ulps"),
    [
        ("float32", "f", 1.0, 1.0 + 2**-23, 1),
        ("float64", "d", 1.0, 1.0 + 3 * 2**-52, 3),
        ("float16", "e", 1.0, 1.0 + 2**-10, 1),
        ("float32", "f", 0.0, -0.0, 0),
        ("float32", "f", 2**-149, -(2**-149), 2),
        ("float32", "f", 1.0, math.nan, None),
    ],
)
def test_units_in_the_last_place_are_counted_across_zero(
    dtype: str, letter: str, one: float, two: float, ulps: int | None
) -> None:
    found = distance(dtype, floats(one, letter=letter), floats(two, letter=letter))
    assert found is not None
    assert found.ulps == ulps


def test_bfloat16_is_the_upper_half_of_float32() -> None:
    one, two = floats(1.0)[2:], floats(1.0078125)[2:]
    assert distance("bfloat16", one, two) == Distance(1, 1, 1, 0.0078125)


def test_whole_numbers_have_no_last_place() -> None:
    found = distance("int64", struct.pack("2q", 5, 7), struct.pack("2q", 5, 9))
    assert found == Distance(1, 2, None, 2.0)
    assert found.words == "1 of 2 elements differ (largest difference 2)"


def test_other_sizes_and_unknown_types_have_no_distance() -> None:
    assert distance("float32", floats(1), floats(1, 2)) is None
    assert distance("quint8", b"1", b"2") is None


def test_differences_far_inside_a_large_tensor_are_found() -> None:
    zeros = bytearray(40_000)
    other = bytearray(zeros)
    other[30_000:30_004] = floats(1.0)
    assert distance("float32", bytes(zeros), bytes(other)) == Distance(1, 10_000, 0x3F800000, 1.0)


def test_a_few_elements_are_said_to_be_a_few() -> None:
    found = distance_of_samples("float32", (1.0, 2.0), (1.0, 2.0 + 2**-22))
    assert found is not None
    assert (
        found.words
        == "1 of 2 sampled elements differ, by at most 1 unit in the last place (largest difference 2.38e-07)"
    )


@pytest.mark.parametrize(
    ("dtype", "ours", "theirs"),
    [
        ("float32", (1.0,), (1.0,)),
        ("float32", (), ()),
        ("float32", (1.0,), (1.0, 2.0)),
        ("int64", (1.0,), (2.0,)),
        ("float16", (1e300,), (1.0,)),
    ],
)
def test_samples_that_say_nothing_have_no_distance(
    dtype: str, ours: tuple[float, ...], theirs: tuple[float, ...]
) -> None:
    assert distance_of_samples(dtype, ours, theirs) is None
