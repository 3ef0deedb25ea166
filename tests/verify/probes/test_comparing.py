"""How far two tensors are apart, whatever they are."""

from __future__ import annotations

import math

import pytest

pytest.importorskip("torch")

import torch

from torchlint.recording.comparison.differences import difference, differences, ratio_to_reference

pytestmark = pytest.mark.torch


def test_equal_tensors_have_no_difference() -> None:
    values = torch.tensor([1.0, math.nan, math.inf, -math.inf])
    assert difference(values, values.clone()).none
    assert difference(values, values.clone()).relative == 0


def test_the_two_zeros_differ_in_bits_and_in_nothing_else() -> None:
    apart = difference(torch.tensor([0.0, 1.0]), torch.tensor([-0.0, 1.0]))
    assert (apart.differing, apart.max_abs, apart.max_ulp) == (1, 0.0, None)


def test_the_next_number_is_one_unit_away() -> None:
    one = torch.tensor([1.0, 1.0])
    up = torch.tensor([1.0, 1.0 + 2**-23])
    assert difference(up, one).max_ulp == 1
    double = torch.tensor([1.0], dtype=torch.float64)
    assert difference(torch.nextafter(double, double + 1), double).max_ulp == 1


def test_cancelled_values_are_not_counted_in_units_of_the_last_place() -> None:
    apart = difference(torch.tensor([1000.0, 1e-12]), torch.tensor([1000.0, 3e-12]))
    assert apart.differing == 1
    assert apart.max_ulp is None
    assert difference(torch.tensor([1000.0, 1e-3]), torch.tensor([1000.0, 3e-3])).max_ulp is not None


def test_a_number_against_nan_is_counted_apart_from_sizes() -> None:
    apart = difference(torch.tensor([1.0, 2.0, 3.0]), torch.tensor([math.nan, 2.5, 3.0]))
    assert (apart.differing, apart.only_one_finite, apart.max_abs) == (2, 1, 0.5)
    assert math.isinf(apart.relative)


@pytest.mark.parametrize("dtype", ["int64", "int8", "uint8", "uint16", "uint32", "uint64", "bool"])
def test_whole_numbers_are_compared_exactly(dtype: str) -> None:
    if not hasattr(torch, dtype):
        pytest.skip(f"torch {torch.__version__} has no {dtype}")
    one = torch.tensor([0, 1, 1], dtype=getattr(torch, dtype))
    two = torch.tensor([0, 1, 0], dtype=getattr(torch, dtype))
    assert difference(one, one.clone()).none
    assert difference(one, two).differing
    assert difference(one, two).max_ulp is None


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float8_e4m3fn", "complex64", "complex128"])
def test_every_kind_of_float_is_compared(dtype: str) -> None:
    one = torch.tensor([1.0, 2.0]).to(getattr(torch, dtype))
    two = torch.tensor([1.0, 4.0]).to(getattr(torch, dtype))
    assert difference(one, one.clone()).none
    assert difference(one, two).differing == 1
    assert difference(one, two).max_abs == 2


def test_sparse_tensors_are_compared_by_places_and_values() -> None:
    one = torch.eye(3).to_sparse()
    assert difference(one, torch.eye(3).to_sparse()).none
    assert difference(one, (2 * torch.eye(3)).to_sparse()).max_abs == 1
    fewer = torch.diag(torch.tensor([1.0, 1.0, 0.0])).to_sparse()
    assert difference(one, fewer).structure == "[3,3] (sparse_coo) against [3,3] (sparse_coo)"


@pytest.mark.filterwarnings("ignore:Sparse")
@pytest.mark.parametrize("layout", ["sparse_csr", "sparse_csc"])
def test_compressed_sparse_tensors_are_compared_too(layout: str) -> None:
    one = torch.eye(3).to_sparse(layout=getattr(torch, layout))
    assert difference(one, one.clone()).none
    assert difference(one, (2 * torch.eye(3)).to_sparse(layout=getattr(torch, layout))).max_abs == 1


@pytest.mark.filterwarnings("ignore")  # torch warns of both as prototypes or as about to go
def test_nested_and_quantized_tensors_are_compared() -> None:
    nested = [torch.nested.nested_tensor([torch.zeros(2), torch.ones(n)]) for n in (3, 3, 2)]
    assert difference(nested[0], nested[1]).none
    assert difference(nested[0], nested[2]).structure
    one, two = (torch.quantize_per_tensor(torch.tensor([0.5, x]), 0.1, 0, torch.quint8) for x in (0.1, 0.5))
    assert difference(one, two).differing == 1


def test_meta_and_empty_tensors_have_nothing_to_compare() -> None:
    assert difference(torch.empty(3, device="meta"), torch.empty(3, device="meta")).none
    assert difference(torch.zeros(0), torch.zeros(0)).none


def test_shapes_that_differ_are_said() -> None:
    apart = difference(torch.zeros(2, 3), torch.zeros(3, 2))
    assert (apart.differing, apart.structure) == (6, "[2,3] against [3,2]")


def test_a_tensor_that_one_run_lacks_differs_as_a_whole() -> None:
    found = differences({"a": torch.zeros(2), "b": torch.zeros(2)}, {"a": torch.zeros(2)})
    assert list(found) == ["b"]


def test_float32_and_float64_are_compared_in_units_of_float32() -> None:
    exact = torch.tensor([1 / 3], dtype=torch.float64)
    apart = difference(exact.float(), exact)
    assert 0 < apart.max_abs < 1e-7
    assert apart.max_ulp is None  # half a unit at most: a rounding


def test_the_ratio_says_how_many_times_the_error_of_the_baseline() -> None:
    reference = torch.tensor([1.0], dtype=torch.float64)
    baseline = torch.tensor([1.0 + 2**-20])
    assert ratio_to_reference(torch.tensor([1.0 + 2**-18]), baseline, reference) == pytest.approx(4)
    assert ratio_to_reference(baseline, baseline, reference) == 1
    assert ratio_to_reference(reference.float(), baseline, reference) == 0


def test_a_baseline_that_is_exact_by_luck_does_not_blow_the_ratio_up() -> None:
    reference = torch.tensor([1.0], dtype=torch.float64)
    assert ratio_to_reference(torch.tensor([1 + 2**-23]), reference.float(), reference) == pytest.approx(2)


def test_the_ratio_is_unknown_where_one_side_is_nan() -> None:
    reference = torch.tensor([1.0], dtype=torch.float64)
    assert math.isnan(ratio_to_reference(torch.tensor([math.nan]), reference.float(), reference))
