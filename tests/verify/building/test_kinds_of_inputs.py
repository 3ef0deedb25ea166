"""Models whose inputs are no single tensor, and functions that are no modules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("torch")

import torch

from torchlint.recording.building.members import apart, together, with_key
from torchlint.recording.building.memory import in_half_of
from torchlint.recording.building.plans import Bundle
from torchlint.recording.building.shrinking import shrunk
from torchlint.recording.errors import CannotRun
from torchlint.recording.ragged import Packed
from torchlint.recording.runs.precision import in_double
from torchlint.recording.runs.variations import scaled, varied
from torchlint.recording.subject import Subject
from torchlint.recording.tensors import tensors_in

pytestmark = pytest.mark.torch

Build = Callable[..., Any]

TAGGER = """
from torch.nn.utils.rnn import {imports}
class Tagger(nn.Module):
    def __init__(self, features=10, hidden=12):
        super().__init__()
        self.rnn = nn.LSTM(features, hidden, batch_first=True)
        self.head = nn.Linear(hidden, 3)
    def forward(self, {parameter}):
        states, _ = self.rnn(sentences)
        padded, lengths = pad_packed_sequence(states, batch_first=True)
        assert lengths.unique().numel() > 1
        return self.head(padded)
"""


@pytest.mark.parametrize("parameter", ["sentences: PackedSequence", "sentences"])
def test_packed_sequences_are_of_several_lengths_and_grow(build: Build, parameter: str) -> None:
    text = TAGGER.format(parameter=parameter, imports="PackedSequence, pad_packed_sequence")
    subject, executed = build(text, "Tagger")
    assert executed.inputs == ("packed rows of float32[2,7,10]",)
    assert executed.passes == "forward and backward"
    larger = scaled(subject, 4)
    assert larger is not None
    assert larger.run().outputs[""].shape == (8, 7, 3)
    assert varied(subject, 1).forward().shape == (2, 7, 3)
    assert in_double(subject).forward().dtype == torch.float64


def test_rows_of_every_number_are_cut_to_lengths_that_can_be_packed() -> None:
    for rows in (1, 2, 3, 7, 100):
        lengths = Packed(torch.ones(rows, 9, 2)).given().batch_sizes
        assert int(lengths[0]) == rows
        assert int(lengths.sum()) >= rows * 9 // 2


def test_packed_sequences_that_a_model_makes_keep_their_lengths() -> None:
    """Those that a part is given within its holder: other values, more sequences, another precision."""
    rnn = torch.nn.GRU(4, 4)
    packed = torch.nn.utils.rnn.pack_sequence([torch.randn(5, 4), torch.randn(3, 4), torch.randn(2, 4)])
    subject = Subject("GRU", rnn, (packed,))
    for variation in range(4):
        assert varied(subject, variation).args[0].batch_sizes.tolist() == packed.batch_sizes.tolist()
    larger = scaled(subject, 4)
    assert larger is not None
    assert larger.args[0].batch_sizes.tolist() == (4 * packed.batch_sizes).tolist()
    assert in_double(subject).run().outputs["[0].data"].dtype == torch.float64


def test_nested_tensors(build: Build) -> None:
    text = """
