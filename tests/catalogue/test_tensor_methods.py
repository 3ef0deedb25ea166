"""`rules/registry/tensor_methods.toml`, each row asked of the torch that is installed.

A claim is tried on small float, int64 and bool tensors, as a method and as a function. Where torch refuses an element
type there is nothing to hold; each name must be possible for one of them at least.
"""

from __future__ import annotations

import importlib
import inspect
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import pytest

pytest.importorskip("torch")
pytest.importorskip("numpy")

from torchlint.catalogue.load import load_tensor_methods, load_values
from torchlint.catalogue.tensor_methods import TensorMethod
from torchlint.catalogue.values import by_name

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]

Tensor: TypeAlias = Any
torch: Any = importlib.import_module("torch")
numpy: Any = importlib.import_module("numpy")
functional: Any = importlib.import_module("torch.nn.functional")
INSTALLED = f"on torch {torch.__version__}"
FILE = load_tensor_methods()
ROWS: dict[str, TensorMethod] = {
    **FILE.methods,
    **{f"functional.{name}": row for name, row in FILE.functional.items()},
}

EXAMPLES: dict[str, Tensor] = {
    "float": torch.tensor([[0.5, 0.25, 0.75], [0.1, 0.9, 0.3]]),
    "integer": torch.tensor([[1, 2, 3], [4, 5, 6]]),
    "bool": torch.tensor([[True, False, True], [True, True, False]]),
}
INDEX = torch.tensor([0])
PLACES = torch.zeros(2, 3, dtype=torch.int64)
MASK = EXAMPLES["bool"]
LINE = torch.tensor([0, 1, 2])
SQUARE = torch.tensor([[2.0, 0.3, 0.1], [0.3, 3.0, 0.2], [0.1, 0.2, 4.0]])
IMPOSSIBLE = (RuntimeError, TypeError, NotImplementedError, AttributeError, IndexError, ValueError)
NEED_CUDA = {"cuda", "pin_memory"}
MODULES_TOO = {"bfloat16", "double", "float", "half", "requires_grad_"}
"""Methods of `nn.Module` as well: its own kinds of values come first."""

ITSELF = """
atan2 cdist cosine_similarity isclose isin eq ne gt ge lt le greater greater_equal less less_equal not_equal
logical_and logical_or logical_xor expand_as view_as reshape_as type_as add sub subtract mul multiply div divide
true_divide floor_divide remainder fmod pow float_power maximum minimum fmax fmin inner cross kron is_same_size equal
allclose searchsorted mse_loss l1_loss smooth_l1_loss huber_loss binary_cross_entropy pairwise_distance
binary_cross_entropy_with_logits kl_div result_type add_ sub_ subtract_ mul_ multiply_ div_ divide_ true_divide_
floor_divide_ pow_ broadcast_tensors
"""
ALONG = """
unsqueeze unsqueeze_ softmax log_softmax logsumexp cumsum cumprod cummax cummin logcumsumexp unbind amax amin unfold_
gumbel_softmax
"""
OF_SQUARES = "det inverse inv cholesky slogdet pinverse eigvalsh eig eigh lu trace qr svd lobpcg"
OF_LINALG = ("eig", "eigh", "eigvalsh", "inv", "lstsq", "solve")
"""Functions of `torch.linalg` that are no methods, or such that only raise."""
WITH_SQUARES = "matmul mm solve lstsq"
LOSSES = [
    *("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy", "kl_div", "pairwise_distance"),
    "binary_cross_entropy_with_logits",
]
OF_VECTORS = "dot vdot outer"


