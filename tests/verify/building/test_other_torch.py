"""Code that the installed torch refuses whatever it is given: told at once, in torch's own words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("torch")

from torchlint.recording.errors import CannotRun

pytestmark = pytest.mark.torch

Build = Callable[..., Any]

NET = """
class Sign(torch.autograd.Function):
    def forward(self, x):
        return x.sign()
    def backward(self, grad):
        return grad
class Net(nn.Module):
    def __init__(self, width, act):
        super().__init__()
        print("made")
        self.body = nn.Linear(width, 2 * width)
        {init}
    def forward(self, x):
        x = self.body(x)
        print("run")
        {forward}
"""
FEW = 12


@pytest.mark.parametrize(
    ("forward", "words"),
    [
        ("return Sign()(x)", "Legacy autograd function with non-static forward method is deprecated"),
        ("a, b = x.chunk(2, -1); a += b; return a", "is a view and is being modified inplace"),
        ("a = x.unbind(0)[0]; a[0] = 1; return a", "is a view and is being modified inplace"),
        ("return torch.symeig(x)[0]", "This function was deprecated since version 1.9 and is now removed"),
        ("return x.lstsq(x)[0]", "This function was deprecated since version 1.9 and is now removed"),
        ("return torch.rfft(x, 1)", "module 'torch' has no attribute 'rfft'"),
        ("return nn.backends.thnn(x)", "module 'torch.nn' has no attribute 'backends'"),
        ("return torch.stft(x.view(2, -1), 8)", "stft requires the return_complex parameter"),
    ],
)
def test_a_forward(build: Build, capsys: pytest.CaptureFixture[str], forward: str, words: str) -> None:
    with pytest.raises(CannotRun, match=r"torch \d+\.\d+\.\d+ refuses it: ") as caught:
        build(NET.format(init="pass", forward=forward), "Net")
    assert words in caught.value.reason
    assert caught.value.kind == "load"  # no table of arguments helps
    assert capsys.readouterr().out.count("run") <= FEW


@pytest.mark.parametrize(
    ("init", "words"),
    [
        ("self.body.bias[:width] += 1", "a view of a leaf Variable that requires grad"),
        ("self.body.weight.fill_(0)", "a leaf Variable that requires grad is being used in an in-place operation"),
        ("self.window = torch.legacy.window(width)", "module 'torch' has no attribute 'legacy'"),
        ("self.rows = torch.eig(self.body.weight[:width])", "is now removed"),
    ],
)
def test_a_constructor(build: Build, capsys: pytest.CaptureFixture[str], init: str, words: str) -> None:
    with pytest.raises(CannotRun) as caught:
        build(NET.format(init=init, forward="return x"), "Net")
    assert words in caught.value.reason
    assert capsys.readouterr().out.count("made") <= FEW


@pytest.mark.parametrize(
    ("init", "forward"),
    [
        ("self.act = getattr(nn, act)()", "return self.act(x)"),
        ("assert act in ('plain', 'gated'), f'{act} is no longer supported'", "return x"),
        (
            "if act not in ('plain', 'gated'): raise RuntimeError(f'{act} has been removed: plain, gated')",
            "return x",
        ),
        ("pass", "return x.new_zeros(2).index_add(0, x.long().flatten()[:2].clamp(0, 1), x.flatten()[:2])"),
    ],
)
def test_what_other_arguments_mend(build: Build, init: str, forward: str) -> None:
    subject, _ = build(NET.format(init=init, forward=forward), "Net")
    assert subject.run().outputs
