"""Distances in units of the last place, counted by size."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

import torch

from torchlint.recording.comparison.ulp_histogram import ulp_histogram

pytestmark = pytest.mark.torch


def steps_away(value: float, steps: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    found = torch.tensor(value, dtype=dtype)
    for _ in range(steps):
        found = torch.nextafter(found, torch.tensor(float("inf"), dtype=dtype))
    return found


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_neighbours_are_one_apart(dtype: torch.dtype, sign: float) -> None:
    one = torch.full((6,), 1.5, dtype=dtype)
    two = torch.stack([steps_away(1.5, steps, dtype) for steps in (0, 0, 1, 2, 3, 4)])
    found = ulp_histogram(one * sign, two * sign)
    assert found == {"bins": ["0", "below the floor", "1", "2-3", "4-7"], "counts": [2, 0, 1, 2, 1]}


def test_cancelled_values_are_below_the_floor_and_not_millions_apart() -> None:
    found = ulp_histogram(torch.tensor([1.0, 1e-12]), torch.tensor([1.0, -1e-12]))
    assert found == {"bins": ["0", "below the floor", "1"], "counts": [1, 1, 0]}


def test_the_last_bin_holds_all_beyond() -> None:
    found = ulp_histogram(torch.tensor([1.0]), torch.tensor([4.0]))
    assert found is not None
    assert found["bins"][-1] == "65536+"
    assert found["counts"][-1] == 1


def test_what_is_not_finite_is_left_out() -> None:
    one, two = torch.tensor([1.0, float("nan"), float("inf")]), torch.tensor([1.0, 2.0, 3.0])
    found = ulp_histogram(one, two)
    assert found is not None
    assert sum(found["counts"]) == 1  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (torch.ones(2, dtype=torch.int64), torch.zeros(2, dtype=torch.int64)),
        (torch.ones(2), torch.ones(3)),
        (torch.ones(0), torch.ones(0)),
        (torch.ones(2), torch.ones(2, dtype=torch.float64)),
        (torch.full((2,), float("nan")), torch.ones(2)),
    ],
)
def test_what_has_no_units_in_the_last_place_has_no_histogram(one: torch.Tensor, two: torch.Tensor) -> None:
    assert ulp_histogram(one, two) is None
