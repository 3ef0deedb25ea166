"""Programs in which very many functions call others: what is asked along their calls is asked once."""

from __future__ import annotations

from pathlib import Path

from tests.counting import MOST_A_LINE, counted_calls
from torchlint import api

_TRAIN = """import torch
from net import Net


def main() -> None:
    torch.manual_seed(0)
    net = Net().cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in torch.load("batches.pt"):
        optimizer.zero_grad()
        (net(x.cuda()) - y.cuda()).square().mean().backward()
        optimizer.step()


if __name__ == "__main__":
    main()
"""
_HEAD = "from torch import nn\nfrom torch.nn import functional as F\n\n\n"
_NET = """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 3, 3)

"""
_RESIZE = 'F.interpolate(x.tanh(), scale_factor=2, mode="bilinear")'


def _codes(folder: Path, net: str) -> list[str]:
    """The codes that are reported in `net.py`."""
    (folder / "train.py").write_text(_TRAIN)
    (folder / "net.py").write_text(_HEAD + net)
    with counted_calls() as calls:
        report = api.check_paths([folder], api.CheckOptions(jobs=1))
    assert calls() < MOST_A_LINE * len(net.splitlines())
    assert not report.internal_errors
    return [one.code for one in report.diagnostics if Path(one.location.path).name == "net.py"]


def _layers(width: int, head: str, call: str) -> str:
    """Four layers of functions, of which each calls all of the layer below; `up` at the bottom."""
    text = ""
    for layer in range(4):
        below = ["up"] if layer == 0 else [f"step_{layer - 1}_{n}" for n in range(width)]
        body = "".join(f"    x = {call.format(name)}\n" for name in below)
        text += "".join(f"def step_{layer}_{n}({head}):\n{body}    return x\n\n\n" for n in range(width))
    calls = "".join(f"        x = step_3_{n}(x)\n" for n in range(width))
    return f"{text}{_NET}    def forward(self, x):\n        x = self.conv(x)\n{calls}        return x\n"


def test_a_chain_of_functions_that_nothing_starts_is_unused_however_long(tmp_path: Path) -> None:
    chain = f"def step_0(x):\n    return {_RESIZE}\n\n\n"
    chain += "".join(f"def step_{n}(x):\n    return step_{n - 1}(x)\n\n\n" for n in range(1, 2000))
    used = f"{_NET}    def forward(self, x):\n        return self.conv(x)\n"
    assert _codes(tmp_path, chain + used) == []
    assert _codes(tmp_path, chain + used.replace("self.conv(x)", "step_1999(self.conv(x))")) == ["TL103"]


def test_layers_of_functions_that_all_call_each_other_are_followed_in_proportion(tmp_path: Path) -> None:
    up = f"def up(x):\n    return {_RESIZE}\n\n\n"
    assert _codes(tmp_path, up + _layers(40, "x", "{}(x)")) == ["TL103"]


def test_a_parameter_that_layers_of_functions_hand_on_is_followed_in_proportion(tmp_path: Path) -> None:
    up = f"def up(x, smooth=False):\n    if smooth:\n        return {_RESIZE}\n    return x\n\n\n"
    assert _codes(tmp_path, up + _layers(20, "x, smooth=False", "{}(x, smooth=smooth)")) == []
