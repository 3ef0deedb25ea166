"""What TL118 believes about memory: who hands it out, reads it, only describes it. Asked of the installed torch."""

from __future__ import annotations

import importlib
import importlib.util
import math
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from torchlint.checks.memory.uninitialised.makers import MAKERS, METHOD_MAKERS, TYPED
from torchlint.checks.memory.uninitialised.memory import SCALED
from torchlint.facts.tensors.methods import LOOKING, METADATA, SAME_MEMORY

pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed"),
]

Torch = Any
Tensor = Any


@pytest.fixture
def torch() -> Torch:
    return importlib.import_module("torch")


@pytest.fixture
def filling(torch: Torch) -> Iterator[None]:
    """The determinism mode, under which torch 2.1 and newer fill what they hand out."""
    torch.use_deterministic_algorithms(mode=True)
    yield
    torch.use_deterministic_algorithms(mode=False)


def resolve(torch: Torch, name: str) -> Callable[..., Any]:
    found: Any = torch if name.startswith("torch.") else importlib.import_module("builtins")
    for part in name.split(".")[1:]:
        found = getattr(found, part)
    return found  # type: ignore[no-any-return]


def is_filled(tensor: Tensor) -> bool:
    """Whether a tensor holds the value that the mode fills memory with."""
    if tensor.dtype.is_floating_point:
        return all(math.isnan(value) for value in tensor.flatten().tolist())
    return len(set(tensor.flatten().tolist())) == 1 and tensor.flatten()[0].item() not in (0, 1, 2, 3)


MADE: dict[str, tuple[object, ...]] = {
    "torch.empty": ((2, 3),),
    "torch.empty_strided": ((2, 3), (3, 1)),
    "torch.empty_permuted": ((2, 3), (0, 1)),
}


@pytest.mark.usefixtures("filling")
@pytest.mark.parametrize("name", sorted(MAKERS))
def test_a_maker_hands_out_memory_as_it_is(torch: Torch, name: str) -> None:
    arguments = MADE.get(name, (torch.zeros(2, 3),))
    assert is_filled(resolve(torch, name)(*arguments))


@pytest.mark.usefixtures("filling")
def test_methods_hand_out_memory_as_it_is(torch: Torch) -> None:
    zeros = torch.zeros(2, 3)
    made = {"new_empty": zeros.new_empty(2, 3), "new_empty_strided": zeros.new_empty_strided((2, 3), (3, 1))}
    assert made.keys() == METHOD_MAKERS
    assert all(is_filled(tensor) for tensor in made.values())
    assert is_filled(zeros.new(2, 3))
    assert is_filled(zeros.new(zeros.shape))
    assert is_filled(torch.Tensor().resize_(2, 2))
    assert is_filled(torch.empty(0).resize_as_(zeros))


@pytest.mark.usefixtures("filling")
@pytest.mark.parametrize("name", sorted(name for name in TYPED if ".cuda." not in name and "Bool" not in name))
def test_constructors_allocate_for_sizes_and_copy_data(torch: Torch, name: str) -> None:
    made = resolve(torch, name)
    shape = torch.zeros(2, 3).shape
    assert is_filled(made(2, 3))
    assert is_filled(made(*shape))
    assert is_filled(made(shape))
    assert is_filled(made(5))
    assert made((2, 3)).tolist() == [2, 3]
    assert made([2, 3]).tolist() == [2, 3]


@pytest.mark.parametrize("name", sorted(name for name in TYPED if ".cuda." in name))
def test_constructors_of_cuda_exist(torch: Torch, name: str) -> None:
    assert isinstance(resolve(torch, name), type)


def test_descriptions_read_no_memory(torch: Torch) -> None:
    abstract = torch.empty(2, 3, device="meta")
    for name in METADATA:
        getattr(abstract, name)
    for name in LOOKING - {"builtins.isinstance"}:
        resolve(torch, name)(abstract)
    with pytest.raises((RuntimeError, NotImplementedError)):
        abstract.item()


@pytest.mark.parametrize("name", sorted(SAME_MEMORY))
def test_an_attribute_gives_the_same_memory(torch: Torch, name: str) -> None:
    ones = torch.ones(2, 2)
    assert getattr(ones, name).data_ptr() == ones.data_ptr()


@pytest.mark.parametrize("name", sorted(SCALED))
def test_without_beta_the_input_of_a_product_is_left_unread(torch: Torch, name: str) -> None:
    nan = torch.full((2, 2), math.nan)
    matrix, vector, batch = torch.ones(2, 2), torch.ones(2), torch.ones(1, 2, 2)
    operands = {
        "addmm": (nan, matrix, matrix),
        "addmv": (nan[0], matrix, vector),
        "addr": (nan, vector, vector),
        "addbmm": (nan, batch, batch),
        "baddbmm": (nan[None], batch, batch),
    }[name]
    function = getattr(torch, name)
    assert function(*operands, beta=0).isfinite().all()
    assert function(*operands).isnan().all()
