"""What a recorder inside costs a training: `python tests/benchmarks/recording_cost.py`, about three minutes.

The steps of a small ResNet and a small transformer on one core of the CPU, with the recorder at each level and without,
as ratios of the shortest step. Nothing here passes or fails.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import get_args

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - the name that everybody uses

from torchlint.diverge.recordings import read_recorded
from torchlint.diverge.running import Wanted, recorded_run
from torchlint.recording.journal.names import Level

_WARM = 2
_ROUNDS = 2


class Block(nn.Module):
    """Two convolutions and a shortcut."""

    def __init__(self, given: int, made: int, stride: int = 1) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(given, made, 3, stride, 1, bias=False),
            nn.BatchNorm2d(made),
            nn.ReLU(),
            nn.Conv2d(made, made, 3, 1, 1, bias=False),
            nn.BatchNorm2d(made),
        )
        self.shortcut = nn.Identity() if stride == 1 else nn.Conv2d(given, made, 1, stride, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return F.relu(self.body(x) + self.shortcut(x))


def resnet() -> tuple[nn.Module, Callable[[nn.Module], Tensor]]:
    """Ten convolutions, 32 pictures of 32 by 32."""
    blocks = [Block(32, 32), Block(32, 64, 2), Block(64, 128, 2), Block(128, 128)]
    stem = [nn.Conv2d(3, 32, 3, 1, 1, bias=False), nn.BatchNorm2d(32), nn.ReLU()]
    model = nn.Sequential(*stem, *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(128, 10))
    images, labels = torch.randn(32, 3, 32, 32), torch.arange(32) % 10
    return model, lambda model: F.cross_entropy(model(images), labels)


def transformer() -> tuple[nn.Module, Callable[[nn.Module], Tensor]]:
    """Four layers of width 256, 16 rows of 128 tokens."""
    layer = nn.TransformerEncoderLayer(256, 4, 1024, batch_first=True)
    model = nn.Sequential(nn.Embedding(1000, 256), nn.TransformerEncoder(layer, 4), nn.Linear(256, 1000))
    tokens = torch.randint(1000, (16, 128))
    return model, lambda model: F.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten())


MODELS = {"resnet": (resnet, 8), "transformer": (transformer, 6)}
"""Each with the number of steps that are measured."""


def train(name: str) -> float:
    """The shortest step, in seconds of the processor."""
    torch.manual_seed(0)
    make, steps = MODELS[name]
    model, loss = make()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    taken = []
    for _ in range(_WARM + steps):
        began = time.thread_time()
        optimizer.zero_grad()
        loss(model).backward()
        optimizer.step()
        taken.append(time.thread_time() - began)
    return min(taken[_WARM:])


def main() -> int:
    levels: tuple[Level, ...] = get_args(Level)
    print(f"{'':<14} {'a step':>9} " + " ".join(f"{level:>9}" for level in levels) + f" {'MB a step':>10}")
    for name in MODELS:
        plain, recorded, size = [], {level: list[float]() for level in levels}, 0.0
        for _ in range(_ROUNDS):
            plain.append(_seconds(name))
            for level in levels:
                seconds, size = _recorded(name, level)
                recorded[level].append(seconds)
        ratios = " ".join(f"{min(recorded[level]) / min(plain):>8.2f}x" for level in levels)
        print(f"{name:<14} {min(plain) * 1000:>6.0f} ms {ratios} {size / 1e6:>10.3f}")
    return 0


def _seconds(name: str) -> float:
    done = subprocess.run(_command(name), capture_output=True, text=True, check=True)
    return float(done.stdout)


def _recorded(name: str, level: Level) -> tuple[float, float]:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        with (folder / "output").open("wb") as output:
            recorded_run(_command(name), folder, Wanted(level), output=output.fileno())
        [recording] = read_recorded(folder).processes.values()
        size = recording.path.stat().st_size / recording.summary.steps
        return float((folder / "output").read_text(encoding="utf-8")), size


def _command(name: str) -> list[str]:
    return [sys.executable, __file__, name]


if __name__ == "__main__":
    os.environ["OMP_NUM_THREADS"] = "1"  # for the processes that are started
    if len(sys.argv) > 1:
        print(train(sys.argv[1]))
    else:
        sys.exit(main())
