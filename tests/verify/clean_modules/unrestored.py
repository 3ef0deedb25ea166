"""Modules whose runs do differ, for a reason that is no operator's: state that lives outside of them."""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import itertools
import os
import time
from typing import ClassVar

import numpy as np
import torch
from torch import nn

from tests.verify.clean_modules.entry import Build, Table
from tests.verify.flagged import floats

COUNT = itertools.count(1)
DRAWS = torch.Generator().manual_seed(0)
NUMPY_DRAWS = np.random.default_rng(0)
SEEN: list[torch.Tensor] = []


class Base(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Linear(16, 16)


class CountsForTheClass(Base):
    calls: ClassVar[int] = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        CountsForTheClass.calls += 1
        return self.body(x) / self.calls


class CountsForTheFile(Base):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (self.body(x) + next(COUNT)).clamp(max=next(COUNT) / 2)


class Slice(Base):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.body(x)[:, next(COUNT) % 8 :]


class DrawsFromTheFile(Base):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.body(x) * torch.rand(16, generator=DRAWS)


class DrawsFromTheFileWithNumpy(Base):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.body(x) * torch.from_numpy(NUMPY_DRAWS.random(16)).float()
        return x * float(NUMPY_DRAWS.random()) + torch.tensor(NUMPY_DRAWS.random(16).tolist())


class Remembers(Base):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        SEEN.append(self.body(x).detach())
        return self.body(x) + torch.stack([each for each in SEEN if each.shape == x.shape]).sum(0)


class Clock(Base):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.body(x) * (time.perf_counter_ns() % 1000)


class System(Base):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.body(x) + torch.frombuffer(bytearray(os.urandom(16)), dtype=torch.uint8)


class Seeds(Base):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        torch.manual_seed(time.perf_counter_ns())
        return self.body(nn.functional.dropout(x))


class BuildsByTheClock(Base):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        first = time.perf_counter_ns() % 97
        return self.body(x) + torch.full((16,), first) * torch.arange(first, first + 16)


OF_ROWS: dict[str, Build] = {
    "counts for the class": CountsForTheClass,
    "counts for the file": CountsForTheFile,
    "slices by a count": Slice,
    "a generator of the file": DrawsFromTheFile,
    "NumPy's generator of the file": DrawsFromTheFileWithNumpy,
    "remembers in a list of the file": Remembers,
    "clock": Clock,
    "numbers of the system": System,
    "seeds by the clock": Seeds,
    "builds by the clock": BuildsByTheClock,
}
UNRESTORED: Table = {name: (build, lambda: (floats(8, 16),)) for name, build in OF_ROWS.items()}