def arguments(x: Tensor) -> dict[str, tuple[Any, ...]]:
    """What comes after the tensor, for names that take more than it."""
    second, third = x.flatten()[1:3]
    return {
        **dict.fromkeys(ITSELF.split(), (x,)),
        **dict.fromkeys(ALONG.split(), (1,)),
        **dict.fromkeys(("addcmul", "addcdiv", "addcmul_", "addcdiv_"), (x, x)),
        **dict.fromkeys(("lerp", "lerp_"), (x * 3, 0.5)),
        **dict.fromkeys(("fmod_", "remainder_"), (x.flip(1),)),
        **dict.fromkeys(("bucketize",), (LINE.to(x.dtype) if x.dtype != torch.bool else LINE,)),
        **dict.fromkeys(("clamp", "clamp_"), (second, third)),
        **dict.fromkeys(("clamp_min", "clamp_max", "clamp_min_", "clamp_max_"), (second,)),
        **dict.fromkeys(("fill_", "full_like", "roll", "topk", "split", "kthvalue", "multinomial"), (1,)),
        **dict.fromkeys(("masked_fill", "masked_fill_"), (MASK, 1)),
        **dict.fromkeys(("masked_scatter", "masked_scatter_"), (MASK, x)),
        **dict.fromkeys(("transpose", "transpose_", "swapaxes", "swapaxes_", "swapdims", "swapdims_"), (0, 1)),
        **dict.fromkeys(("movedim", "moveaxis"), (0, 1)),
        **dict.fromkeys(("index_add", "index_add_", "index_copy_"), (0, INDEX, x[1:])),
        **dict.fromkeys(("scatter", "scatter_", "scatter_add", "scatter_add_"), (1, PLACES + LINE, x.flip(1))),
        **dict.fromkeys(("new_zeros", "new_ones", "new_empty", "view", "reshape"), ((6,),)),
        **dict.fromkeys(("expand", "broadcast_to", "repeat", "tile"), ((2, 2, 3),)),
        **dict.fromkeys(("to", "type"), (torch.float64,)),
        **dict.fromkeys(("pow", "chunk", "repeat_interleave", "tensor_split", "vsplit"), (2,)),
        **dict.fromkeys(("one_hot",), (9,)),
        **dict.fromkeys(("geometric_", "bernoulli_"), (0.5,)),
        **dict.fromkeys(("gather", "take_along_dim"), (1, PLACES)),
        "take_along_dim": (PLACES, 1),
        "hsplit": (3,),
        "split_with_sizes": ([1, 1],),
        "index_put_": ((INDEX,), x[1:]),
        "copy_": (x.flip(1),),
        "new_full": ((6,), 1),
        "new_tensor": ([1.0],),
        "new_empty_strided": ((2,), (1,)),
        "randint_like": (5,),
        "permute": ((1, 0),),
        "flip": ((0,),),
        "unflatten": (1, (3, 1)),
        "unfold": (1, 2, 1),
        "narrow": (0, 0, 1),
        "select": (0, 0),
        "index_select": (0, INDEX),
        "index_fill_": (0, INDEX, 1),
        "take": (INDEX,),
        "masked_select": (MASK,),
        "dropout": (0.5, True),
        "mv": (x[0],),
        "tensordot": (x,),
        "prelu": (torch.tensor([0.1]),),
        "pad": ((1, 1),),
        "linear": (torch.rand(2, 3),),
        "bilinear": (x, torch.rand(2, 3, 3)),
        "layer_norm": ((3,),),
        "rms_norm": ((3,),),
        "batch_norm": (torch.zeros(3), torch.ones(3)),
        "group_norm": (1,),
        "cross_entropy": (torch.tensor([0, 1]),),
        "nll_loss": (torch.tensor([0, 1]),),
        "scaled_dot_product_attention": (x, x),
        "interpolate": (None, 2),
    }


FACTORIES: dict[str, Callable[[], Tensor]] = {
    "rand": lambda: torch.rand(2, 3),
    "randn": lambda: torch.randn(2, 3),
    "normal": lambda: torch.normal(0.0, 1.0, (2, 3)),
    "linspace": lambda: torch.linspace(0, 1, 3),
    "logspace": lambda: torch.logspace(0, 1, 3),
    "randint": lambda: torch.randint(5, (2, 3)),
    "randperm": lambda: torch.randperm(4),
    "arange": lambda: torch.arange(4),
    "hann_window": lambda: torch.hann_window(4),
    "empty": lambda: torch.empty(2, 3),
    "zeros": lambda: torch.zeros(2, 3),
    "ones": lambda: torch.ones(2, 3),
    "full": lambda: torch.full((2, 3), 0.5),
    "eye": lambda: torch.eye(3),
    "tensor": lambda: torch.tensor([0.5]),
    "as_tensor": lambda: torch.as_tensor([0.5]),
    "asarray": lambda: torch.asarray([0.5]),
    "from_numpy": lambda: torch.from_numpy(numpy.zeros(2)),
}
OF_LISTS = {"cat", "stack", "concat", "concatenate", "hstack", "vstack"}


