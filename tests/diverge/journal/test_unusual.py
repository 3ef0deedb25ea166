"""Programs that go deep into torch: the recorder neither breaks them nor shows in them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

pytest.importorskip("torch")

from tests.cli.command import clean_environment
from tests.diverge.journal.program import NAME, recorded_program
from torchlint.diverge.running import Wanted
from torchlint.recording.journal.names import Level

pytestmark = pytest.mark.torch

START = """\
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.ReLU())
optimizer = torch.optim.Adam(model.parameters())


def train():
    optimizer.zero_grad()
    model(torch.ones(2, 4)).sum().backward()
    optimizer.step()


train()
"""

MODES = """
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode

seen = []


class Operators(TorchDispatchMode):
    def __torch_dispatch__(self, called, types, args=(), kwargs=None):
        seen.append(str(called))
        return called(*args, **(kwargs or {}))


class Functions(TorchFunctionMode):
    def __torch_function__(self, called, types, args=(), kwargs=None):
        seen.append(getattr(called, "__name__", ""))
        return called(*args, **(kwargs or {}))


class Logged(torch.Tensor):
    @classmethod
    def __torch_function__(cls, called, types, args=(), kwargs=None):
        seen.append(getattr(called, "__name__", ""))
        return super().__torch_function__(called, types, args, kwargs)


with Operators(), Functions():
    train()
with FlopCounterMode(display=False) as counter:
    train()
logged = torch.ones(2, 4).as_subclass(Logged)
(model(logged) + 1).sum().backward()
train()
print(counter.get_total_flops(), len(seen), seen)
"""

NO_MEMORY = """
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.func import grad, hessian, vmap

freed = torch.ones(4, 4) + 1
turned, first = freed.t(), freed[:, :1].expand(4, 4)
freed.untyped_storage().resize_(0)
freed.detach(), turned.detach(), first.detach()
train()
freed.untyped_storage().resize_(64)
freed.fill_(1)
print(turned.sum())

kept = nn.Identity()
shared = nn.Parameter(torch.ones(3))
owner = torch.optim.SGD([shared], lr=0.1)
shared.sum().backward()
shared.data.untyped_storage().resize_(0)
shared.grad = None
owner.step()
print(kept(hessian(lambda x: (x**3).sum())(torch.ones(3))))
zeros = torch._efficientzerotensor((3,))
print(kept(zeros * 2) + torch.ones(3), kept(zeros.expand(2, 3)) * 1)
print(vmap(kept)(torch.ones(3)), grad(lambda x: kept(x).sum())(torch.ones(3)))
with FakeTensorMode() as fake:
    kept(fake.from_tensor(torch.ones(3)) + 1)
kept(torch.empty(3, device="meta") + 1)
"""

LAYOUTS = """
kept = nn.Identity()
ones = torch.ones(3, 3)
for made in (
    ones.to_sparse(),
    ones.to_sparse_csr(),
    torch.nested.nested_tensor([torch.ones(2, 3), torch.ones(4, 3)]),
    torch.nested.nested_tensor([torch.ones(2, 3), torch.ones(4, 3)], layout=torch.jagged),
    torch.quantize_per_tensor(ones, 0.1, 0, torch.qint8),
    torch.complex(ones, ones).conj(),
    ones.to(torch.bfloat16),
    ones.to(torch.float8_e4m3fn),
    torch.ones(0, 3),
    torch.ones(()).expand(5),
    ones.as_strided((2, 2), (1, 1)),
    ones.share_memory_(),
):
    kept(made.clone())
if torch.backends.mkldnn.is_available():
    kept(ones.to_mkldnn())
train()
print([each.tolist() for each in model.parameters()])
"""


@pytest.mark.parametrize("body", [MODES, NO_MEMORY, LAYOUTS], ids=["modes", "no-memory", "layouts"])
def test_an_unusual_program_prints_what_it_prints_alone(body: str, tmp_path: Path) -> None:
    for level in get_args(Level):
        folder = tmp_path / level
        folder.mkdir()
        recorded_program(folder, START + body, Wanted(level))
    alone = subprocess.run([sys.executable, NAME], cwd=folder, env=clean_environment(), capture_output=True, check=True)
    assert alone.stdout
    for level in get_args(Level):
        assert (tmp_path / f"{level}-recording" / "output").read_bytes().endswith(alone.stdout)
