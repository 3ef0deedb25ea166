"""Classes as training projects have them, which nobody says how to build."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("torch")

from torchlint.recording.errors import CannotRun
from torchlint.recording.messages import CallSite

pytestmark = pytest.mark.torch

Build = Callable[..., Any]


def test_options_get_the_defaults_of_the_project(build: Build) -> None:
    text = """
class Net(nn.Module):
    def __init__(self, opt):
        super().__init__()
        self.body = nn.Conv2d(opt.label_nc, opt.MODEL.WIDTH, 3)
        if opt.norm == 'batch':
            self.norm = nn.BatchNorm2d(opt.MODEL.WIDTH)
        else:
            raise ValueError(opt.norm)
    def forward(self, x):
        return self.norm(self.body(x))
"""
    options = {"label_nc": "7", "MODEL": "{}", "WIDTH": "24", "norm": "'batch'"}
    subject, executed = build(text, "Net", options=options)
    assert subject.model.body.out_channels == 24
    assert executed.inputs == ("float32[2,7,32,32]",)
    assert executed.attempts == 1


@pytest.mark.parametrize(
    ("options", "body"),
    [
        ({}, "assert opt.kind in ('plain', 'gated')"),
        ({"kind": "'other'"}, "assert opt.kind in ('plain', 'gated')"),
        ({"kind": "7"}, "assert opt['kind'] in ('plain', 'gated')"),
        ({}, "extra = opt.EXTRA; self.rows = [0] * extra.DEPTH"),
        ({"steps": "None"}, "self.rows = [0] * opt.steps"),
    ],
)
def test_one_option_is_repaired_and_the_others_stay(build: Build, options: dict[str, str], body: str) -> None:
    text = f"""
class Net(nn.Module):
    def __init__(self, opt):
        super().__init__()
        self.body = nn.Linear(opt.hidden_size, 3)
        {body}
    def forward(self, x):
        return self.body(x)
"""
    _, executed = build(text, "Net", options={"hidden_size": "12", **options})
    assert executed.inputs == ("float32[2,12]",)


@pytest.mark.parametrize(
    ("parameters", "body", "forward"),
    [
        ("table", "self.body = nn.Linear(table.shape_of_rows, 3)", "return self.body(x)"),
        ("table", "self.body = nn.Linear(table['rows'], 3)", "return self.body(x)"),
        ("kind", "self.body = nn.Linear(8, 3); assert kind.startswith('wide')", "return self.body(x)"),
        ("sides", "self.body = nn.Linear(8, sides[2])", "return self.body(x)"),
        ("unit", "self.body = unit(8)", "return self.body(x)"),
        ("inner", "self.inner = inner; self.body = nn.Linear(16, 3)", "return self.body(self.inner(x))"),
    ],
)
def test_what_is_done_with_an_argument_says_what_it_is(build: Build, parameters: str, body: str, forward: str) -> None:
    text = f"""
class Unit(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, width)
    def forward(self, x):
        return self.layer(x)
class Net(nn.Module):
    def __init__(self, {parameters}):
        super().__init__()
        {body}
    def forward(self, x):
        {forward}
"""
    subject, executed = build(text, "Net")
    assert executed.passes == "forward and backward"
    assert executed.attempts <= 3
    assert subject.run().has_backward


def test_a_call_counts_as_far_as_it_is_known(build: Build) -> None:
    text = """
class Net(nn.Module):
    def __init__(self, width, mode, words):
        super().__init__()
        assert mode == "deep" and width == 20
        self.body = nn.Linear(width, 3)
    def forward(self, x):
        return self.body(x)
"""
    calls = (CallSite(args=("args.width", "'deep'", "len(vocabulary)"), place="train.py:3", is_literal=False),)
    _, executed = build(text, "Net", calls=calls, options={"width": "20"})
    assert executed.built_by == "arguments at train.py:3, the others invented"
    assert executed.construction.startswith("Net(width=20, mode='deep'")


def test_names_of_a_main_function_are_invented_and_told(build: Build) -> None:
    text = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Embedding(vocab_size, 6)
    def forward(self, x):
        return self.body(x)
"""
    _, executed = build(text, "Net")
    assert executed.built_by == "the constructor's defaults, with invented vocab_size=20"
    with pytest.raises(CannotRun, match="name 'make_body' is not defined"):
        build(text.replace("nn.Embedding(vocab_size, 6)", "make_body(6)"), "Net")


@pytest.mark.parametrize(
    ("layers", "forward"),
    [
        (
            "self.a = nn.Linear(inplanes, planes); self.b = nn.Linear(planes, 4 * planes)",
            "return self.b(self.a(x)) + x",
        ),
        ("self.a = nn.Linear(inplanes, 48); self.b = nn.Linear(planes, 3)", "return self.b(self.a(x))"),
    ],
)
def test_what_a_forward_complains_of_changes_the_constructor(build: Build, layers: str, forward: str) -> None:
    text = f"""
class Net(nn.Module):
    def __init__(self, inplanes, planes):
        super().__init__()
        {layers}
    def forward(self, x):
        {forward}
"""
    _, executed = build(text, "Net")
    assert executed.passes == "forward and backward"


