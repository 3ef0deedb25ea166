"""The conditions of the registry: what reaches an operator that varies, and what looks alike but does not."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest

pytest.importorskip("torch")

from tests.catalogue.tracing import INSTALLED, generator, on_cpu, passes
from tests.hardware.case import Tensor, torch
from tests.hardware.every import CASES
from tests.hardware.measure import determinism, same_bits
from torchlint.catalogue import load_catalogue
from torchlint.catalogue.versions import parse_minor

pytestmark = pytest.mark.torch

functional: Any = torch.nn.functional
RELEASE = parse_minor(torch.__version__)


@pytest.fixture(autouse=True)
def mode_off() -> Iterator[None]:
    yield
    torch.set_deterministic_debug_mode("default")
    torch.use_deterministic_algorithms(mode=False)
    torch.utils.deterministic.fill_uninitialized_memory = True


def needs_grad(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=generator()).requires_grad_()


def backward(forward: Callable[[], Tensor]) -> frozenset[str]:
    return passes(forward).backward


POOLS = [(functional.adaptive_avg_pool1d, 1), (functional.adaptive_avg_pool2d, 2), (functional.adaptive_avg_pool3d, 3)]


def area(x: Tensor, size: Any) -> Tensor:  # noqa: ANN401 - a number or a tuple
    return functional.interpolate(x, size=size, mode="area")


@pytest.mark.parametrize("dimensions", [1, 2, 3])
@pytest.mark.parametrize("resize", ["pool", "area"])
def test_an_output_size_of_one_is_a_mean(resize: str, dimensions: int) -> None:
    function = {number: pool for pool, number in POOLS}[dimensions] if resize == "pool" else area
    x = needs_grad(2, 3, *[6] * dimensions)
    sizes = [1, (1,) * dimensions] if resize == "pool" else [(1,) * dimensions]
    for size in sizes:
        names = passes(lambda size=size: function(x, size)).names  # type: ignore[misc]
        assert "aten.mean.dim" in names, f"{sorted(names)} {INSTALLED}"
        assert not any("adaptive" in name for name in names), f"{sorted(names)} {INSTALLED}"


@pytest.mark.parametrize(("pool", "dimensions"), POOLS[1:])
def test_an_output_size_of_one_and_none_is_no_mean(pool: Callable[..., Tensor], dimensions: int) -> None:
    size = (1, *[None] * (dimensions - 1))
    names = passes(lambda: pool(needs_grad(2, 3, *[6] * dimensions), size)).names
    assert f"aten._adaptive_avg_pool{dimensions}d_backward.default" in names, f"{sorted(names)} {INSTALLED}"


@pytest.mark.parametrize("pool", ["adaptive_max_pool1d", "adaptive_max_pool2d"])
def test_an_output_size_of_one_is_no_shortcut_for_maxima(pool: str) -> None:
    x = needs_grad(2, 3, *[6] * int(pool[-2]))
    names = passes(lambda: getattr(functional, pool)(x, 1)).names
    assert "aten.adaptive_max_pool2d_backward.default" in names, f"{sorted(names)} {INSTALLED}"


def test_repeat_interleave_by_a_number_selects_no_indices() -> None:
    x = needs_grad(4, 3)
    for call in (lambda: torch.repeat_interleave(x, 3, 0), lambda: x.repeat_interleave(3)):
        names = passes(call).names
        assert not any("index" in name for name in names), f"{sorted(names)} {INSTALLED}"


NO_2D = [(3, 5), (5,)]
REACH_2D = [(3, 5, 4), (3, 5, 4, 4), (3, 5, 2, 2, 2)]


@pytest.mark.parametrize("shape", NO_2D + REACH_2D)
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_the_rank_of_the_logits_decides_which_loss_runs(shape: tuple[int, ...], smoothing: float) -> None:
    target = torch.zeros(shape[:1] + shape[2:] if len(shape) > 1 else (), dtype=torch.int64)
    names = passes(lambda: functional.cross_entropy(needs_grad(*shape), target, label_smoothing=smoothing)).names
    assert ("aten.nll_loss2d_backward.default" in names) is (shape in REACH_2D), f"{sorted(names)} {INSTALLED}"
    assert ("aten.nll_loss_backward.default" in names) is (shape in NO_2D), f"{sorted(names)} {INSTALLED}"


def test_targets_that_are_probabilities_reach_no_such_loss() -> None:
    names = passes(lambda: functional.cross_entropy(needs_grad(3, 5, 4), torch.full((3, 5, 4), 0.2))).names
    assert not any("nll_loss" in name for name in names), f"{sorted(names)} {INSTALLED}"


EXTREMES = [
    *(("scatter_reduce_extremes", call) for call in CASES["scatter_reduce_extremes"].calls),
    *(("index_reduce_extremes", call) for call in CASES["index_reduce_extremes"].calls),
]
SUMS = [("scatter_reduce_sum_mean", "Tensor.scatter_reduce('sum')"), ("scatter_add", "Tensor.scatter_add")]


@pytest.mark.filterwarnings("ignore:index_reduce")  # that it is in beta
@pytest.mark.parametrize(("identity", "call"), EXTREMES + SUMS)
def test_extremes_do_not_depend_on_the_order_and_sums_do(identity: str, call: str) -> None:
    inputs = CASES[identity].build("cpu", "large", generator())
    order = torch.randperm(len(inputs["index"]), generator=generator())
    mixed = {**inputs, "index": inputs["index"][order], "source": inputs["source"][order]}
    (first,), (second,) = (CASES[identity].outputs(call, given) for given in (inputs, mixed))
    assert same_bits(first, second) is ((identity, call) in EXTREMES), INSTALLED


def test_counting_does_not_depend_on_the_order_and_weighing_does() -> None:
    inputs = CASES["bincount"].build("cpu", "large", generator())
    order = torch.randperm(len(inputs["x"]), generator=generator())
    x, weights = inputs["x"], inputs["weights"]
    assert same_bits(torch.bincount(x), torch.bincount(x[order])), INSTALLED
    assert not same_bits(torch.bincount(x, weights), torch.bincount(x[order], weights[order])), INSTALLED


UNIQUE: dict[str, Callable[[], Tensor]] = {
    "put_": lambda: torch.zeros(4).put_(torch.arange(4), torch.ones(4)),
    "max_unpool": lambda: functional.max_unpool2d(torch.ones(1, 2, 2), torch.arange(4).reshape(1, 2, 2), 2),
}


@pytest.mark.parametrize("identity", UNIQUE)
def test_any_input_is_refused_where_the_registry_says(identity: str) -> None:
    row = load_catalogue().operator(identity).row_for("cpu", RELEASE)
    assert row is not None
    UNIQUE[identity]()
    with determinism("on"), pytest.raises(RuntimeError, match="deterministic"):
        UNIQUE[identity]()
    assert row.any_input, INSTALLED


def test_take_puts_in_its_backward_pass_and_take_along_dim_does_not() -> None:
    x, index = needs_grad(8), torch.tensor([1, 1, 2])
    assert "aten.put.default" in backward(lambda: torch.take(x, index)), INSTALLED
    along = backward(lambda: torch.take_along_dim(x, index, 0))
    assert not any(name.startswith("aten.put") for name in along), INSTALLED
    assert "aten.scatter_add.default" in along, INSTALLED


@pytest.mark.parametrize(
    ("options", "reflects"),
    [({}, True), ({"pad_mode": "reflect"}, True), ({"pad_mode": "constant"}, False), ({"center": False}, False)],
)
def test_stft_reflects_where_the_registry_says(options: dict[str, Any], reflects: bool) -> None:  # noqa: FBT001
    x = needs_grad(100)
    names = backward(lambda: torch.stft(x, 16, window=torch.ones(16), return_complex=True, **options).abs())
    assert ("aten.reflection_pad1d_backward.default" in names) is reflects, f"{sorted(names)} {INSTALLED}"
    assert "aten.index_add_.default" in names, f"as_strided_backward {sorted(names)} {INSTALLED}"


def test_slices_add_at_no_indices() -> None:
    x = needs_grad(8, 4)
    assert not any("index" in name for name in backward(lambda: x[1:5, 2])), INSTALLED
    assert "aten.index_put.default" in backward(lambda: x[[1, 1, 5]]), INSTALLED


def test_a_boolean_mask_is_an_index_too() -> None:
    x = needs_grad(8)
    assert "aten.index_put.default" in backward(lambda: x[x > 0]), INSTALLED


def test_unfold_adds_at_no_indices_and_as_strided_does() -> None:
    x = needs_grad(32)
    assert not any("index" in name for name in backward(lambda: x.unfold(0, 4, 1))), INSTALLED
    assert "aten.index_add_.default" in backward(lambda: x.as_strided((29, 4), (1, 1))), INSTALLED


@pytest.mark.parametrize("call", CASES["gather_backward"].calls)
def test_gathering_calls_scatter_in_their_backward_pass(call: str) -> None:
    assert "aten.scatter_add.default" in on_cpu("gather_backward", call).backward, INSTALLED


def test_products_sum_cumulatively_where_the_registry_says() -> None:
    for call in CASES["cumprod"].calls:
        assert "aten.cumsum.default" in on_cpu("cumprod", call).backward, INSTALLED
    for call in CASES["prod_backward"].calls:
        assert "aten.cumprod.default" in on_cpu("prod_backward", call).backward, INSTALLED
        assert "aten.cumsum.default" not in on_cpu("prod_backward", call).names, INSTALLED


@pytest.mark.parametrize(
    ("pool", "dimensions"), [("avg_pool1d", 1), ("avg_pool2d", 2), ("lp_pool2d", 2), ("max_pool1d", 1)]
)
def test_pools_of_fewer_dimensions_reach_no_kernel_of_three(pool: str, dimensions: int) -> None:
    x, options = needs_grad(2, 3, *[8] * dimensions), (2, 3) if pool == "lp_pool2d" else (3,)
    names = passes(lambda: getattr(functional, pool)(x, *options)).names
    assert any("pool" in name for name in names), f"{sorted(names)} {INSTALLED}"
    assert not any("pool3d" in name or "adaptive" in name for name in names), f"{sorted(names)} {INSTALLED}"


FILLED = [
    *((dtype, float("nan")) for dtype in (torch.float32, torch.float16, torch.bfloat16)),
    *((dtype, torch.iinfo(dtype).max) for dtype in (torch.int64, torch.int32, torch.uint8)),
    (torch.bool, True),
]


@pytest.mark.parametrize(("dtype", "value"), FILLED)
def test_the_mode_fills_uninitialised_memory(dtype: Tensor, value: float) -> None:
    expected = torch.full((4,), value, dtype=dtype)
    some = torch.zeros(4, dtype=dtype)
    with determinism("on"):
        made = [torch.empty(4, dtype=dtype), torch.empty_like(some), some.new_empty(4), some[:0].clone().resize_(4)]
    for filled in made:
        assert torch.equal(filled.nan_to_num(7), expected.nan_to_num(7)), f"{filled} {INSTALLED}"


@pytest.mark.parametrize("call", CASES["uninitialized_memory"].calls)
def test_the_mode_fills_what_every_call_returns(call: str) -> None:
    case = CASES["uninitialized_memory"]
    with determinism("on"):
        (filled,) = case.outputs(call, case.build("cpu", "small", generator()))
    assert bool(filled.isnan().all()), INSTALLED


def test_only_use_deterministic_algorithms_sets_inductor_s_flag() -> None:
    """Since torch 2.10, as the registry has it; before, nothing set it."""
    compiled = load_catalogue().operator("inductor_compile")
    config: Any = importlib.import_module("torch._inductor.config")
    row = compiled.row_for("cpu", RELEASE)
    assert row is not None
    coupled = row.under_mode == "deterministic_alternative"
    assert hasattr(config, "deterministic") is coupled, INSTALLED
    if coupled:
        before = config.deterministic
        torch.set_deterministic_debug_mode("error")
        assert config.deterministic is before, INSTALLED
        assert torch.are_deterministic_algorithms_enabled(), INSTALLED
        torch.use_deterministic_algorithms(mode=True)
        assert config.deterministic is True, INSTALLED
        torch.use_deterministic_algorithms(mode=False)
        assert config.deterministic is False, INSTALLED


def test_the_mode_leaves_cudnn_s_switches_alone() -> None:
    cudnn = torch.backends.cudnn
    before = (cudnn.deterministic, cudnn.benchmark)
    with determinism("on"):
        assert (cudnn.deterministic, cudnn.benchmark) == before, INSTALLED


@pytest.mark.parametrize(("needs_image", "needs_grid"), [(True, True), (False, True), (True, False)])
def test_a_grid_alone_runs_the_backward_pass_without_a_gradient_for_the_image(
    needs_image: bool,  # noqa: FBT001
    needs_grid: bool,  # noqa: FBT001
) -> None:
    image = torch.rand(1, 1, 4, 4, requires_grad=needs_image)
    grid = torch.zeros(1, 3, 3, 2, requires_grad=needs_grid)
    names = backward(lambda: functional.grid_sample(image, grid, align_corners=False))
    assert "aten.grid_sampler_2d_backward.default" in names, INSTALLED
    functional.grid_sample(image, grid, align_corners=False).sum().backward()
    assert (image.grad is not None, grid.grad is not None) == (needs_image, needs_grid), INSTALLED