def square_batch(n: int) -> Tensor:
    return torch.arange(2.0 * 4**n).reshape(1, 2, *[4] * n)


CALLS: dict[str, list[tuple[Any, ...]]] = {
    **{name: [(SQUARE,)] for name in OF_SQUARES.split()},
    **{name: [(SQUARE, SQUARE.flip(0))] for name in WITH_SQUARES.split()},
    **{name: [(SQUARE[0], SQUARE[1])] for name in OF_VECTORS.split()},
    **{name: [(LINE,)] for name in ("bincount",)},
    **{name: [(SQUARE[None], SQUARE[None])] for name in ("bmm",)},
    **{f"functional.conv{n}d": [(square_batch(n), torch.ones(2, 2, *[1] * n))] for n in (1, 2, 3)},
    **{f"functional.conv_transpose{n}d": [(square_batch(n), torch.ones(2, 2, *[1] * n))] for n in (1, 2, 3)},
    **{f"functional.{kind}_pool{n}d": [(square_batch(n), 2)] for kind in ("max", "avg") for n in (1, 2, 3)},
    **{f"functional.adaptive_avg_pool{n}d": [(square_batch(n), 2)] for n in (1, 2, 3)},
    "addmm": [(SQUARE, SQUARE, SQUARE)],
    "addmv": [(SQUARE[0], SQUARE, SQUARE[0])],
    "addr": [(SQUARE, SQUARE[0], SQUARE[0])],
    "addbmm": [(SQUARE, SQUARE[None], SQUARE[None])],
    "baddbmm": [(SQUARE[None], SQUARE[None], SQUARE[None])],
    "einsum": [("ij,ij->i", SQUARE, SQUARE)],
    "dsplit": [(square_batch(1), 2)],
    "item": [(torch.tensor(0.5),)],
    "is_nonzero": [(torch.tensor(0.5),)],
    "where": [(MASK,)],
    "is_tensor": [(SQUARE,)],
    "meshgrid": [(LINE, LINE)],
    "float_power_": [(SQUARE.double(), 2)],
    "functional.glu": [(square_batch(1), 1)],
    "functional.grid_sample": [(square_batch(2), torch.zeros(1, 2, 2, 2))],
    "functional.embedding": [(LINE, SQUARE)],
    "functional.interpolate": [(square_batch(1), 2)],
    "functional.unfold": [(square_batch(2), 2)],
    "functional.linear": [(SQUARE, SQUARE)],
    "functional.group_norm": [(square_batch(1), 1)],
}
"""What some names are called with, the tensor first, where the examples do not suit."""


@dataclass(frozen=True)
class Trial:
    """One call that torch took: of the example of a kind, as it was before."""

    kind: str
    x: Tensor
    before: Tensor
    form: Callable[..., Any]
    given: tuple[Any, ...]
    output: Any

    def again(self, x: Tensor) -> Any:  # noqa: ANN401
        return self.form(x, *self.given)


def forms(name: str) -> list[Callable[..., Any]]:
    """The method and the function of this name; one of `nn.functional` for those."""
    if name.startswith("functional."):
        return [getattr(functional, name.partition(".")[2])]
    homes = (torch.linalg,) if name in OF_LINALG else (torch.Tensor, torch)
    return [getattr(home, name) for home in homes if inspect.isroutine(getattr(home, name, None))]


def trials(name: str) -> Iterator[Trial]:
    """Every form of the name on every example, as far as torch takes it."""
    short = name.rpartition(".")[2]
    for kind, example in EXAMPLES.items():
        options = CALLS.get(name) or [
            ([example, example],) if name in OF_LISTS else (example, *arguments(example).get(short, ()))
        ]
        for form in forms(name):
            for first, *given in options:
                x = first.clone() if isinstance(first, torch.Tensor) else first
                before = x.clone() if isinstance(first, torch.Tensor) else example
                try:
                    output = form(x, *given)
                except IMPOSSIBLE:
                    continue
                seen = element(before) if name in CALLS else kind
                yield Trial(seen, x if isinstance(first, torch.Tensor) else example, before, form, tuple(given), output)


