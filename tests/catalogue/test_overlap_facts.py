"""What TL119 believes about writes through views: what torch refuses, what it lets pass. Asked of the torch at hand."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import warnings
from collections.abc import Callable
from typing import Any

import pytest

from torchlint.catalogue.versions import parse_minor
from torchlint.checks.memory import overlapping_write
from torchlint.facts.tensors.methods import methods_that

pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed"),
]

Torch = Any
Tensor = Any


@pytest.fixture
def torch() -> Torch:
    return importlib.import_module("torch")


def expanded(torch: Torch) -> Tensor:
    return torch.full((3, 1), 0.5).expand(3, 4)


def rolling(torch: Torch) -> Tensor:
    return torch.full((10,), 0.5).unfold(0, 4, 2)


def strided(torch: Torch) -> Tensor:
    return torch.full((10,), 0.5).as_strided((4, 4), (2, 1))


def values_for(torch: Torch, view: Tensor) -> Tensor:
    return torch.arange(view.numel(), dtype=torch.float).reshape(view.shape)


def write(torch: Torch, view: Tensor, method: str) -> None:
    """Call an in-place method as it is meant."""
    values = values_for(torch, view)
    rows, places = torch.tensor([0, 1]), torch.zeros(view.shape, dtype=torch.long)
    given: dict[str, tuple[object, ...]] = {
        "addcmul_": (values, values),
        "addcdiv_": (values, values + 1),
        "lerp_": (values, 0.5),
        "scatter_": (1, places, values),
        "scatter_add_": (1, places, values),
        "index_add_": (0, rows, values[:2]),
        "index_copy_": (0, rows, values[:2]),
        "index_put_": ((rows,), values[:2]),
        "index_fill_": (0, rows, 1.0),
        "masked_scatter_": (values > 2, values),
        "masked_fill_": (values > 2, 1.0),
        "fill_": (1.0,),
        **dict.fromkeys(("clamp_", "clamp_min_", "clamp_max_"), (1.0,)),
        **dict.fromkeys(("geometric_",), (0.5,)),
    }
    takes_values = ("add", "sub", "mul", "div", "pow", "copy", "remainder", "fmod", "float_power")
    default = (values + 1,) if any(word in method for word in takes_values) else ()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch says that some of these are to be refused one day
        getattr(view, method)(*given.get(method, default))


REFUSED = pytest.raises(RuntimeError, match="more than one element of the written-to tensor")
HARMLESS = methods_that(lambda method: method.writes == "one")
PASSING_ON_EXPANDED = overlapping_write.PASSING | HARMLESS


@pytest.mark.parametrize("method", sorted((overlapping_write.WRITING | HARMLESS) - {"float_power_"}))
def test_torch_refuses_to_write_an_expanded_view(torch: Torch, method: str) -> None:
    view = expanded(torch)
    if method in PASSING_ON_EXPANDED:
        write(torch, view, method)
    else:
        with REFUSED:
            write(torch, view, method)


def test_a_power_in_place_is_refused_as_well(torch: Torch) -> None:
    view = torch.full((3, 1), 0.5, dtype=torch.float64).expand(3, 4)
    with REFUSED:
        view.float_power_(2)


@pytest.mark.parametrize("make", [rolling, strided])
@pytest.mark.parametrize("method", sorted((overlapping_write.WRITING | HARMLESS) - {"float_power_"}))
def test_torch_lets_every_write_to_overlapping_windows_pass(
    torch: Torch, make: Callable[[Any], Tensor], method: str
) -> None:
    write(torch, make(torch), method)


@pytest.mark.parametrize("index", [slice(None), ..., 0, (slice(None), slice(1, 3))])
def test_a_slice_of_an_expanded_view_is_refused(torch: Torch, index: object) -> None:
    view = expanded(torch)
    with REFUSED:
        view[index] = values_for(torch, view)[index]


@pytest.mark.parametrize("index", [slice(None), ..., 0, (slice(None), slice(1, 3))])
def test_a_number_for_a_slice_of_an_expanded_view_is_refused_or_the_same_everywhere(torch: Torch, index: Any) -> None:  # noqa: ANN401
    """torch 2.15 fills it: whichever write is the last, the number stands there."""
    view = expanded(torch)
    fills = parse_minor(torch.__version__) >= (2, 15)
    with contextlib.nullcontext() if fills else REFUSED:
        view[index] = 1.0
    assert view[index].eq(1.0 if fills else 0.5).all()


def test_adding_to_an_expanded_view_is_refused(torch: Torch) -> None:
    view = expanded(torch)
    with REFUSED:
        view += 1
    with REFUSED:
        view[:, 1:] += 1
    with REFUSED:
        torch.add(values_for(torch, view), 1, out=view)


def test_one_column_of_an_expanded_view_is_all_of_them(torch: Torch) -> None:
    view = expanded(torch)
    view[:, 0] = torch.tensor([1.0, 2.0, 3.0])
    assert view.tolist() == [[1.0] * 4, [2.0] * 4, [3.0] * 4]
    view[:, 2:3] += 1
    assert view.tolist() == [[2.0] * 4, [3.0] * 4, [4.0] * 4]


@pytest.mark.filterwarnings("ignore:Use of index_put_ on expanded tensors:UserWarning")
def test_indices_held_by_tensors_pass_on_an_expanded_view(torch: Torch) -> None:
    values = values_for(torch, expanded(torch))
    for index in (torch.tensor([0, 1, 2]), values >= 0, [0, 1, 2]):
        view = expanded(torch)
        view[index] = values.flatten() if isinstance(index, torch.Tensor) and index.dim() == 2 else values
        assert all(len(set(row)) == 1 for row in view.tolist())
        assert view.tolist() != values.tolist()
    view = expanded(torch)
    view[torch.tensor([0, 1])] += values[:2]
    assert all(len(set(row)) == 1 for row in view.tolist())


def test_what_stays_in_overlapping_windows_depends_on_the_threads(torch: Torch) -> None:
    frames = torch.rand(937, 64, generator=torch.Generator().manual_seed(0))
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        alone = copied_into_windows(torch, frames)
        torch.set_num_threads(2)
        if all(torch.equal(copied_into_windows(torch, frames), alone) for _ in range(300)):
            pytest.skip("the two threads never ran at the same time")
    finally:
        torch.set_num_threads(threads)


def copied_into_windows(torch: Torch, frames: Tensor) -> Tensor:
    signal = torch.zeros(len(frames) + 63)
    signal.unfold(0, 64, 1).copy_(frames)
    return signal


def test_windows_written_one_by_one_add_up(torch: Torch) -> None:
    signal = torch.zeros(10)
    windows = signal.unfold(0, 4, 2)
    for place in range(4):
        windows[place] += 1
    assert signal.tolist() == [1.0, 1.0, *[2.0] * 6, 1.0, 1.0]


def test_the_unfold_of_functional_copies(torch: Torch) -> None:
    signal = torch.zeros(1, 1, 4, 4)
    torch.nn.functional.unfold(signal, 2).add_(1)
    assert signal.sum() == 0