@pytest.mark.parametrize(
    ("layers", "parameters", "forward"),
    [
        (
            "self.e = nn.Embedding(9, 6); self.p = nn.Embedding(5, 6)",
            "rows",
            "return self.e(rows) + self.p(torch.arange(5))",
        ),
        ("self.r = nn.LSTM(6, 9, batch_first=True)", "x, hidden", "return self.r(x, hidden)[0]"),
        ("self.r = nn.GRU(6, 9)", "x, state", "return self.r(x.transpose(0, 1), state)[0]"),
        (
            "self.a = nn.Linear(6, 6)",
            "x, attn_mask",
            "return self.a(x) @ x.mT + attn_mask.unsqueeze(1).squeeze(1).float()",
        ),
        (
            "self.c = nn.Conv2d(8, 4, 3)",
            "x, c",
            "return self.c(torch.cat([x, c.view(*c.shape, 1, 1).expand(*c.shape, *x.shape[2:])], 1))",
        ),
        (
            "self.c = nn.Conv2d(4, 6, 8, stride=4); self.f = nn.Linear(6 * 20 * 20, 3)",
            "x",
            "return self.f(self.c(x).flatten(1))",
        ),
        ("self.a = nn.Linear(6, 5)", "x, label", "return F.cross_entropy(self.a(x), label)"),
        ("self.a = nn.Linear(6, 5)", "x, sparse", "return self.a(x) if sparse else self.a(-x)"),
        ("self.a = nn.Linear(6, 5)", "x, mode", "return self.a(x) if mode == 'up' else self.fail(mode)"),
        ("self.a = nn.Linear(6, 5)", "image", "return self.a(image)"),
        (
            "self.a = nn.Linear(16, 5)",
            "query, table",
            "return self.a(query + table.unsqueeze(1).repeat(1, 2, 1).mean())",
        ),
    ],
)
def test_inputs_by_use_and_by_the_sizes_of_a_message(build: Build, layers: str, parameters: str, forward: str) -> None:
    text = f"""
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        {layers}
    def forward(self, {parameters}):
        {forward}
    def fail(self, mode):
        raise ValueError(mode)
"""
    subject, executed = build(text, "Net")
    assert executed.passes == "forward and backward"
    assert subject.run().has_backward


def test_attributes_and_keys_of_an_input_are_tensors(build: Build) -> None:
    text = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(6, 3)
    def forward(self, batch, extras):
        batch = batch.to("cpu")
        return self.body(batch.rows) * extras["gain"].mean()
"""
    subject, executed = build(text, "Net")
    assert executed.inputs[0] == "{'rows': float32[10,6]}"
    assert subject.run().has_backward


def test_a_method_makes_the_state_of_the_first_step(build: Build) -> None:
    text = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(6, 4)
    def init_hidden(self, size):
        return [(torch.zeros(size, 4), torch.zeros(size, 4))]
    def forward(self, x, hidden):
        return self.body(x) + hidden[0][0] * hidden[0][1]
"""
    _, executed = build(text, "Net")
    assert executed.inputs == ("float32[2,6]", "[(float32[2,4], float32[2,4])]")
    assert executed.attempts == 1


def test_a_class_without_a_forward_runs_another_method(build: Build) -> None:
    text = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(6, 4)
    def policy(self, x):
        return self.body(x)
"""
    _, executed = build(text, "Net")
    assert (executed.name, executed.passes) == ("Net.policy", "forward and backward")
    with pytest.raises(CannotRun, match="Net has no forward"):
        build(text.replace("def policy(self, x)", "def policy(self)"), "Net")


@pytest.mark.parametrize(
    "layer",
    [
        "nn.utils.weight_norm(nn.Linear(6, 4))",
        "Locked(6, 4)",
    ],
)
def test_computed_weights_and_locks_are_copied(build: Build, layer: str) -> None:
    text = f"""
import threading
class Locked(nn.Linear):
    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.lock = threading.Lock()
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = {layer}
    def forward(self, x):
        return self.body(x)
"""
    subject, _ = build(text, "Net")
    one, other = subject.run(), subject.run()
    assert one.has_backward
    assert all(one.tensors[name].equal(other.tensors[name]) for name in one.tensors)


def test_an_extension_that_would_be_compiled_is_stood_in_for(build: Build) -> None:
    text = """
from torch.utils.cpp_extension import load
fused = load("fused_for_a_test", sources=["missing.cu"])
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(6, 4)
    def forward(self, x):
        return self.body(x)
"""
    _, executed = build(text, "Net")
    assert executed.stubs == ("torch.utils.cpp_extension",)


HELD = """
class Part(nn.Module):
    def __init__(self, table):
        super().__init__()
        self.body = nn.Linear(table.pop()["rows"], 4)
    def forward(self, x, pairs):
        return self.body(x) * sum(one.mean() * other.mean() for one, other in pairs)