def tried(name: str) -> list[Trial]:
    if name in NEED_CUDA and not torch.cuda.is_available():
        pytest.skip("it needs CUDA")
    found = list(trials(name))
    assert found, f"`{name}` takes no example {INSTALLED}"
    return found


def tensors(output: Any) -> Iterator[Tensor]:  # noqa: ANN401
    if isinstance(output, torch.Tensor):
        yield output
    elif isinstance(output, numpy.ndarray):
        yield torch.from_numpy(output)
    elif isinstance(output, tuple | list):
        for part in output:
            yield from tensors(part)


def element(tensor: Tensor) -> str:
    if tensor.dtype is torch.bool:
        return "bool"
    if tensor.is_complex():
        return "complex"
    return "float" if tensor.is_floating_point() else "integer"


def names_where(holds: Callable[[TensorMethod], bool]) -> list[str]:
    return sorted(name for name, row in ROWS.items() if holds(row))


def made(name: str) -> list[tuple[str, Tensor]]:
    """Pairs of the kind that goes in and a tensor that comes out."""
    if name in FACTORIES:
        return [("", tensor) for tensor in tensors(FACTORIES[name]())]
    return [(trial.kind, tensor) for trial in tried(name) for tensor in tensors(trial.output)]


def holds(name: str, claim: Callable[[str, Tensor], bool]) -> None:
    found = made(name)
    assert found, f"`{name}` returns no tensor {INSTALLED}"
    for kind, result in found:
        assert claim(kind, result), f"`{name}` of {kind} gives {result.dtype}, {tuple(result.shape)} {INSTALLED}"


def flat(tensor: Tensor) -> list[Any]:
    return tensor.flatten().tolist()  # type: ignore[no-any-return]


# What the result has of the elements.


@pytest.mark.parametrize("name", names_where(lambda row: row.values in ("same", "moved")))
def test_each_element_stays(name: str) -> None:
    for trial in tried(name):
        (result,) = tensors(trial.output)
        expected = flat(trial.before.to(result.dtype))
        assert sorted(flat(result)) == sorted(expected), INSTALLED
        if ROWS[name].values == "same":
            assert flat(result) == expected, INSTALLED
        elif trial.kind != "bool":
            assert flat(result) != expected, INSTALLED


@pytest.mark.parametrize("name", names_where(lambda row: row.values in ("some", "spread", "again", "joined")))
def test_elements_are_passed_on(name: str) -> None:
    for trial in tried(name):
        parts = list(tensors(trial.output))
        for part in parts:
            assert set(flat(part)) <= set(flat(trial.before)), INSTALLED
            if ROWS[name].values == "some" and trial.kind != "bool":
                assert len(set(flat(part))) == part.numel(), INSTALLED
            if ROWS[name].values == "spread":
                assert 0 in part.stride() or part.shape == trial.x.shape, INSTALLED
        if ROWS[name].values == "joined":
            assert sum(part.numel() for part in parts) == 2 * trial.before.numel(), INSTALLED


def seeded(call: Callable[[], Any]) -> list[list[Any]]:
    torch.manual_seed(0)
    output = call()
    return [flat(part) for part in tensors(output)] or [[str(output)]]


def others(x: Tensor) -> Iterator[Tensor]:
    """Tensors that hold something else than `x`."""
    yield torch.zeros_like(x)
    if x.dtype is torch.bool:
        yield ~x
        return
    yield x.flip(-1) if x.ndim else x + 1
    yield -x * 3 - 4
    if x.is_floating_point():
        yield from (torch.full_like(x, value) for value in (math.nan, math.inf, 1.5))


