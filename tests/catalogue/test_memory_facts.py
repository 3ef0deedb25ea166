"""What TL118 believes about memory: who hands it out, reads it, only describes it. Asked of the installed torch."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import math
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from torchlint.checks.memory.uninitialised.makers import MAKERS, METHOD_MAKERS, TYPED
from torchlint.facts.memory.reading_words import READING, READING_FUNCTIONS, SCALED
from torchlint.facts.memory.words import METADATA, METADATA_FUNCTIONS, METADATA_METHODS, PASSING, SAME_MEMORY

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
    given: dict[str, tuple[object, ...]] = {
        "is_same_size": (abstract,),
        "new_tensor": (1.0,),
        "new_full": ((2,), 1.0),
        "new_empty_strided": ((2,), (1,)),
        "new_zeros": (2,),
        "new_ones": (2,),
        "new_empty": (2,),
    }
    for name in METADATA_METHODS:
        getattr(abstract, name)(*given.get(name, ()))
    for name in METADATA_FUNCTIONS - {
        "builtins.isinstance",
        "torch.result_type",
        "torch.randint_like",
        "torch.full_like",
    }:
        resolve(torch, name)(abstract)
    torch.result_type(abstract, abstract)
    torch.full_like(abstract, 1.0)
    torch.randint_like(abstract, 3)
    with pytest.raises((RuntimeError, NotImplementedError)):
        abstract.item()


def test_passing_on_computes_nothing(torch: Torch) -> None:
    given: dict[str, tuple[object, ...]] = {
        "view": (4,),
        "view_as": (torch.zeros(4),),
        "reshape": (4,),
        "reshape_as": (torch.zeros(4),),
        "transpose": (0, 1),
        "permute": (0, 1),
        "unsqueeze": (0,),
        "unflatten": (0, (1, 2)),
        "expand": (2, 2),
        "expand_as": (torch.zeros(2, 2),),
        "broadcast_to": ((2, 2),),
        "narrow": (0, 0, 2),
        "select": (0, 0),
        "swapaxes": (0, 1),
        "swapdims": (0, 1),
        "movedim": (0, 0),
        "moveaxis": (0, 0),
        "to": (torch.float64,),
        "type": (torch.float64,),
        "type_as": (torch.zeros(1),),
    }
    needs_an_accelerator = {"cuda", "pin_memory"}
    for name in PASSING - needs_an_accelerator:
        ones = torch.ones(2, 2)
        assert set(getattr(ones, name)(*given.get(name, ())).flatten().tolist()) == {1}, name
    for name in needs_an_accelerator | SAME_MEMORY:
        assert hasattr(torch.Tensor, name)


def sample(torch: Torch) -> Tensor:
    return torch.tensor([[2.0, 0.5], [0.5, 2.0]])


def call_method(name: str, arguments: tuple[object, ...], tensor: Tensor) -> object:
    return getattr(tensor, name)(*arguments)


def calls(torch: Torch, name: str) -> Iterator[Callable[[Tensor], Any]]:
    """Ways to call a method: with no argument, a number, tensors, or a dimension."""
    matrix, vector, batch = sample(torch), torch.ones(2), torch.ones(1, 2, 2)
    options: list[tuple[object, ...]] = [
        *((), (1,), (matrix,), (vector,), (0.5,), (matrix, matrix), (matrix, 0.5), (batch,), (batch, batch)),
        *((vector, vector), (matrix, vector), (2, 0, 1)),
    ]
    for arguments in options:
        yield functools.partial(call_method, name, arguments)
    yield getattr(torch, name, abs)
    yield lambda tensor: getattr(torch, name)(tensor, tensor)


@pytest.mark.parametrize("name", sorted(READING - {"cross", "equal"}))
def test_reading_writes_nothing_and_depends_on_the_values(torch: Torch, name: str) -> None:
    shapes = [sample(torch), torch.ones(2) * 0.5, torch.ones(1, 2, 2), torch.tensor([0.5]), torch.tensor([1, 0])]
    for tensor in shapes:
        for call in calls(torch, name):
            before, version = tensor.clone(), tensor._version
            try:
                call(tensor)
            except (RuntimeError, TypeError, IndexError, AttributeError, ValueError):
                continue
            assert (tensor._version, tensor.tolist()) == (version, before.tolist())
            return
    pytest.fail(f"no way to call {name} was found")


@pytest.mark.parametrize("name", sorted(READING_FUNCTIONS))
def test_a_reading_function_exists(torch: Torch, name: str) -> None:
    assert callable(resolve(torch, name))


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