class Pool(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(6, 6)
    def forward(self, nodes):
        if not nodes.is_nested:
            raise TypeError("Pool takes a nested tensor")
        return torch.stack([part.sum(0) for part in self.proj(nodes).unbind()])
"""
    subject, executed = build(text, "Pool")
    (described,) = executed.inputs
    assert described.startswith("nested rows of float32[")
    assert executed.passes == "forward and backward"
    assert scaled(subject, 4) is not None


@pytest.mark.parametrize(
    ("layer", "forward"),
    [
        ("nn.Linear(8, 8, dtype=torch.complex64)", "return self.layer(field)"),
        ("nn.Linear(8, 8)", "assert field.is_complex(), 'a complex field'; return self.layer(field.abs())"),
    ],
)
def test_complex_numbers(build: Build, layer: str, forward: str) -> None:
    text = f"""
class Optics(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = {layer}
    def forward(self, field):
        {forward}
"""
    subject, executed = build(text, "Optics")
    assert executed.inputs[0].startswith("complex64[")
    assert executed.passes == "forward and backward"
    assert in_double(subject).args[0].dtype == torch.complex128


def test_indices_of_several_tables_lie_in_each(build: Build) -> None:
    text = """
class Factors(nn.Module):
    def __init__(self, n_users=40, n_items=3):
        super().__init__()
        self.users, self.items = nn.Embedding(n_users, 8), nn.Embedding(n_items, 8)
    def forward(self, who, what):
        return (self.users(who) * self.items(what)).sum(-1)
"""
    subject, executed = build(text, "Factors")
    assert executed.passes == "forward and backward"
    assert int(subject.args[1].max()) < 3


GRAPHS = """
class Conv(nn.Module):
    def __init__(self, inner, outer):
        super().__init__()
        self.lin = nn.Linear(inner, outer)
    def forward(self, x, edge_index):
        source, target = edge_index
        return torch.zeros(len(x), self.lin.out_features).index_add(0, target, self.lin(x)[source])
class Classifier(nn.Module):
    def __init__(self, num_features=12, hidden=16):
        super().__init__()
        self.first, self.second = Conv(num_features, hidden), Conv(hidden, hidden)
    def forward(self, data):
        x = self.second(self.first(data.x, data.edge_index).relu(), data.edge_index)
        pooled = torch.zeros(int(data.batch.max()) + 1, x.size(1))
        return pooled.scatter_add(0, data.batch[:, None].expand_as(x), x)
class Molecules(nn.Module):
    def __init__(self, hidden=16):
        super().__init__()
        self.atoms, self.bonds = nn.Embedding(9, hidden), nn.Embedding(4, hidden)
    def forward(self, batched_data):
        h = self.atoms(batched_data.z)
        row, col = batched_data.edge_index[0], batched_data.edge_index[1]
        h = h.index_add(0, col, h[row] * self.bonds(batched_data.edge_attr))
        return torch.zeros(batched_data.num_graphs, h.size(1)).index_add(0, batched_data.batch, h)
"""


@pytest.mark.parametrize(("name", "nodes"), [("Classifier", "'x': float32[10,12]"), ("Molecules", "'z': int64[10]")])
def test_batches_of_graphs_hold_what_is_read_of_them(build: Build, name: str, nodes: str) -> None:
    subject, executed = build(GRAPHS, name)
    assert nodes in executed.inputs[0]
    assert "'edge_index': int64[2,24]" in executed.inputs[0]
    assert executed.passes == "forward and backward"
    assert subject.run().outputs[""].shape == (2, 16)
    larger = scaled(subject, 4)
    assert larger is not None
    assert next(tuple(tensor.shape) for place, tensor in tensors_in(larger.args) if "edge" in place) in {(2, 96), (96,)}


def test_detectors_are_given_boxes_and_labels_in_training(build: Build) -> None:
    text = """
class Detector(nn.Module):
    def __init__(self, num_classes=4):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, stride=4, padding=1)
        self.cls, self.reg = nn.Conv2d(8, num_classes, 1), nn.Conv2d(8, 4, 1)
    def forward(self, images, targets=None):
        if self.training and targets is None:
            raise ValueError("In training mode, targets should be passed")
        features = self.stem(torch.stack([image for image in images]))
        losses = []
        for one, target in zip(features, targets):
            boxes, labels = target["boxes"], target["labels"]
            assert (boxes[:, 2:] > boxes[:, :2]).all()
            at = ((boxes[:, 0] + boxes[:, 2]) / 2 * 7).long()
            losses.append(F.cross_entropy(self.cls(one)[:, at, at].t(), labels))
            losses.append(F.l1_loss(self.reg(one)[:, at, at].t(), boxes))
        return {"loss": torch.stack(losses).mean()}
"""
    _, executed = build(text, "Detector")
    assert (
        executed.inputs[1]
        == "[{'boxes': float32[3,4], 'labels': int64[3]}, {'boxes': float32[3,4], 'labels': int64[3]}]"
    )
    assert executed.passes == "forward and backward"


def test_ctc_is_given_lengths_that_fit(build: Build) -> None:
    text = """
class Alignment(nn.Module):
    def forward(self, log_probs, targets, input_lengths, target_lengths):
        return F.ctc_loss(log_probs.log_softmax(2), targets, input_lengths, target_lengths)
"""
    subject, executed = build(text, "Alignment")
    assert executed.inputs == ("float32[12,2,6]", "int64[2,4]", "int64[2]", "int64[2]")
    assert subject.run().outputs[""].isfinite()


@pytest.mark.parametrize(
    ("parameters", "layers", "construction"),
    [
        (
            "observation_space, action_space",
            "nn.Linear(observation_space.shape[0], action_space.n)",
            "Box(-1.0, 1.0, (8,)), action_space=Discrete(4)",
        ),
        (
            "obs_dim, action_space",
            "nn.Linear(obs_dim, action_space.shape[0]); self.high = torch.as_tensor(action_space.high)",
            "Box(-1.0, 1.0, (3,))",
        ),
        (
            "envs",
            "nn.Linear(envs.single_observation_space.shape[0], envs.single_action_space.n)",
            "Environment(",
        ),
    ],
)
def test_policies_are_given_spaces(build: Build, parameters: str, layers: str, construction: str) -> None:
    text = f"""
class Policy(nn.Module):
    def __init__(self, {parameters}):
        super().__init__()
        self.pi = {layers}
    def forward(self, obs):
        return self.pi(obs)
"""
    _, executed = build(text, "Policy")
    assert construction in executed.construction
    assert executed.passes == "forward and backward"


ROUNDED = """
class Round(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, levels):
        return torch.round(x * levels) / levels
    @staticmethod
    def backward(ctx, grad):
        return grad, None
"""
QUANTIZER = """
class Quantizer(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(5))
    def forward(self, x):
        return {body}
"""


@pytest.mark.parametrize(
    ("beside", "applied_by", "name"),
    [
        (QUANTIZER.format(body="Round.apply(x * self.scale, 8)"), ("Quantizer",), "Quantizer"),
        ("def rounded(x, levels):\n    return Round.apply(x, levels)\n", ("rounded",), "rounded"),
        ("", (), "Round.apply"),
        # It has a branch that applies the function and does not come there.
        (
            QUANTIZER.format(body="x * self.scale if self.training else Round.apply(x, 8)"),
            ("Quantizer",),
            "Round.apply",
        ),
    ],
)
def test_a_function_is_run_by_what_applies_it(
    build: Build, beside: str, applied_by: tuple[str, ...], name: str
) -> None:
    subject, executed = build(ROUNDED + beside, "Round", applied_by=applied_by)
    assert executed.name == name
    assert subject.run().has_backward


def test_members_of_inputs_are_taken_apart_and_put_together() -> None:
    plan = {
        "data": Bundle({"x": 1, "inner": Bundle({"z": 2})}),
        "batch": {"image": 3, "meta": {"size": 4}},
        "targets": [{"boxes": 5}, {"boxes": 6}],
        "plain": [7, 8],
        "empty": {},
        "by_number": {0: 9},
    }
    flat = apart(plan)
    assert flat["data.inner.z"] == 2
    assert flat["targets[1]['boxes']"] == 6
    assert together(flat) == plan
    assert isinstance(together(flat)["data"], Bundle)
    assert [sorted(other) for other in with_key({"batch['image']": 3}, "mask", 1)] == [
        ["batch['image']", "batch['mask']"]
    ]
    assert [together(other)["data"] for other in with_key({"data.x": 3}, "y", 1)] == [{"x": 3, "y": 1}]


def test_an_attempt_may_take_half_of_the_memory() -> None:
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_DATA)
    with in_half_of(1 << 30):
        assert torch.empty(64 << 20, dtype=torch.uint8).numel()
        with pytest.raises(RuntimeError, match="allocate memory"):
            torch.empty(768 << 20, dtype=torch.uint8)
    assert resource.getrlimit(resource.RLIMIT_DATA) == before
    assert torch.empty(768 << 20, dtype=torch.uint8).numel()


class NoteConfig:
    def __init__(self) -> None:
        self.hidden_size, self.num_hidden_layers, self.vocab_size, self.name = 4096, 32, 50000, "large"


def test_a_configuration_object_is_shrunk_as_a_copy() -> None:
    config = NoteConfig()
    smaller = [values["config"] for values in shrunk({"config": config}, {})]
    sizes = {(each.hidden_size, each.num_hidden_layers, each.vocab_size, each.name) for each in smaller}
    assert (1024, 32, 50000, "large") in sizes
    assert (256, 2, 50000, "large") in sizes
    assert config.hidden_size == 4096


SCRIPTED = """
from typing import Optional, Tuple
class Cell(torch.jit.ScriptModule):
    def __init__(self, input_size, hidden_size):
        super().__init__()
        self.w = nn.Parameter(torch.randn(2 * hidden_size, input_size))
        self.u = nn.Parameter(torch.randn(2 * hidden_size, hidden_size))
    @torch.jit.script_method
    def forward(self, x: torch.Tensor, state: Tuple[torch.Tensor, torch.Tensor]) -> Tuple[torch.Tensor, torch.Tensor]:
        hidden, kept = state
        new, gate = (x @ self.w.t() + hidden @ self.u.t()).chunk(2, 1)
        return new, gate.sigmoid() * kept
class Untyped(torch.jit.ScriptModule):
    def __init__(self, dim):
        super().__init__()
        self.lin = nn.Linear(dim, dim)
    @torch.jit.script_method
    def forward(self, x):
        return self.lin(x)
class Around(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.cell = Cell(dim, dim)
    def forward(self, x):
        return self.cell(x, (x, x))
@torch.jit.script
def gated(a, b, channels: int, bias: Optional[torch.Tensor] = None):
    return torch.tanh(a[:, :channels]) * torch.sigmoid(b[:, :channels])
"""


@pytest.mark.parametrize(
    ("name", "inputs"),
    [("Cell", 2), ("Untyped", 1), ("Around", 1), ("gated", 3)],
)
def test_what_torchscript_compiled_runs(build: Build, name: str, inputs: int) -> None:
    subject, executed = build(SCRIPTED, name, kind="function" if name == "gated" else "module")
    assert len(executed.inputs) == inputs
    assert subject.run().outputs


def test_an_error_in_torchscript_is_told_without_the_code_that_it_quotes(build: Build) -> None:
    text = SCRIPTED.replace("return self.lin(x)", "assert x.dim() > 9, 'never'; return x")
    with pytest.raises(CannotRun, match=r"do not fit: RuntimeError: never$"):
        build(text, "Untyped")


@pytest.mark.parametrize(
    "body",
    [
        "self.body = norm_layer(nn.Conv2d(3, 8, 3))",
        "self.body = nn.Sequential(nn.Conv2d(3, 4, 3), norm_layer(nn.Conv2d(4, 8, 1)))",
        "self.wrap = norm_layer; self.body = norm_layer(torch.nn.Conv2d(3, 8, kernel_size=3))",
        "layers = [norm_layer(nn.Conv2d(3, 8, 3))]; self.body = nn.Sequential(*layers)",
    ],
)
def test_an_argument_that_wraps_a_layer_runs_it(build: Build, body: str) -> None:
    text = f"""
class Net(nn.Module):
    def __init__(self, norm_layer):
        super().__init__()
        {body}
    def forward(self, x):
        return self.body(x)
"""
    subject, _ = build(text, "Net")
    assert subject.run().outputs[""].shape[1] == 8