@pytest.mark.parametrize("name", names_where(lambda row: row.values == "read"))
def test_what_is_computed_hangs_on_the_elements(name: str) -> None:
    if name == "einsum":
        pytest.skip("its first argument is no tensor")
    for trial in tried(name):
        expected = seeded(lambda t=trial: t.again(t.before.clone()))  # type: ignore[misc]
        for other in others(trial.before):
            try:
                if seeded(lambda t=trial, o=other: t.again(o)) != expected:  # type: ignore[misc]
                    return
            except IMPOSSIBLE:
                return  # it looked at them: no matrix that has an inverse, no probability
    pytest.fail(f"`{name}` gives the same for any values {INSTALLED}")


@pytest.mark.parametrize("name", names_where(lambda row: row.describes))
def test_a_description_reads_no_memory(name: str) -> None:
    abstract = torch.empty(2, 3, device="meta")
    given = arguments(EXAMPLES["float"])
    for form in forms(name):
        form(abstract, *((abstract,) if name in ("is_same_size", "result_type") else given.get(name, ())))
    with pytest.raises(NotImplementedError):
        abstract.tolist()


@pytest.mark.parametrize("name", sorted(set(names_where(lambda row: row.values == "fresh")) - FACTORIES.keys()))
def test_nothing_is_left_of_what_is_overwritten(name: str) -> None:
    for trial in tried(name):
        expected = seeded(lambda t=trial: t.again(t.before.clone()))  # type: ignore[misc]
        assert all(seeded(lambda t=trial, o=other: t.again(o)) == expected for other in others(trial.before))  # type: ignore[misc]


# Memory and writes.


def shares(result: Tensor, x: Tensor) -> bool:
    return bool(result.untyped_storage().data_ptr() == x.untyped_storage().data_ptr())


@pytest.mark.parametrize("name", names_where(lambda row: row.memory == "shared"))
def test_memory_is_shared(name: str) -> None:
    for trial in tried(name):
        assert all(shares(part, trial.x) for part in tensors(trial.output)), INSTALLED


@pytest.mark.parametrize("name", names_where(lambda row: row.memory == "perhaps"))
def test_memory_may_be_shared(name: str) -> None:
    x = EXAMPLES["float"].double() if name in ("to", "type", "double") else EXAMPLES["float"]
    of_type = {"half": torch.half, "bfloat16": torch.bfloat16, "long": torch.long, "int": torch.int, "bool": torch.bool}
    narrow = {"short": torch.short, "byte": torch.uint8, "char": torch.int8}
    x = x.to({**of_type, **narrow}.get(name, x.dtype))
    if name in NEED_CUDA and not torch.cuda.is_available():
        pytest.skip("it needs CUDA")
    assert all(shares(form(x, *arguments(x).get(name, ())), x) for form in forms(name)), INSTALLED


@pytest.mark.parametrize("name", names_where(lambda row: row.memory != "shared" and row.values in ("again", "joined")))
def test_memory_is_never_shared(name: str) -> None:
    for trial in tried(name):
        assert not any(shares(part, trial.x) for part in tensors(trial.output)), INSTALLED


@pytest.mark.parametrize("name", names_where(lambda row: bool(row.writes)))
def test_a_write_changes_the_version(name: str) -> None:
    for trial in tried(name):
        assert trial.output is trial.x, INSTALLED
        assert trial.x._version > trial.before._version, INSTALLED


@pytest.mark.parametrize("name", names_where(lambda row: not row.writes and row.values not in ("", "fresh")))
def test_nothing_is_written(name: str) -> None:
    for trial in tried(name):
        if name not in OF_LISTS and trial.x is not None:
            assert flat(trial.x.contiguous()) == flat(trial.before) or ROWS[name].values == "moved", INSTALLED


@pytest.mark.parametrize("name", names_where(lambda row: bool(row.writes) and not row.draws))
def test_what_a_second_write_would_do(name: str) -> None:
    is_same, is_one = True, True
    for trial in tried(name):
        changed = trial.x[trial.x.ne(trial.before)]
        is_one = is_one and len(set(flat(changed))) <= 1
        once = trial.x.clone()
        is_same = is_same and torch.equal(trial.again(trial.x), once)
    expected = {"one": (True, True), "same again": (True, False), "each": (False, False)}[ROWS[name].writes]
    if ROWS[name].writes == "each":
        assert not (is_same and is_one), INSTALLED
    else:
        assert is_same is expected[0], INSTALLED
        assert is_one or not expected[1], INSTALLED


