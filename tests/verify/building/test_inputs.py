from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("torch")


import torch

from torchlint.recording.errors import CannotRun
from torchlint.recording.messages import CallSite

pytestmark = pytest.mark.torch

Build = Callable[..., Any]


def module(layers: str, forward: str, parameters: str = "x", doc: str = "") -> str:
    return f"""
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        {layers}
    def forward(self, {parameters}):
        {repr(doc) if doc else "pass"}
        {forward}
"""


@pytest.mark.parametrize(
    ("layers", "forward", "inputs"),
    [
        ("self.body = nn.Conv2d(5, 4, 3)", "return self.body(x)", "float32[2,5,32,32]"),
        ("self.body = nn.Conv1d(5, 4, 3)", "return self.body(x)", "float32[2,5,32]"),
        ("self.body = nn.Conv3d(5, 4, 3)", "return self.body(x)", "float32[2,5,16,16,16]"),
        ("self.body = nn.Linear(6, 4)", "return self.body(x)", "float32[2,6]"),
        ("self.body = nn.Embedding(9, 4)", "return self.body(x)", "int64[2,7]"),
        ("self.body = nn.LSTM(6, 4, batch_first=True)", "return self.body(x)[0]", "float32[2,7,6]"),
        ("self.body = nn.BatchNorm2d(6)", "return self.body(x)", "float32[2,6,32,32]"),
        ("self.body = nn.LayerNorm(6)", "return self.body(x)", "float32[2,7,6]"),
        ("self.body = nn.LazyLinear(3)", "return self.body(x.flatten(1))", "float32[2,3,32,32]"),
    ],
)
def test_the_first_layer_says_what_the_input_is(build: Build, layers: str, forward: str, inputs: str) -> None:
    subject, executed = build(module(layers, forward), "Net")
    assert executed.inputs == (inputs,)
    assert executed.invented_inputs
    assert executed.attempts == 1
    assert subject.run().has_backward


@pytest.mark.parametrize(
    ("layers", "forward", "parameters"),
    [
        # The layer that comes first in the constructor is not the first to run.
        ("self.b = nn.Conv2d(7, 1, 1); self.a = nn.Conv2d(4, 7, 1)", "return self.b(self.a(x))", "x"),
        ("self.b = nn.Linear(9, 1); self.a = nn.Linear(4, 9)", "return self.b(self.a(x))", "x"),
        ("self.c = nn.Conv2d(1, 6, 5); self.f = nn.Linear(6 * 24 * 24, 3)", "return self.f(self.c(x).flatten(1))", "x"),
        ("self.f = nn.Linear(28 * 28, 3)", "b, c, h, w = x.shape; return self.f(x.view(b, c, h * w))", "x"),
        ("self.f = nn.Linear(8, 3)", "b, n, d = x.shape; return self.f(x)", "x"),
        ("self.c = nn.Conv2d(3, 4, 3)", "assert x.shape[-1] == 224, 'wrong size'; return self.c(x)", "x"),
        ("self.c = nn.Conv2d(3, 4, 3, stride=2)", "return F.max_pool2d(self.c(x), 40)", "x"),
        ("self.f = nn.Linear(8, 3)", "return self.f(x['image'])", "x"),
        ("self.f = nn.Linear(8, 3)", "one, two, three = x; return self.f(one + two + three)", "x"),
        ("self.f = nn.Linear(8, 3)", "assert isinstance(x, list); return self.f(x[0])", "x"),
        ("self.f = nn.Linear(8, 3)", "return F.cross_entropy(self.f(x), y.long().view(-1)[:2])", "x, y"),
        ("self.f = nn.Linear(8, 3)", "return F.cross_entropy(self.f(x), labels)", "x, labels"),
        ("self.f = nn.Linear(8, 3)", "return self.f(x * mask)", "x, mask=None"),
        ("self.f = nn.Linear(8, 8)", "return self.f(x).matmul(self.f(other).transpose(1, 2))", "x, other"),
        ("self.e = nn.Embedding(4, 3)", "return self.e(x.argmax(-1)) + self.e(indices)[:, 0]", "x, indices"),
        ("self.f = nn.Linear(8, 3)", "return self.f(x).reshape(x.shape[0], height, -1)", "x, height: int"),
        (
            "self.f = nn.Linear(4, 3)",
            "return self.f(x.new_zeros(len(x), 4).index_add(0, edge_index[1], x[edge_index[0]]))",
            "x, edge_index",
        ),
        ("self.b = nn.BatchNorm1d(4)", "return self.b(x.mean((0, 2, 3))[None].repeat(len(x) // 2, 1))", "x"),
        ("self.f = nn.Linear(8, 3)", "return self.f(sum(feats))", "feats: list"),
    ],
)
def test_inputs_are_repaired_until_forward_and_backward_run(
    build: Build, layers: str, forward: str, parameters: str
) -> None:
    subject, _ = build(module(layers, forward, parameters), "Net")
    assert subject.run().has_backward