class Whole(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(6, 5)
        self.part = Part([{"rows": 5}])
    def forward(self, x):
        first = self.first(x)
        return self.part(first, [(first, x)])
"""


def test_a_holder_shows_how_a_part_is_made_and_called(project: Callable[..., Any]) -> None:
    from torchlint.recording.building import as_called
    from torchlint.recording.messages import Holder, Request, Target

    code = project("import torch\nfrom torch import nn\n" + HELD)
    request = Request(code=code, target=Target(kind="module", name="Part"), findings=())
    subject, executed = as_called(request, Holder(name="Whole", code=code))
    assert executed.name == "Part"
    assert executed.built_by == "as Whole makes and calls it (the constructor's defaults)"
    assert executed.inputs == ("float32[2,5]", "[(float32[2,5], float32[2,6])]")
    assert subject.run().has_backward
    assert subject.make_input_grad


def test_a_vocabulary_that_a_base_class_reads_has_a_number_for_each_word(build: Build) -> None:
    text = """
START = "<start>"

class Captioner(nn.Module):
    def __init__(self, words, size):
        super().__init__()
        self.words = words
        self.embed = nn.Embedding(len(words), size)
    def forward(self, features):
        first = torch.full((len(features),), self.words[START], dtype=torch.long)
        return self.predict(features, self.embed(first))

class Plain(Captioner):
    def __init__(self, words, size):
        super().__init__(words, size)
        self.out = nn.Linear(2 * size, len(words))
    def predict(self, features, embedded):
        return self.out(torch.cat([embedded, features], 1))
"""
    _, executed = build(text, "Plain")
    assert "words=<invented vocabulary of 16 words>" in executed.construction
    assert executed.passes == "forward and backward"


@pytest.mark.parametrize("state", [("hidden", "cell"), ("h1", "c1"), ("prev_h", "prev_c")])
def test_the_state_of_a_cell_comes_as_two_inputs_beside_joined_ones(build: Build, state: tuple[str, str]) -> None:
    text = f"""
class Attending(nn.Module):
    def __init__(self, word_size, feature_size, hidden_size):
        super().__init__()
        self.cell = nn.LSTMCell(word_size + feature_size, hidden_size)
    def forward(self, {state[0]}, {state[1]}, word, feature):
        return self.cell(torch.cat((word, feature), dim=1), ({state[0]}, {state[1]}))
"""
    subject, _ = build(text, "Attending")
    shapes = [tuple(each.shape) for each in subject.args]
    assert shapes[0] == shapes[1] == (2, subject.model.cell.hidden_size)
    assert shapes[2][1] + shapes[3][1] == subject.model.cell.input_size


@pytest.mark.parametrize(
    ("annotation", "channels"), [("", "self.body.channel_list"), (": nn.Module", "[body.out_channels]")]
)
def test_a_module_that_is_handed_in_has_the_options_that_are_read_of_it(
    build: Build, annotation: str, channels: str
) -> None:
    text = f"""
class Neck(nn.Module):
    def __init__(self, body{annotation}, width: int, position{annotation}):
        super().__init__()
        self.body, self.position = body, position
        self.convs = nn.ModuleList(nn.Conv2d(number, width, 1) for number in {channels})
    def forward(self, images):
        features = self.body(images)
        return [self.position(conv(features)) for conv in self.convs]
"""
    subject, executed = build(text, "Neck")
    assert executed.passes == "forward and backward"
    assert "invented module" in repr(subject.model.body)


def test_a_part_that_is_handed_in_is_run_with_all_that_its_caller_gives(build: Build) -> None:
    text = """
class Residual(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.norm = nn.LayerNorm(size)
    def forward(self, x, part):
        return x + part(self.norm(x))

class Layer(nn.Module):
    def __init__(self, size, attention, feed_forward):
        super().__init__()
        self.attention, self.feed_forward = attention, feed_forward
        self.first, self.second = Residual(size), Residual(size)
    def forward(self, x, mask):
        x = self.first(x, lambda y: self.attention(y, y, y, mask=mask))
        return self.second(x, self.feed_forward)
"""
    _, executed = build(text, "Layer")
    assert executed.passes == "forward and backward"


def test_a_convolution_of_no_dimensions_says_nothing_of_inputs(build: Build) -> None:
    text = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.odd = nn.modules.conv._ConvNd(3, 3, (), (), (), (), False, (), 1, True, "zeros")
        self.body = nn.Linear(5, 2)
    def forward(self, x):
        return self.body(x)
"""
    _, executed = build(text, "Net")
    assert executed.passes == "forward and backward"


def test_inputs_that_are_spread_out_before_they_meet_are_as_large_as_one_another(build: Build) -> None:
    text = """
class Criterion(nn.Module):
    def forward(self, input, seq, reward):
        mask = (seq > 0).float()
        mask = torch.cat([mask.new_ones(len(mask), 1), mask[:, :-1]], 1)
        return (input.reshape(-1).exp() * reward.reshape(-1) * mask.reshape(-1)).sum() / mask.sum()
"""
    subject, _ = build(text, "Criterion")
    assert len({tuple(each.shape) for each in subject.args}) == 1