# Element types, shapes, results.


@pytest.mark.parametrize("name", names_where(lambda row: row.element in ("float", "integer", "bool")))
def test_a_name_makes_elements_of_one_type(name: str) -> None:
    holds(name, lambda _, result: element(result) == ROWS[name].element)


@pytest.mark.parametrize("name", names_where(lambda row: row.element == "same"))
def test_a_name_keeps_the_element_type(name: str) -> None:
    holds(name, lambda kind, result: element(result) == kind)


@pytest.mark.parametrize("name", names_where(lambda row: row.element == "counted"))
def test_a_name_counts_bools(name: str) -> None:
    dimension = (0,) if name.startswith("cum") else ()
    for form in forms(name):
        for kind, expected in (("bool", "integer"), ("integer", "integer"), ("float", "float")):
            assert element(form(EXAMPLES[kind], *dimension)) == expected, INSTALLED


@pytest.mark.parametrize("name", names_where(lambda row: row.shape == "same"))
def test_a_name_keeps_the_shape(name: str) -> None:
    for trial in tried(name):
        assert {part.shape for part in tensors(trial.output)} == {trial.before.shape}, INSTALLED


@pytest.mark.parametrize("name", names_where(lambda row: row.shape == "rank"))
def test_a_name_keeps_the_number_of_dimensions(name: str) -> None:
    for trial in tried(name):
        assert {part.ndim for part in tensors(trial.output)} == {trial.before.ndim}, INSTALLED


@pytest.mark.parametrize("name", names_where(lambda row: row.shape in ("same", "rank") and not row.results))
def test_a_name_keeps_the_rank_beside_a_tensor_of_more(name: str) -> None:
    for form in forms(name) if name.endswith("_as") else ():
        assert form(torch.ones(3), EXAMPLES["float"]).ndim == 1, INSTALLED


@pytest.mark.parametrize("name", names_where(lambda row: row.shape == "line"))
def test_a_name_makes_one_dimension(name: str) -> None:
    holds(name, lambda _, result: bool(result.ndim == 1))


@pytest.mark.parametrize("name", names_where(lambda row: row.shape == "given"))
def test_a_name_takes_its_dimensions(name: str) -> None:
    special: dict[str, list[tuple[int, ...]]] = {
        "expand": [(2, 3), (2, 2, 3)],
        "broadcast_to": [(2, 3), (2, 2, 3)],
    }
    sizes = special.get(name, [(6,), (3, 2), (2, 1, 3)])
    x = EXAMPLES["float"]
    called = 0
    for size in sizes:
        if hasattr(torch.Tensor, name):
            assert getattr(x, name)(size).ndim == len(size), INSTALLED
            assert name == "broadcast_to" or getattr(x, name)(*size).ndim == len(size), INSTALLED
            called += 1
        if hasattr(torch, name):
            function = getattr(torch, name)
            found = function(x, size) if hasattr(torch.Tensor, name) else function(*size)
            assert found.ndim == len(size), INSTALLED
            called += 1
    assert called


@pytest.mark.parametrize("name", names_where(lambda row: row.shape == "reduced"))
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


SEVERAL: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
    "unique": ((), {"return_inverse": True}),
    "unique_consecutive": ((), {"return_inverse": True}),
    "nonzero": ((), {"as_tuple": True}),
}