def test_shapes_in_a_docstring_are_taken(build: Build) -> None:
    doc = """Warp.

    Args:
        points: the points with shape :math:`(B, N, 2)`.
        H: the homography with shape :math:`(B, 3, 3)`.
    """
    _, executed = build(module("pass", "return points @ H[:, :2, :2]", "points, H", doc), "Net")
    assert executed.inputs == ("float32[2,7,2]", "float32[2,3,3]")


def test_batches_differ_from_channels(build: Build) -> None:
    subject, _ = build(module("self.body = nn.Conv2d(3, 4, 3)", "return self.body(x)"), "Net")
    assert subject.args[0].shape[0] == 2


def test_the_module_stays_as_it_was_constructed(build: Build) -> None:
    subject, _ = build(module("self.norm = nn.BatchNorm2d(3)", "return self.norm(x)"), "Net")
    assert subject.model.training
    assert subject.model.norm.num_batches_tracked == 0
    assert all(parameter.grad is None for parameter in subject.model.parameters())
    subject.run()
    assert subject.model.norm.num_batches_tracked == 0


def test_a_lazy_module_is_handed_over_with_its_sizes(build: Build) -> None:
    subject, _ = build(module("self.body = nn.LazyLinear(3)", "return self.body(x)"), "Net")
    assert subject.model.body.weight.shape == (3, subject.model.body.in_features)


def test_a_module_without_parameters_needs_no_backward(build: Build) -> None:
    subject, _ = build(module("pass", "return (x > 0).sum()"), "Net")
    assert not subject.run().has_backward
    assert not subject.make_input_grad


def test_inputs_that_nothing_suits_are_told_with_the_last_error(build: Build) -> None:
    with pytest.raises(CannotRun) as caught:
        build(module("self.f = nn.Linear(8, 3)", "raise RuntimeError('never')"), "Net")
    assert caught.value.kind == "inputs"
    assert (
        caught.value.reason
        == "no inputs were found for Net: the inputs that were invented do not fit: RuntimeError: never"
    )


def test_outputs_of_changing_shape_are_data_dependent(build: Build) -> None:
    text = "COUNT = [0]\n" + module("pass", "COUNT[0] += 1; return x.flatten()[:COUNT[0]]")
    with pytest.raises(CannotRun) as caught:
        build(text, "Net")
    assert caught.value.kind == "data-dependent"


def test_a_forward_that_computes_with_a_missing_library_names_it(build: Build) -> None:
    with pytest.raises(CannotRun, match=r"it computes with absent\.rearrange, which is not installed"):
        build("from absent import rearrange\n" + module("pass", "return rearrange(x, 'b c -> c b')"), "Net")


def test_inputs_that_reach_the_parameters_are_preferred(build: Build) -> None:
    forward = "return x if x.dim() < 4 else self.c(x)"
    text = module("self.f = nn.Linear(8, 8); self.c = nn.Conv2d(16, 4, 3)", forward)
    subject, executed = build(text, "Net")
    assert executed.inputs[0].startswith("float32[2,16,")
    assert subject.run().has_backward


def test_inputs_that_reach_no_parameter_are_better_than_none(build: Build) -> None:
    subject, executed = build(module("self.f = nn.Linear(8, 8)", "return x.detach()"), "Net")
    assert executed.inputs == ("float32[2,8]",)
    assert not subject.run().has_backward


def test_inputs_with_finite_outputs_are_preferred(build: Build) -> None:
    subject, _ = build(module("pass", "return (x - 2).log() if x.dim() == 4 else x"), "Net")
    assert all(tensor.isfinite().all() for tensor in subject.run().outputs.values())


