"""The tables of what torch's functions and methods return, asked of the torch that is installed.

A claim is tried on small float, int64 and bool tensors, as a method and as a function. Where torch refuses an element
type there is nothing to hold; each name must be possible for one of them at least.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import pytest

pytest.importorskip("torch")
pytest.importorskip("numpy")

from torchlint.facts.tensors import methods as tables

pytestmark = pytest.mark.torch

Tensor: TypeAlias = Any
torch: Any = importlib.import_module("torch")
numpy: Any = importlib.import_module("numpy")
INSTALLED = f"on torch {torch.__version__}"

EXAMPLES: dict[str, Tensor] = {
    "float": torch.tensor([[0.5, 0.25, 0.75], [0.1, 0.9, 0.3]]),
    "integer": torch.tensor([[1, 2, 3], [4, 5, 6]]),
    "bool": torch.tensor([[True, False, True], [True, True, False]]),
}
INDEX = torch.tensor([0])
PLACES = torch.zeros(2, 3, dtype=torch.int64)
MASK = EXAMPLES["bool"]
LINE = torch.tensor([0, 1, 2])
IMPOSSIBLE = (RuntimeError, TypeError, NotImplementedError)
NEED_CUDA = {"cuda", "pin_memory"}
MODULES_TOO = {"bfloat16", "double", "float", "half", "requires_grad_"}
"""Methods of `nn.Module` as well: its own kinds of values come first."""


def arguments(x: Tensor) -> dict[str, tuple[Any, ...]]:
    """What comes after the tensor, for names that take more than it."""
    itself = (
        "atan2 cdist cosine_similarity isclose isin eq ne gt ge lt le greater greater_equal less less_equal not_equal "
        "logical_and logical_or logical_xor expand_as view_as reshape_as type_as"
    )
    along = "unsqueeze unsqueeze_ softmax log_softmax logsumexp cumsum cumprod cummax unbind amax amin"
    return {
        **dict.fromkeys(itself.split(), (x,)),
        **dict.fromkeys(along.split(), (1,)),
        **dict.fromkeys(("searchsorted",), (x,)),
        **dict.fromkeys(("bucketize",), (LINE.to(x.dtype) if x.dtype != torch.bool else LINE,)),
        **dict.fromkeys(("clamp", "clamp_"), (x.flatten()[1], x.flatten()[2])),
        **dict.fromkeys(("clamp_min", "clamp_max"), (x.flatten()[1],)),
        **dict.fromkeys(("fill_", "full_like", "roll", "topk", "split"), (1,)),
        **dict.fromkeys(("masked_fill", "masked_fill_"), (MASK, 1)),
        **dict.fromkeys(("transpose", "transpose_", "swapaxes", "movedim"), (0, 1)),
        **dict.fromkeys(("index_add", "index_add_"), (0, INDEX, x[:1])),
        **dict.fromkeys(("scatter", "scatter_", "scatter_add", "scatter_add_"), (0, PLACES, x)),
        **dict.fromkeys(("new_zeros", "new_ones", "new_empty", "view", "reshape"), ((6,),)),
        **dict.fromkeys(("expand", "broadcast_to", "repeat", "tile"), ((2, 2, 3),)),
        **dict.fromkeys(("to", "type"), (torch.float64,)),
        **dict.fromkeys(("pow", "chunk", "repeat_interleave"), (2,)),
        "new_full": ((6,), 1),
        "permute": ((1, 0),),
        "flip": ((0,),),
        "unflatten": (1, (3, 1)),
        "unfold": (1, 2, 1),
        "narrow": (0, 0, 1),
        "select": (0, 0),
        "index_select": (0, INDEX),
        "index_fill_": (0, INDEX, 1),
        "gather": (0, PLACES),
        "take": (INDEX,),
        "masked_select": (MASK,),
        "dropout": (0.5, True),
    }


FACTORIES: dict[str, Callable[[], Tensor]] = {
    "rand": lambda: torch.rand(2, 3),
    "randn": lambda: torch.randn(2, 3),
    "linspace": lambda: torch.linspace(0, 1, 3),
    "logspace": lambda: torch.logspace(0, 1, 3),
    "randint": lambda: torch.randint(5, (2, 3)),
    "randperm": lambda: torch.randperm(4),
    "arange": lambda: torch.arange(4),
    "hann_window": lambda: torch.hann_window(4),
    "bincount": lambda: torch.bincount(LINE),
}
OF_LISTS = {"cat", "stack", "concat", "hstack", "vstack"}


def tensors(output: Tensor) -> Iterator[Tensor]:
    if isinstance(output, torch.Tensor):
        yield output
    elif isinstance(output, tuple | list):
        for part in output:
            yield from tensors(part)


def element(tensor: Tensor) -> str:
    if tensor.dtype is torch.bool:
        return "bool"
    if tensor.is_complex():
        return "complex"
    return "float" if tensor.is_floating_point() else "integer"


def forms(name: str) -> list[Callable[..., Tensor]]:
    """The method and the function of this name; one of `nn.functional` where there is neither."""
    found = [getattr(home, name) for home in (torch.Tensor, torch) if hasattr(home, name)]
    return found or [getattr(torch.nn.functional, name)]


def results(name: str, kind: str) -> Iterator[Tensor]:
    """What every form of the name returns for the example of this kind, as far as torch takes it."""
    if name in FACTORIES:
        yield from tensors(FACTORIES[name]())
        return
    x = EXAMPLES[kind]
    for form in forms(name):
        try:
            if name in OF_LISTS:
                yield from tensors(form([x, x]))
            else:
                yield from tensors(form(x.clone(), *arguments(x).get(name, ())))
        except IMPOSSIBLE:
            continue


def holds(name: str, claim: Callable[[str, Tensor], bool]) -> None:
    """The claim about the kind that goes in and a tensor that comes out."""
    if name in NEED_CUDA and not torch.cuda.is_available():
        pytest.skip("it needs CUDA")
    found = [(kind, result) for kind in EXAMPLES for result in results(name, kind)]
    assert found, f"`{name}` takes no example {INSTALLED}"
    for kind, result in found:
        assert claim(kind, result), f"`{name}` of {kind} gives {result.dtype}, {result.ndim}-D {INSTALLED}"


@pytest.mark.parametrize("name", sorted(tables.ONLY_TENSORS))
def test_a_name_belongs_to_tensors_alone(name: str) -> None:
    assert callable(getattr(torch.Tensor, name, None)), INSTALLED
    others = (numpy.ndarray, list, dict, str, set, tuple, bytes, int, float)
    assert [kind for kind in others if hasattr(kind, name)] == []
    assert hasattr(torch.nn.Module, name) is (name in MODULES_TOO), INSTALLED


@pytest.mark.parametrize("name", sorted(tables.INTEGER))
def test_a_name_makes_integers(name: str) -> None:
    holds(name, lambda _, result: element(result) == "integer")


@pytest.mark.parametrize("name", sorted(tables.BOOL))
def test_a_name_makes_bools(name: str) -> None:
    holds(name, lambda _, result: element(result) == "bool")


@pytest.mark.parametrize("name", sorted(tables.FLOAT))
def test_a_name_makes_floats(name: str) -> None:
    holds(name, lambda _, result: element(result) == "float")


@pytest.mark.parametrize("name", sorted(tables.COUNTS))
def test_a_name_counts_bools(name: str) -> None:
    dimension = (0,) if name.startswith("cum") else ()
    for form in forms(name):
        for kind, expected in (("bool", "integer"), ("integer", "integer"), ("float", "float")):
            assert element(form(EXAMPLES[kind], *dimension)) == expected, INSTALLED


@pytest.mark.parametrize("name", sorted(tables.KEEPS_ELEMENT))
def test_a_name_keeps_the_element_type(name: str) -> None:
    holds(name, lambda kind, result: element(result) == kind)


@pytest.mark.parametrize("name", sorted(tables.KEEPS_RANK))
def test_a_name_keeps_the_number_of_dimensions(name: str) -> None:
    holds(name, lambda _, result: bool(result.ndim == 2))


@pytest.mark.parametrize("name", sorted(name for name in tables.KEEPS_RANK if name.endswith("_as")))
def test_a_name_keeps_the_rank_beside_a_tensor_of_more(name: str) -> None:
    for form in forms(name):
        assert form(torch.ones(3), EXAMPLES["float"]).ndim == 1, INSTALLED


@pytest.mark.parametrize("name", sorted(tables.ONE_DIMENSION))
def test_a_name_makes_one_dimension(name: str) -> None:
    holds(name, lambda _, result: bool(result.ndim == 1))


@pytest.mark.parametrize("name", sorted(tables.SIZED))
def test_a_name_takes_its_dimensions(name: str) -> None:
    special: dict[str, list[tuple[int, ...]]] = {"expand": [(2, 3), (2, 2, 3)], "permute": [(1, 0)]}
    sizes = special.get(name, [(6,), (3, 2), (2, 1, 3)])
    x = EXAMPLES["float"]
    called = 0
    for size in sizes:
        if hasattr(torch.Tensor, name):
            assert getattr(x, name)(*size).ndim == getattr(x, name)(size).ndim == len(size), INSTALLED
            called += 1
        if hasattr(torch, name):
            function = getattr(torch, name)
            found = function(x, size) if hasattr(torch.Tensor, name) else function(*size)
            assert found.ndim == len(size), INSTALLED
            called += 1
    assert called


@pytest.mark.parametrize("name", sorted(tables.REDUCTIONS))
@pytest.mark.parametrize("kind", EXAMPLES)
def test_a_dimension_is_taken_away(name: str, kind: str) -> None:
    x = EXAMPLES[kind]
    expected: list[tuple[int, tuple[Any, ...], dict[str, Any]]] = [
        (1, (1,), {}),
        (1, (), {"dim": 1}),
        (1, (1, False), {}),
        (2, (1, True), {}),
        (2, (1,), {"keepdim": True}),
        (0, ((0, 1),), {}),
        (0, (), {}),
    ]
    held = 0
    for form in forms(name):
        for rank, positional, keywords in expected:
            try:
                found = form(x, *positional, **keywords).ndim
            except IMPOSSIBLE:
                continue
            held += 1
            assert found == rank, f"{name}{positional} {keywords} {INSTALLED}"
    assert held or kind != "float"


@pytest.mark.parametrize("name", tables.ELEMENT_OF_DTYPE)
def test_a_type_has_these_elements(name: str) -> None:
    dtype = getattr(torch, name)
    assert isinstance(dtype, torch.dtype)
    assert element(torch.empty(0, dtype=dtype)) == tables.ELEMENT_OF_DTYPE[name], INSTALLED


@pytest.mark.parametrize("name", tables.ELEMENT_OF_CLASS)
def test_a_tensor_class_has_these_elements(name: str) -> None:
    assert element(torch.empty(0).type(getattr(torch, name))) == tables.ELEMENT_OF_CLASS[name], INSTALLED