@pytest.mark.parametrize("name", names_where(lambda row: bool(row.results)))
def test_what_is_returned(name: str) -> None:
    kind = ROWS[name].results
    if kind == "pair":
        along = {"topk": (1,), "sort": (), "kthvalue": (1,)}.get(name, (1,))
        for form in forms(name):
            parts = form(EXAMPLES["float"], *along)
            assert [part.dtype for part in parts] == [torch.float32, torch.int64], INSTALLED
            assert ROWS[name].shape != "rank" or {part.ndim for part in parts} == {2}, INSTALLED
    elif name in SEVERAL:
        positional, keywords = SEVERAL[name]
        assert all(len(form(EXAMPLES["integer"], *positional, **keywords)) > 1 for form in forms(name)), INSTALLED
    elif name in ("storage", "untyped_storage", "register_hook", "backward"):
        x = torch.tensor(0.5, requires_grad=True)
        output = getattr(x, name)(*([print] if name == "register_hook" else []))
        assert not isinstance(output, torch.Tensor | bool | int | float), INSTALLED
    else:
        numbers = (bool, int, float)
        for trial in tried(name):
            is_number, is_array = isinstance(trial.output, numbers), isinstance(trial.output, numpy.ndarray)
            parts = list(tensors(trial.output)) if not is_array else []
            found = "number" if is_number else "array" if is_array else "several" if parts else "other"
            assert found == kind.replace("parts", "several"), INSTALLED


# Gradients, devices, waiting, randomness.


@pytest.mark.parametrize("name", sorted(set(names_where(lambda row: row.cuts_gradient)) - FACTORIES.keys()))
def test_no_gradient_comes_back(name: str) -> None:
    for trial in tried(name):
        if not trial.before.is_floating_point():
            continue
        try:
            output = trial.again(trial.before.clone().requires_grad_())
        except IMPOSSIBLE:
            continue  # `numpy` refuses
        assert not any(part.requires_grad for part in tensors(output)), INSTALLED


@pytest.mark.parametrize("name", names_where(lambda row: row.carries and not row.cuts_gradient and not row.results))
def test_a_gradient_flows_through_what_is_passed_on(name: str) -> None:
    if name.endswith("_") or name in NEED_CUDA:
        pytest.skip("torch refuses to change a leaf")
    for trial in tried(name):
        if trial.before.is_floating_point():
            output = trial.again(trial.before.clone().requires_grad_())
            assert all(part.requires_grad for part in tensors(output)), INSTALLED


@pytest.mark.parametrize("name", names_where(lambda row: row.device == "chosen"))
def test_the_device_may_be_chosen(name: str) -> None:
    x = EXAMPLES["float"]
    if name == "to":
        assert x.to("meta").is_meta
    elif name == "type_as":
        assert x.type_as(x.to("meta")).is_meta
    else:
        assert name in ("cpu", "cuda", "type")  # `type("torch.cuda.FloatTensor")`
        assert hasattr(torch.Tensor, name)


@pytest.mark.parametrize("name", names_where(lambda row: row.waits == "always"))
def test_the_host_needs_a_value(name: str) -> None:
    if name in FACTORIES:
        pytest.skip("it copies what the host holds")
    abstract = torch.empty((), device="meta") if name in ("item", "is_nonzero") else torch.empty(2, 3, device="meta")
    given = {"masked_select": (abstract > 0,), "equal": (abstract,), "allclose": (abstract,)}.get(name, ())
    for form in forms(name):
        with pytest.raises((RuntimeError, NotImplementedError, TypeError)):
            form(abstract, *given)


DRAWN: dict[str, Callable[[Tensor], Tensor]] = {
    "rand": lambda x: torch.rand(len(x)),
    "randn": lambda x: torch.randn(len(x)),
    "normal": lambda x: torch.normal(0.0, 1.0, (len(x),)),
    "randint": lambda x: torch.randint(5, (len(x),)),
    "randperm": lambda x: torch.randperm(len(x)) // 2,
    "random_": lambda x: x.random_(5),
    "multinomial": lambda x: torch.multinomial(x, len(x), replacement=True),
    "functional.gumbel_softmax": lambda x: functional.gumbel_softmax(x[:100], 0),
}


@pytest.mark.parametrize("name", names_where(lambda row: bool(row.draws)))
def test_a_name_draws(name: str) -> None:
    x = torch.full((200,), 0.5)
    torch.manual_seed(0)
    state = torch.default_generator.get_state()
    call = DRAWN.get(name)
    drawn = call(x) if call else forms(name)[0](x, *arguments(EXAMPLES["float"]).get(name, ()))
    assert not torch.equal(state, torch.default_generator.get_state()), INSTALLED
    repeats = len(drawn.unique()) < len(drawn)
    assert repeats is (ROWS[name].draws == "discrete"), INSTALLED


