"""Findings that explain a difference from another line: where the layer is made, where the memory is taken."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from torchlint.diverge.data import Cause, Source
from torchlint.diverge.explaining import explanations
from torchlint.diverge.sources import Sources

PADDED = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3)
        self.conv = nn.Conv2d(8, 8, 3, padding=1, padding_mode="replicate")

    def forward(self, x):
        return self.conv(self.stem(x))


net = Net()
net(torch.randn(2, 3, 8, 8)).sum().backward()
"""
UNWRITTEN = """\
import torch
from torch import nn

model = nn.Linear(16, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(5):
    x = torch.empty(64, 16)
    loss = model(x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
ADDED = "import torch\n\n\ndef pooled(x, index):\n    return torch.zeros(8).index_add_(0, index, x)\n"


def explained(folder: Path, text: str, line: int, kind: str, operator: str) -> list[tuple[str, int]]:
    path = folder / "train.py"
    path.write_text(text, encoding="utf-8")
    source = Source(str(path), line)
    origin: Any = SimpleNamespace(found=SimpleNamespace(kind=kind, operator=SimpleNamespace(name=operator)))
    cause = Cause("main", 1, ("gradients",), origin, source, stack=(source,))
    return [(each.code, each.line) for each in explanations(cause, (), Sources(folder))]


@pytest.mark.parametrize(
    ("text", "line", "kind", "operator", "told"),
    [
        (PADDED, 12, "kernel", "aten.replication_pad2d_backward.default", [("TL101", 9)]),
        (UNWRITTEN, 8, "memory", "aten.addmm.default", [("TL118", 7)]),
        # No finding: then what the registry says, at the line itself.
        (ADDED, 5, "kernel", "aten.put_.default", [("TL106", 5)]),
        (PADDED, 12, "data", "aten.replication_pad2d_backward.default", []),
        (PADDED, 12, "kernel", "aten.mm.default", []),
    ],
)
def test_a_finding_about_the_operator_explains_from_another_line(
    tmp_path: Path, text: str, line: int, kind: str, operator: str, told: list[tuple[str, int]]
) -> None:
    assert explained(tmp_path, text, line, kind, operator) == told
