"""Probe `trace`: every operator of the registry that the CPU can show, both lines, and the uses that are harmless."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import msgspec
import pytest

pytest.importorskip("torch")

import torch
from torch import nn
from torch.nn import functional

from tests.catalogue.test_operator_behaviour import OTHER_DEVICES
from tests.hardware.every import CASES
from tests.verify.flagged import OPERATORS, RELEASE, context, finding, finding_in, floats, indices
from torchlint.recording.messages import Answer
from torchlint.recording.probes import trace
from torchlint.verify.operator_facts import operator_facts

pytestmark = pytest.mark.torch

UNMET = {
    ("gather_backward", "torch.quantile"): "all distinct",
    ("gather_backward", "torch.nanquantile"): "all distinct",
    ("cudnn_rnn", "nn.RNN"): "none of this finding's operators",  # the CPU makes them of cells in a loop
    ("cudnn_rnn", "nn.GRU"): "none of this finding's operators",
    ("adaptive_avg_pool2d", "nn.AdaptiveAvgPool2d((1, None))"): "share no element",
    ("adaptive_max_pool2d", "nn.AdaptiveMaxPool2d(1)"): "share no element",
    ("histc", "torch.histc"): "counts exactly",
    ("histc", "Tensor.histc"): "counts exactly",
}
"""Calls of the cases whose circumstances are not those that vary: the mode refuses some of them all the same."""


class Called(nn.Module):
    """A module that makes the call of a case."""

    def __init__(self, call: Any) -> None:  # noqa: ANN401
        super().__init__()
        self.call = call

    def forward(self, **inputs: Any) -> Any:  # noqa: ANN401
        return self.call(**inputs)


def cases() -> list[tuple[str, str]]:
    found = []
    for identity, case in CASES.items():
        entry = OPERATORS.get(identity)
        if entry is None or "cpu" not in case.devices or not set(entry.aten) - OTHER_DEVICES.keys():
            continue
        if any(facts.varies_on for facts in operator_facts([entry], RELEASE)):
            found += [(identity, call) for call in case.calls]
    return found


def traced_case(identity: str, call: str) -> Answer:
    case = CASES[identity]
    function = case.calls[call]
    warnings.simplefilter("ignore")  # prototypes (sparse layouts, quantisation) announce themselves
    inputs = case.build("cpu", "small", torch.Generator().manual_seed(0))
    wanted = function.__code__.co_varnames[: function.__code__.co_argcount]
    lines = [line for *_, line in function.__code__.co_lines() if line]
    flagged = finding(min(lines), max(lines), identity)
    kwargs = {name: inputs[name] for name in wanted}
    made = context(lambda: Called(function), flagged, kwargs=kwargs, path=function.__code__.co_filename)
    return trace.probe(made, flagged)


@pytest.mark.parametrize(("identity", "call"), cases())
def test_every_operator_that_the_cpu_has_is_traced_to_its_line(identity: str, call: str) -> None:
    if call.startswith("F.") and not hasattr(functional, call.removeprefix("F.")):
        pytest.skip(f"torch {torch.__version__} has no {call}")
    found = traced_case(identity, call)
    if (identity, call) in UNMET:
        assert found.verdict == "NOT REPRODUCED"
        assert UNMET[identity, call] in found.reason
        return
    if "cpu" not in OPERATORS_VARY[identity] and OPERATORS_VARY[identity] == ("mps",):
        assert found.verdict in ("TRACED", "NOT REPRODUCED")
        return
    assert found.verdict == "TRACED", found.reason
    assert found.evidence["operator"] in OPERATORS[identity].aten
    line = found.evidence["forward_line"]
    assert isinstance(line, dict)
    assert line["in_target"]
    if identity != "cudnn_rnn":  # its layer is one of the inputs, and was made before anyone remembered
        assert isinstance(found.evidence["constructor_line"], dict)


OPERATORS_VARY = {
    identity: operator_facts([OPERATORS[identity]], RELEASE)[0].varies_on for identity in CASES if identity in OPERATORS
}


class Inpainter(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3, padding=1, padding_mode="replicate")
        self.second = nn.Conv2d(8, 8, 3, padding=1, padding_mode="replicate")  # flagged

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        hidden = self.first(image)
        return self.second(hidden)  # type: ignore[no-any-return]


def test_a_layer_is_traced_to_its_constructor_and_to_the_call_of_its_module() -> None:
    flagged = finding_in(Inpainter, "replication_pad2d")
    found = trace.probe(context(Inpainter, flagged, floats(2, 3, 8, 8)), flagged)
    assert found.verdict == "TRACED"
    assert found.evidence["operator"] == "aten.replication_pad2d_backward.default"
    constructor, forward = found.evidence["constructor_line"], found.evidence["forward_line"]
    assert isinstance(constructor, dict)
    assert isinstance(forward, dict)
    assert constructor["line"] == flagged.line
    assert forward["line"] == flagged.line + 4
    assert found.evidence["module"] == "second"
    assert found.evidence["predicts"] == "cuda"


def test_no_backward_pass_flows_through_the_first_layer_on_raw_input() -> None:
    second = finding_in(Inpainter, "replication_pad2d")
    first = finding(second.line - 1, second.line - 1, "replication_pad2d")
    found = trace.probe(context(Inpainter, first, floats(2, 3, 8, 8)), first)
    assert found.verdict == "NOT REPRODUCED"
    assert "no backward pass flows through it" in found.reason


class PaddedByNothing(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Conv2d(3, 4, 3)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        return functional.pad(self.body(image), [0, 0, 0, 0], "replicate")  # flagged


def test_a_padding_that_copies_nothing_is_not_traced() -> None:
    flagged = finding_in(PaddedByNothing, "replication_pad2d")
    found = trace.probe(context(PaddedByNothing, flagged, floats(2, 3, 8, 8)), flagged)
    assert found.verdict == "NOT REPRODUCED"
    assert "padded nothing" in found.reason


class Unreached(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.pad = nn.ReplicationPad2d(1)  # flagged
        self.body = nn.Conv2d(3, 4, 3)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        return self.body(image)  # type: ignore[no-any-return]


def test_a_line_that_was_not_reached_is_said_to_be_so() -> None:
    flagged = finding_in(Unreached, "replication_pad2d")
    found = trace.probe(context(Unreached, flagged, floats(2, 3, 8, 8)), flagged)
    assert (found.verdict, found.reason) == ("NOT REPRODUCED", "the flagged line was not reached")


class OwnLayer(nn.Conv2d):
    def __init__(self, channels: int) -> None:
        super().__init__(channels, channels, 3, padding=1, padding_mode="replicate")


class WithOwnLayer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lift = nn.Conv2d(3, 4, 1)
        self.layer = OwnLayer(4)  # flagged

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        return self.layer(self.lift(image))  # type: ignore[no-any-return]


def test_a_subclass_of_a_layer_counts_at_its_own_super_call_and_where_it_is_made() -> None:
    made = finding_in(WithOwnLayer, "replication_pad2d")
    _, first = inspect.getsourcelines(OwnLayer)
    inside = finding(first + 2, first + 2, "replication_pad2d")
    for flagged in (made, inside):
        assert trace.probe(context(WithOwnLayer, flagged, floats(2, 3, 8, 8)), flagged).verdict == "TRACED"


class Gradient(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, values: torch.Tensor, index: torch.Tensor) -> torch.Tensor:  # noqa: ANN401
        ctx.save_for_backward(index)
        ctx.rows = values.shape[0]
        return values.detach()[index]

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, None]:  # noqa: ANN401
        (index,) = ctx.saved_tensors
        total = gradient.new_zeros(ctx.rows, *gradient.shape[1:])
        return total.index_add(0, index, gradient), None  # flagged


class Lookup(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.rows = nn.Parameter(floats(8, 4))

    def forward(self, index: torch.Tensor) -> torch.Tensor:
        return Gradient.apply(self.rows, index)  # type: ignore[no-any-return,no-untyped-call]


def test_in_a_custom_backward_the_line_is_the_one_inside_it() -> None:
    flagged = finding_in(Gradient, "index_add")
    both = finding(flagged.line, flagged.line, "index_add")
    made = context(Lookup, both, indices(8, 64))
    events = [event for event in made.recorded.events if event.name == "aten.index_add.default"]
    assert [event.forward_lines[0].number for event in events] == [flagged.line]


class Harmless(nn.Module):
    """Uses that share an operator's name with those that vary."""

    def __init__(self, use: str) -> None:
        super().__init__()
        self.use = use
        self.weight = nn.Parameter(floats(16, 8))

    def forward(self, values: torch.Tensor) -> Any:  # noqa: ANN401
        weight = self.weight * values.mean()
        return getattr(self, self.use)(weight)

    def greatest(self, weight: torch.Tensor) -> torch.Tensor:
        return weight.max(dim=1).values

    def sorted(self, weight: torch.Tensor) -> torch.Tensor:
        return weight.sort(dim=1).values

    def best(self, weight: torch.Tensor) -> torch.Tensor:
        return weight.topk(3, dim=1).values

    def masked(self, weight: torch.Tensor) -> torch.Tensor:
        kept = weight.clone()
        kept[weight > 0] = 0.0
        return kept

    def read_mask(self, weight: torch.Tensor) -> torch.Tensor:
        return weight[weight > 0]

    def unique_rows(self, weight: torch.Tensor) -> torch.Tensor:
        return weight.new_zeros(16, 8).index_add(0, torch.arange(15, -1, -1), weight)

    def unique_places(self, weight: torch.Tensor) -> torch.Tensor:
        return weight.new_zeros(16, 8).scatter_add(0, torch.arange(16)[:, None].expand(16, 8), weight)

    def counted(self, weight: torch.Tensor) -> torch.Tensor:
        counts = torch.zeros(4, dtype=torch.int64)
        return weight.sum() + counts.index_add(0, torch.zeros(16, dtype=torch.int64), torch.ones(16).long()).sum()

    def product(self, weight: torch.Tensor) -> torch.Tensor:
        return weight.prod(dim=1)

    def running_product(self, weight: torch.Tensor) -> torch.Tensor:
        return weight.cumprod(dim=1)

    def picked(self, weight: torch.Tensor) -> torch.Tensor:
        return weight.gather(1, torch.zeros(16, 1, dtype=torch.int64))

    def least(self, weight: torch.Tensor) -> torch.Tensor:
        return weight.min(dim=0).values

    def middle(self, weight: torch.Tensor) -> torch.Tensor:
        return weight.median(dim=1).values + weight.kthvalue(2, dim=1).values

    def assigned_by_mask(self, weight: torch.Tensor) -> torch.Tensor:
        kept = weight.clone()
        kept[weight > 0] = weight[weight > 0] * 2
        return kept

    def assigned_by_slice(self, weight: torch.Tensor) -> torch.Tensor:
        kept = weight.clone()
        kept[::2, 1:3] = weight[1::2, 4:6]
        return kept

    def embedded(self, weight: torch.Tensor) -> torch.Tensor:
        return functional.embedding(torch.arange(15, -1, -1), weight)

    def shuffled(self, weight: torch.Tensor) -> torch.Tensor:
        return weight[torch.randperm(16)] + weight.index_select(0, torch.randperm(16))

    def labelled(self, weight: torch.Tensor) -> torch.Tensor:
        bins = torch.zeros(16, 8, dtype=torch.int64)
        return weight + torch.zeros(16, 8, dtype=torch.int64).scatter_add(0, bins, torch.ones_like(bins))

    def gathered_groups(self, weight: torch.Tensor) -> torch.Tensor:
        groups = (torch.arange(16) * 3 % 16).unique()
        return weight.new_zeros(16, 8).index_add(0, groups, weight)

    def one_hot(self, weight: torch.Tensor) -> torch.Tensor:
        places = torch.zeros(16, 8).scatter_(1, weight.argmax(1, keepdim=True), 1.0)
        return weight * places