# Values.


@pytest.mark.parametrize("name", names_where(lambda row: bool(row.holds)))
def test_what_a_result_holds(name: str) -> None:
    for _, result in made(name):
        if ROWS[name].holds == "one value":
            assert len(set(flat(result))) == 1, INSTALLED
        elif ROWS[name].holds == "whole numbers":
            assert all(float(value).is_integer() for value in flat(result)), INSTALLED
        else:
            assert len(set(flat(result))) == result.numel(), INSTALLED


def in_type(value: Any, dtype: Any) -> Any:  # noqa: ANN401
    is_float = isinstance(value, torch.Tensor) and value.is_floating_point()
    return value.to(dtype) if is_float else value


@pytest.mark.parametrize("name", names_where(lambda row: row.rounds))
def test_a_result_is_rounded(name: str) -> None:
    """What double precision holds of the result is more than its type can."""
    torch.manual_seed(0)
    fine = torch.rand(64, 64) * 0.9 + 0.05
    special: dict[str, list[tuple[Any, ...]]] = {
        **{each: [(fine, fine)] for each in (*WITH_SQUARES.split(), "functional.linear", "einsum", "inner", "kron")},
        **{each: [(fine[0], fine[1])] for each in OF_VECTORS.split()},
        "einsum": [("ij,jk->ik", fine, fine)],
        "addmv": [(fine[0], fine, fine[0])],
        "addr": [(fine, fine[0], fine[0])],
        "addmm": [(fine, fine, fine)],
        "addbmm": [(fine, fine[None], fine[None])],
        "bmm": [(fine[None], fine[None])],
        "baddbmm": [(fine[None], fine[None], fine[None])],
        "mv": [(fine, fine[0])],
        "pow": [(fine, 1.7)],
        "float_power": [(fine, 1.7)],
        **{f"functional.{each}": [(fine, fine.T.contiguous())] for each in LOSSES},
        "functional.layer_norm": [(fine, (64,))],
        "functional.rms_norm": [(fine, (64,))],
        "functional.batch_norm": [(fine, torch.rand(64), torch.rand(64) + 0.5)],
        "functional.bilinear": [(fine, fine, torch.rand(2, 64, 64))],
        "functional.cross_entropy": [(fine, torch.arange(64))],
        "functional.nll_loss": [(fine, torch.arange(64))],
        "functional.group_norm": [(fine[None], 4)],
        "prod": [(fine[0],)],
        "det": [(fine,)],
        "inverse": [(fine,)],
    }
    short = name.rpartition(".")[2]
    convolution = "conv" in short
    if convolution:
        n = int(short[-2])
        weight = torch.rand(8, 8, *[3] * n)
        special[name] = [(torch.rand(1, 8, *[6] * n), weight)]
    for form in forms(name):
        options = special.get(name) or special.get(short) or [(fine, *arguments(fine).get(short, ()))]
        for given in options:
            try:
                wide = form(*(in_type(value, torch.float64) for value in given))
            except IMPOSSIBLE:
                continue
            assert not torch.equal(wide.float().double(), wide), INSTALLED
            return
    pytest.fail(f"`{name}` was not called {INSTALLED}")


# Names and types.


@pytest.mark.parametrize("name", names_where(lambda row: row.only_of_tensors))
def test_a_name_belongs_to_tensors_alone(name: str) -> None:
    assert callable(getattr(torch.Tensor, name, None)), INSTALLED
    classes = (numpy.ndarray, list, dict, str, set, tuple, bytes, int, float)
    assert [kind for kind in classes if hasattr(kind, name)] == []
    assert hasattr(torch.nn.Module, name) is (name in MODULES_TOO), INSTALLED


@pytest.mark.parametrize("name", ROWS)
def test_a_name_exists(name: str) -> None:
    assert forms(name), INSTALLED


@pytest.mark.parametrize(("name", "expected"), sorted(by_name(load_values().elements).items()))
def test_a_type_has_these_elements(name: str, expected: str) -> None:
    assert element(torch.empty(0).type(getattr(torch, name))) == expected, INSTALLED