def test_an_attempt_that_never_ends_is_given_up(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torchlint.recording.building.trial._SLOWEST", 0.6)
    forward = """if x.shape == (2, 8):
            while True:
                pass
        return self.f(x)"""
    _, executed = build(module("self.f = nn.Linear(8, 8)", forward), "Net")
    assert executed.inputs == ("float32[2,7,8]",)


def test_a_dictionary_without_entries_gets_the_one_asked_for(build: Build) -> None:
    _, executed = build(
        module("self.f = nn.Linear(8, 8)", "return self.f(batch['image'])", "batch: dict[str, int]"), "Net"
    )
    assert executed.inputs == ("{'image': float32[2,8]}",)


WIDE = module("self.body = nn.Conv2d(3, 4, 3)", "return self.body(x if scale is None else x * scale)", "x, scale=None")
TORCH = ("import torch as t",)


def test_inputs_that_the_project_shows_come_first(build: Build) -> None:
    sites = (
        CallSite(args=("t.ones(1, 5, 9, 9)",), imports=TORCH, place="demo.py:7"),  # these do not fit
        CallSite(args=("t.ones(1, 3, 9, 9)",), kwargs={"scale": "0.5"}, imports=TORCH, place="demo.py:12"),
    )
    subject, executed = build(WIDE, "Net", inputs=sites)
    assert executed.inputs == ("float32[1,3,9,9]", "scale=0.5")
    assert executed.built_by == "the constructor's defaults, inputs at demo.py:12"
    assert not executed.invented_inputs
    assert subject.run().has_backward


@pytest.mark.parametrize(
    "source", ["t.ones(1, 3, 9, 9, requires_grad=True) * 2", "t.nn.Conv2d(2, 3, 1)(t.ones(1, 2, 9, 9))"]
)
def test_inputs_that_were_computed_with_gradients_can_be_copied(build: Build, source: str) -> None:
    _, executed = build(WIDE, "Net", inputs=(CallSite(args=(source,), imports=TORCH, place="demo.py:7"),))
    assert executed.inputs == ("float32[1,3,9,9]",)
    assert executed.attempts == 1


def test_inputs_that_cannot_be_evaluated_are_passed_over(build: Build) -> None:
    sites = (CallSite(args=("missing",), place="demo.py:7"),)
    _, executed = build(WIDE, "Net", inputs=sites)
    assert executed.inputs == ("float32[2,3,32,32]",)
    assert executed.invented_inputs


def test_a_run_that_writes_to_inputs_shown_does_not_change_them(build: Build) -> None:
    text = module("self.body = nn.Linear(3, 4)", "x.mul_(2); return self.body(x)")
    subject, _ = build(text, "Net", inputs=(CallSite(args=("t.ones(2, 3)",), imports=TORCH, place="demo.py:7"),))
    assert subject.args[0].eq(1).all()


def test_a_function_gets_the_inputs_of_its_calls(build: Build) -> None:
    text = "def total(x, index):\n    return x.new_zeros(4).index_add(0, index, x)\n"
    sites = (CallSite(args=("t.ones(3)", "t.tensor([0, 1, 1])"), imports=TORCH, place="demo.py:7"),)
    _, executed = build(text, "total", kind="function", inputs=sites)
    assert executed.inputs == ("float32[3]", "int64[3]")
    assert executed.built_by == "inputs at demo.py:7"


@pytest.mark.parametrize(
    ("parameters", "body", "inputs"),
    [
        ("rows, slot", "return torch.zeros(9, rows.shape[1]).index_add(0, slot.long(), rows)", ("float32[10,16]",)),
        ("slot, rows", "return torch.index_add(torch.zeros(9, rows.shape[1]), 0, slot, rows)", ("float32[10,16]",)),
        ("rows, cells", "return rows.new_zeros(9, 16).index_put((cells,), rows, accumulate=True)", ("float32[10,16]",)),
        ("rows, owner", "return rows.new_zeros(9, 16).scatter_add_(0, owner.view(-1, 1).expand_as(rows), rows)", None),
        ("rows, owner", "return torch.zeros(9, 16).scatter_reduce(0, owner, rows, 'sum')", None),
        ("assigned, amounts", "return torch.bincount(assigned, weights=amounts)", ("float32[10]",)),
        ("scores, chosen", "return scores.gather(1, index=chosen.unsqueeze(1))", ("float32[10,16]",)),
    ],
)
def test_what_the_code_takes_for_an_index_repeats(
    build: Build, parameters: str, body: str, inputs: tuple[str, ...] | None
) -> None:
    subject, executed = build(f"def called({parameters}):\n    {body}\n", "called", kind="function")
    assert executed.attempts <= 3
    (index,) = [each for each in subject.args if not each.is_floating_point()]
    assert index.dtype == torch.int64
    assert index.unique().numel() < index.shape[0]
    assert inputs is None or set(inputs) <= set(executed.inputs)