ABOUT_INDICES = (
    "scatter_src",
    "scatter_add",
    "index_add",
    "index_put_set",
    "index_put_accumulate",
    "gather_backward",
    "index_select_backward",
    "getitem_backward",
    "cumprod_backward",
)


@pytest.mark.parametrize("use", [name for name in vars(Harmless) if name != "forward" and name[0] != "_"])
def test_harmless_uses_are_not_traced(use: str) -> None:
    lines, first = inspect.getsourcelines(getattr(Harmless, use))
    entries = [entry for entry in (*ABOUT_INDICES, "cumprod", "cumsum") if entry in OPERATORS]
    flagged = finding(first, first + len(lines), *entries)
    found = trace.probe(context(lambda: Harmless(use), flagged, floats(4), path=__file__), flagged)
    assert found.verdict in ("NOT REPRODUCED", "REFUTED"), (found.reason, found.evidence)


def test_indices_that_the_code_fixes_and_that_never_repeat_refute() -> None:
    lines, first = inspect.getsourcelines(Harmless.unique_rows)
    flagged = finding(first, first + len(lines), "index_add")
    found = trace.probe(context(lambda: Harmless("unique_rows"), flagged, floats(4), path=__file__), flagged)
    assert found.verdict == "REFUTED"
    assert "all distinct" in found.reason


