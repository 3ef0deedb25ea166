"""Arguments and inputs that an error asks for: of another type, smaller, called otherwise."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("torch")

from torch import nn

from torchlint.recording.errors import CannotRun
from torchlint.recording.tensors import described

pytestmark = pytest.mark.torch

Build = Callable[..., Any]


@pytest.mark.parametrize(
    ("parameters", "constructor", "forward"),
    [
        pytest.param("table", "self.body = nn.Embedding.from_pretrained(table)", "return self.body(x)", id="tensor"),
        pytest.param(
            "words", "self.count = sum(1 for _ in words.items()); self.body = nn.Linear(6, 3)", "return self.body(x)",
            id="dictionary",
        ),
        pytest.param("gate", "self.gate = gate; self.body = nn.Linear(6, 3)",
                     "return getattr(F, self.gate)(self.body(x))", id="name of a function, in forward"),
        pytest.param("where", "import os; os.path.join(where, 'a'); self.body = nn.Linear(6, 3)",
                     "return self.body(x)", id="path"),
        pytest.param("first=nn.Conv2d", "self.body = first(6, 3)", "return self.body(x)", id="class with too few"),
        pytest.param("gate=None", "self.gate = gate; self.body = nn.Linear(6, 3)", "return self.gate(self.body(x))",
                     id="default that is called"),
        pytest.param("scale=None", "self.body = nn.Linear(6 * (scale + 1), 3)", "return self.body(x)",
                     id="default that is a number"),
        pytest.param("rows", "self.body = nn.Linear(6, 3); torch.from_numpy(rows)", "return self.body(x)", id="array"),
        pytest.param("words", "self.body = nn.Embedding(words.count_all(), 3)", "return self.body(x)",
                     id="method that tells a number"),
        pytest.param("sides", "self.sides = sides; assert len(sides); self.body = nn.Linear(6, 3)",
                     "a, b, c = self.sides; return self.body(x)", id="three of them, in forward"),
        pytest.param("sides=3", "self.body = nn.Sequential(*[nn.Linear(6, 6) for _ in sides])", "return self.body(x)",
                     id="sequence"),
    ],
)  # fmt: skip
def test_a_value_gets_the_type_that_the_error_asks_for(
    build: Build, parameters: str, constructor: str, forward: str
) -> None:
    text = f"""
class Net(nn.Module):
    def __init__(self, {parameters}):
        super().__init__()
        {constructor}
    def forward(self, x):
        {forward}
"""
    subject, executed = build(text, "Net")
    assert executed.passes in ("forward and backward", "forward")
    subject.run()


def test_an_option_that_only_the_forward_reads_is_repaired(build: Build) -> None:
    text = """
class Net(nn.Module):
    def __init__(self, opt):
        super().__init__()
        self.opt = opt
        self.body = nn.Linear(opt['wide'], 3)
    def forward(self, x):
        return getattr(F, self.opt['gate_out'])(self.body(x))
"""
    _, executed = build(text, "Net", options={"wide": "12"})
    assert executed.inputs == ("float32[2,12]",)
    assert executed.passes == "forward and backward"


def test_a_module_that_takes_too_much_is_made_smaller(build: Build) -> None:
    text = """
class Net(nn.Module):
    def __init__(self, hidden=4096, depth=40, num_classes=50):
        super().__init__()
        if hidden * depth > 4096:
            raise MemoryError
        self.body = nn.Linear(hidden, hidden)
        self.head = nn.Linear(hidden, num_classes)
    def forward(self, x):
        return self.head(self.body(x))
"""
    subject, executed = build(text, "Net")
    assert executed.construction == "Net(hidden=1024, depth=2)"
    assert subject.model.head.out_features == 50
    assert executed.built_by == "invented arguments"


def test_what_a_forward_hands_on_is_given_by_name(build: Build) -> None:
    text = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(6, 3)
    def forward(self, *args, **kwargs):
        return self._train(*args, **kwargs)
    def _train(self, x, mask, gain):
        return self.body(x) * mask.float().mean() * gain.mean()
"""
    _, executed = build(text, "Net")
    assert executed.passes == "forward and backward"
    assert [text.partition("=")[0] for text in executed.inputs[1:]] == ["mask", "gain"]


def test_inputs_that_are_joined_share_the_width(build: Build) -> None:
    text = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(24, 3)
    def forward(self, one, other):
        assert one.shape == other.shape
        return self.body(torch.cat([one, other], dim=-1))
"""
    _, executed = build(text, "Net")
    assert [text.rpartition(",")[2] for text in executed.inputs] == ["12]", "12]"]


def test_a_class_that_nobody_defines_is_not_invented(build: Build) -> None:
    text = """
class Net(nn.Module):
    def __init__(self):
        super(OldName, self).__init__()
    def forward(self, x):
        return x
"""
    with pytest.raises(CannotRun, match=re.escape("name 'OldName' is not defined")):
        build(text, "Net")


def test_functions_and_classes_are_told_by_their_names() -> None:
    from functools import partial

    assert described(nn.functional.relu) == "relu"
    assert described([nn.Conv2d, partial(nn.Conv2d, kernel_size=3)]) == "[Conv2d, partial(Conv2d, kernel_size=3)]"


def test_a_function_of_the_file_is_taken_for_a_parameter_of_its_name(build: Build) -> None:
    text = """
def plain_conv(inside, outside, kernel_size):
    return nn.Conv2d(inside, outside, kernel_size, padding=kernel_size // 2)
class Net(nn.Module):
    def __init__(self, conv, width):
        super().__init__()
        self.body = conv(width, 2 * width, 5)
    def forward(self, x):
        return self.body(x)
"""
    subject, executed = build(text, "Net")
    assert subject.model.body.padding == (2, 2)
    assert executed.construction == "Net(conv=plain_conv, width=32)"