class Scatter(nn.Module):
    def forward(self, values: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        return torch.zeros(100, 4).index_add(0, index, values)  # flagged


def test_distinct_indices_of_the_inputs_refute_nothing() -> None:
    flagged = finding_in(Scatter, "index_add")
    found = trace.probe(context(Scatter, flagged, floats(8, 4), torch.arange(8)), flagged)
    assert found.verdict == "NOT REPRODUCED"


@pytest.mark.parametrize(
    ("values", "index"),
    [(floats(2, 4), torch.tensor([0, 1])), (floats(1, 4), torch.tensor([3])), (floats(2, 4), torch.tensor([0, 7]))],
    ids=["two that differ", "a single one", "two far apart"],
)
def test_few_indices_that_happen_to_differ_refute_nothing(values: torch.Tensor, index: torch.Tensor) -> None:
    flagged = finding_in(Scatter, "index_add")
    for seed in range(5):
        found = trace.probe(context(Scatter, flagged, values, index, seed=seed), flagged)
        assert found.verdict == "NOT REPRODUCED", found.reason


class Grouped(nn.Module):
    """Writes to distinct rows only as long as a batch is as small as this one, or values are as they are."""

    def __init__(self, by: str) -> None:
        super().__init__()
        self.by = by
        self.gate = nn.Parameter(torch.tensor([[5.0, 0.0, 0.0], [0.0, 5.0, 0.0]]))

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        places = {
            "size": torch.arange(len(values)) % 5,
            "weights": (self.gate.argmax(1).repeat(len(values) // 2 + 1))[: len(values)],
            "magnitude": torch.arange(len(values)) * (values.abs().max() < 50).long(),
        }[self.by]
        return torch.zeros(100, 4).index_add(0, places, values)  # flagged


@pytest.mark.parametrize("by", ["size", "weights", "magnitude"])
def test_what_other_sizes_weights_or_magnitudes_may_repeat_refutes_nothing(by: str) -> None:
    flagged = finding_in(Grouped, "index_add")
    found = trace.probe(context(lambda: Grouped(by), flagged, floats(2, 4), path=__file__), flagged)
    assert found.verdict == "NOT REPRODUCED", found.reason


class Perceptron(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.last = nn.Linear(8, 16), nn.Linear(16, 2)

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        hidden = torch.relu(self.first(values))  # flagged
        return self.last(hidden) + (hidden[None] @ hidden.T[None]).mean()  # type: ignore[no-any-return]


def test_products_of_dense_tensors_are_no_sparse_products() -> None:
    lines, first = inspect.getsourcelines(Perceptron)
    flagged = finding(first, first + len(lines), "sparse_mm", "bmm_sparse")
    found = trace.probe(context(Perceptron, flagged, floats(4, 8)), flagged)
    assert (found.verdict, "none of its operands is sparse" in found.reason) == ("NOT REPRODUCED", True)
    by_name = msgspec.structs.replace(flagged, code="")
    found = trace.probe(context(Perceptron, by_name, floats(4, 8)), by_name)
    assert found.verdict == "NOT REPRODUCED"
    assert found.reason.startswith("it dispatched no operator on cpu that the registry knows to vary")


class Histogram(nn.Module):
    def forward(self, values: torch.Tensor) -> torch.Tensor:
        return torch.histc(values, bins=8)  # flagged


class ChangedInPlace(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 4, 3), nn.InstanceNorm2d(4, affine=True), nn.ReLU(inplace=True))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.body(x)  # type: ignore[no-any-return]


class Frames(ChangedInPlace):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.body(x).flatten().as_strided((20, 8), (4, 1))  # type: ignore[no-any-return]


@pytest.mark.parametrize(("model", "verdict"), [(ChangedInPlace, "NOT REPRODUCED"), (Frames, "TRACED")])
def test_only_views_that_hold_an_element_twice_vary(model: type[nn.Module], verdict: str) -> None:
    """What is changed in place behind a view goes backward through `as_strided`, too."""
    by_name = msgspec.structs.replace(finding(1, 10_000, "stft_frames", "as_strided_backward"), code="")
    assert trace.probe(context(model, by_name, floats(2, 3, 8, 8)), by_name).verdict == verdict


class Packed(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(8, 8)
        self.body = nn.GRU(8, 4, batch_first=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        lengths = torch.tensor([1, 3])
        packed = nn.utils.rnn.pack_padded_sequence(self.first(x), lengths, batch_first=True, enforce_sorted=False)
        return self.body(packed)[1]  # type: ignore[no-any-return]


class Repeated(Packed):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.body(self.first(x).repeat_interleave(torch.tensor([2, 1]), dim=0))[1]  # type: ignore[no-any-return]


@pytest.mark.parametrize(("model", "verdict"), [(Packed, "NOT REPRODUCED"), (Repeated, "TRACED")])
def test_only_places_that_are_met_twice_add_up(model: type[nn.Module], verdict: str) -> None:
    """Rows that packing puts in order go backward through `index_add`, each to a place of its own."""
    by_name = msgspec.structs.replace(
        finding(1, 10_000, "repeat_interleave_backward", "index_select_backward"), code=""
    )
    assert trace.probe(context(model, by_name, floats(2, 3, 8)), by_name).verdict == verdict


def test_a_histogram_of_few_values_counts_exactly() -> None:
    flagged = finding_in(Histogram, "histc")
    found = trace.probe(context(Histogram, flagged, floats(64)), flagged)
    assert found.verdict == "NOT REPRODUCED"
    assert "counts exactly below 16,777,216" in found.reason


class Placed(nn.Module):
    def forward(self, values: torch.Tensor) -> torch.Tensor:
        return torch.zeros(64).put(torch.arange(64), values)  # flagged


class Multiplied(nn.Module):
    def forward(self, values: torch.Tensor) -> torch.Tensor:
        return torch.ones(64).scatter_reduce(0, torch.arange(64), values, "prod")  # flagged


@pytest.mark.parametrize(
    ("model", "entry"), [(Histogram, "histc"), (Placed, "put_"), (Multiplied, "scatter_reduce_prod")]
)
def test_what_the_mode_refuses_is_judged_with_the_mode_on(model: type[nn.Module], entry: str) -> None:
    """A program that turns the mode on is refused these calls whatever their values are."""
    flagged = finding_in(model, entry)
    assert trace.probe(context(model, flagged, floats(64)), flagged).verdict != "TRACED"
    refused = finding_in(model, entry, is_refused=True)
    found = trace.probe(context(model, refused, floats(64)), refused)
    assert (found.verdict, "torch refuses on CUDA" in found.reason) == ("TRACED", True), found.reason


def test_what_hangs_on_invented_inputs_is_said_to() -> None:
    flagged = finding_in(Scatter, "index_add")
    repeated = torch.tensor([0, 0, 1])
    for is_invented in (True, False):
        made = context(Scatter, flagged, floats(3, 4), repeated, has_invented_inputs=is_invented)
        found = trace.probe(made, flagged)
        assert found.verdict == "TRACED"
        assert ("invented" in found.reason) == is_invented


class Meets(nn.Module):
    """Equal values meet as the inputs have it, where nothing before makes others of them."""

    def __init__(self, use: str) -> None:
        super().__init__()
        self.use = use
        self.body = nn.Linear(4, 4)

    def forward(self, values: torch.Tensor, index: torch.Tensor) -> Any:  # noqa: ANN401
        return getattr(self, self.use)(values, index)

    def added(self, values: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        return torch.zeros(100, 4).index_add(0, index, values)

    def scattered(self, values: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        return torch.zeros(100, 4).scatter_add(0, index[:, None].expand(-1, 4), values)

    def put(self, values: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        return torch.zeros(100, 4).index_put((index,), values, accumulate=True)

    def truncated(self, values: torch.Tensor, _index: torch.Tensor) -> torch.Tensor:
        return torch.zeros(100, 4).index_add(0, values[:, 0].mul(90).long().clamp(0, 99), values)

    def middle(self, values: torch.Tensor, _index: torch.Tensor) -> torch.Tensor:
        return values.median(dim=0).indices

    def second(self, values: torch.Tensor, _index: torch.Tensor) -> torch.Tensor:
        return torch.kthvalue(values, 2, dim=0)[1]

    def largest(self, values: torch.Tensor, _index: torch.Tensor) -> torch.Tensor:
        return values.topk(2, dim=0)[1]

    def of_layer(self, values: torch.Tensor, _index: torch.Tensor) -> torch.Tensor:
        return self.body(values + torch.linspace(0, 1, 4)).median(dim=1).indices  # type: ignore[no-any-return]

    def ordered(self, values: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        return torch.zeros(100, 4).index_add(0, index.argsort(), values)


MEETING = ("index_add", "scatter_add", "index_put_accumulate", "median_dim", "kthvalue", "topk_ties")


@pytest.mark.parametrize("use", [name for name in vars(Meets) if name != "forward" and name[0] != "_"])
@pytest.mark.parametrize("is_invented", [True, False])
def test_invented_inputs_can_show_what_the_finding_is_about(use: str, is_invented: bool) -> None:  # noqa: FBT001
    lines, first = inspect.getsourcelines(getattr(Meets, use))
    flagged = finding(first, first + len(lines), *MEETING)
    values = torch.tensor([[0.1, 0.2, 0.3, 0.4], [0.6, 0.7, 0.8, 0.9], [0.5, 0.15, 0.35, 0.45]])
    inputs = (values, torch.arange(3))
    made = context(lambda: Meets(use), flagged, *inputs, path=__file__, has_invented_inputs=is_invented)
    found = trace.probe(made, flagged)
    is_shown = is_invented and use not in ("of_layer", "ordered")
    assert found.verdict == ("TRACED" if is_shown else "NOT REPRODUCED"), found.reason
    assert ("invented" in found.reason) == is_invented


def test_the_share_of_repeated_indices_is_told() -> None:
    flagged = finding_in(Scatter, "index_add")
    found = trace.probe(context(Scatter, flagged, floats(8, 4), torch.tensor([0, 0, 0, 0, 1, 2, 3, 4])), flagged)
    assert found.verdict == "TRACED"
    assert found.evidence["repeated_indices"] == pytest.approx(3 / 8)


def test_a_whole_number_sum_is_refuted_by_its_type() -> None:
    lines, first = inspect.getsourcelines(Harmless.counted)
    flagged = finding(first, first + len(lines), "index_add")
    found = trace.probe(context(lambda: Harmless("counted"), flagged, floats(4), path=__file__), flagged)
    assert "integer data" in found.reason


class Resampled(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Conv2d(3, 4, 1)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        return functional.interpolate(self.body(image), scale_factor=2.0, mode="bilinear")  # flagged


def test_a_call_in_forward_has_its_line_and_no_constructor_of_a_layer() -> None:
    flagged = finding_in(Resampled, "upsample_bilinear2d")
    found = trace.probe(context(Resampled, flagged, floats(2, 3, 8, 8)), flagged)
    assert found.verdict == "TRACED"
    line = found.evidence["forward_line"]
    assert isinstance(line, dict)
    assert line["line"] == flagged.line


class Attending(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.project = nn.Linear(8, 8)

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        query = self.project(values)
        return functional.scaled_dot_product_attention(query, query, query)  # flagged


@pytest.mark.skipif(RELEASE < (2, 6), reason="takes attention apart on the CPU where it has three dimensions")
def test_where_the_cpu_takes_other_operators_that_is_what_is_said() -> None:
    flagged = finding_in(Attending, "sdpa_flash", "sdpa_efficient", "sdpa_cudnn")
    found = trace.probe(context(Attending, flagged, floats(2, 4, 8)), flagged)
    assert found.verdict == "NOT REPRODUCED"
    assert "those of a GPU were not seen" in found.reason
