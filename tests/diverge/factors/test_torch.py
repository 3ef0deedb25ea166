"""Threads, workers, the determinism mode and unwritten memory, held and varied; and torch itself goes on as before."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.diverge.factors.held_program import ALL, output_of

pytestmark = pytest.mark.torch
LOADERS = """
import torch
from torch.utils.data import DataLoader, Dataset, get_worker_info

class Numbers(Dataset):
    def __len__(self):
        return 6

    def __getitem__(self, index):
        return index, get_worker_info() is not None

class Own(DataLoader):
    def __init__(self, *given, **named):
        super().__init__(*given, **named)

if __name__ == "__main__":
    made = [
        DataLoader(Numbers(), 2, False, None, None, 2), DataLoader(Numbers(), batch_size=2), Own(Numbers(), 2),
        Own(Numbers(), 2, num_workers=1, prefetch_factor=3, persistent_workers=True, timeout=60),
        DataLoader(Numbers(), 2, num_workers=2, multiprocessing_context="fork", pin_memory_device=""),
    ]
    for loader in made:
        assert sorted(sum((batch[0].tolist() for batch in loader), [])) == list(range(6))
        print(loader.num_workers, {worker for batch in loader for worker in batch[1].tolist()})
    for wrong in (DataLoader, lambda: DataLoader(Numbers(), nothing=1), lambda: DataLoader([], batch_size=-1)):
        try:
            wrong()
        except (TypeError, ValueError) as error:
            print(type(error).__name__)
"""


def test_loaders_load_without_workers_where_they_are_held(tmp_path: Path) -> None:
    printed = output_of(LOADERS, tmp_path, {"workers"}).splitlines()
    assert printed == ["0 {False}"] * 5 + ["TypeError", "TypeError", "ValueError"]


def test_workers_load_while_everything_else_is_held(tmp_path: Path) -> None:
    printed = [output_of(LOADERS, tmp_path, set(ALL) - {"workers"}) for _ in range(2)]
    assert printed[0] == printed[1]
    assert printed[0].splitlines()[:3] == ["2 {True}", "0 {False}", "0 {False}"]


def test_loaders_change_between_two_workers_and_none_where_they_are_varied(tmp_path: Path) -> None:
    printed = output_of(LOADERS, tmp_path, varied={"workers"}).splitlines()
    assert printed == [
        "0 {False}",
        "2 {True}",
        "2 {True}",
        "0 {False}",
        "0 {False}",
        "TypeError",
        "TypeError",
        "ValueError",
    ]


def test_the_number_of_threads_is_held_or_another(tmp_path: Path) -> None:
    program = """
    import torch
    first = torch.get_num_threads()
    torch.set_num_threads(7)
    print(first, torch.get_num_threads(), torch.__config__.parallel_info().count("OMP_NUM_THREADS : 1"))
    """
    one = {"OMP_NUM_THREADS": "1"}
    assert output_of(program, tmp_path, {"threads"}, environ={"OMP_NUM_THREADS": "3"}) == "1 1 1\n"
    assert output_of(program, tmp_path, varied={"threads"}, environ={"OMP_NUM_THREADS": "3"}) == "1 1 1\n"
    assert output_of(program, tmp_path, varied={"threads"}, environ=one) == "2 2 0\n"


def test_the_determinism_mode_stays_on(tmp_path: Path) -> None:
    program = """
    import os, torch, warnings
    torch.use_deterministic_algorithms(False)
    torch.set_deterministic_debug_mode("default")
    torch.backends.cudnn.benchmark = True
    with torch.backends.cudnn.flags(benchmark=True):
        inside = torch.backends.cudnn.benchmark
    print(torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled(),
          torch.backends.cudnn.benchmark, inside, os.environ.get("CUBLAS_WORKSPACE_CONFIG"),
          torch.utils.deterministic.fill_uninitialized_memory)
    torch.zeros(3).put_(torch.tensor([0]), torch.ones(1))  # torch warns of it
    torch.use_deterministic_algorithms(True)
    print(torch.is_deterministic_algorithms_warn_only_enabled())
    """
    assert output_of(program, tmp_path, {"determinism-mode"}) == "True True False False :4096:8 False\nFalse\n"
    assert output_of(program, tmp_path, {"determinism-mode", "memory"}).splitlines()[0].endswith(" True")


MEMORY = """
import sys, torch
from torch.utils._python_dispatch import TorchDispatchMode
from torchlint.recording.factors.memory import FreshMemory

memory = FreshMemory(varied=sys.argv[1:] == ["varied"])

class Filling(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        before = memory.written(func, args)
        result = func(*args, **(kwargs or {}))
        memory.fill(func, result, before)
        return result

old = torch.full((3,), 5.0)
state = torch.get_rng_state()
with Filling():
    made = [
        torch.empty(300), torch.empty(2, 2, requires_grad=True), torch.empty_like(old), old.new_empty(3),
        torch.Tensor(9), old.new_empty_strided((2, 2), (1, 2)), torch.empty_strided((2, 2), (1, 3)),
        torch.empty_permuted((2, 3), (1, 0)),
        torch.nn.Parameter(torch.empty(4)), torch.empty(0), torch.empty(()), torch.LongTensor(4),
        *torch.nn.Module.to_empty(torch.nn.Linear(2, 2, device="meta"), device="cpu").parameters(),
    ]
    types = [value for value in vars(torch).values() if isinstance(value, torch.dtype) and "q" not in str(value)]
    for dtype in {*types}:
        try:
            made.append(torch.empty(5, dtype=dtype))
        except (RuntimeError, NotImplementedError, TypeError):
            continue  # no kernel fills such a tensor, whoever asks
    grown, same = torch.full((2,), 5.0).resize_(4), torch.full((2,), 5.0).resize_as_(old)
    shrunk = torch.full((4,), 5.0).resize_(2).resize_(4)
    torch.empty(3, device="meta"), torch.empty(3, 3, layout=torch.sparse_coo)
    torch.empty(2, 2, layout=torch.sparse_csr)
    torch._empty_affine_quantized((2,), scale=1.0, zero_point=0, dtype=torch.quint8)
    inside = torch.inference_mode()(lambda: torch.empty(3))()
assert len({each.dtype for each in made}) > 12
assert torch.equal(state, torch.get_rng_state()) and all(each._version == 0 for each in made)
value = int(sys.argv[1:] == ["varied"])
for each in [*made, inside]:
    try:
        values = {complex(item) for item in each.detach().flatten().tolist()}
    except (RuntimeError, NotImplementedError):
        continue  # such values cannot be read
    if "float8" not in str(each.dtype):  # one of them has no zero, and old releases write no one into the others
        assert values <= {complex(value)}, (each.dtype, values)
assert grown.tolist() == [5.0, 5.0, value, value] and same.tolist() == [5.0, 5.0, value]
assert shrunk.tolist() == [5.0] * 4
"""


def test_unwritten_memory_is_filled_and_nothing_else(tmp_path: Path) -> None:
    quiet = {"PYTHONWARNINGS": "ignore"}
    output_of(MEMORY, tmp_path, environ=quiet)
    output_of(MEMORY.replace('sys.argv[1:] == ["varied"]', "True"), tmp_path, environ=quiet)


def test_torch_works_while_everything_is_held(tmp_path: Path) -> None:
    program = """
    import copy, io, random, time
    import numpy as np, torch
    from torch import nn
    from torch.utils import benchmark

    def step(values):
        return torch.relu(values) * 2

    model = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5), nn.Linear(4, 1))
    scripted = torch.jit.script(model)
    assert torch.jit.script(step)(torch.ones(2)).sum() == 4 and torch.compile(step)(torch.ones(2)).sum() == 4
    optimizer = torch.optim.AdamW(copy.deepcopy(model).parameters())
    loader = torch.utils.data.DataLoader(torch.randn(8, 4), 2, shuffle=True, num_workers=2)
    for batch in loader:
        print(scripted(batch).sum().item(), random.random(), np.random.rand(), time.time())
    buffer = io.BytesIO()
    torch.save([model.state_dict(), random.getstate()], buffer)
    buffer.seek(0)
    torch.load(buffer, weights_only=False)
    print(torch.initial_seed(), torch.get_num_threads(), benchmark.Timer("1 + 1").timeit(3).number_per_run)
    """
    quiet = {"PYTHONWARNINGS": "ignore::DeprecationWarning"}  # scripting is deprecated
    printed = [output_of(program, tmp_path, ALL, environ=quiet) for _ in range(2)]
    assert printed[0] == printed[1]
    assert printed[0].splitlines()[-1] == "0 1 3"


def test_a_compiled_function_may_read_the_held_clock(tmp_path: Path) -> None:
    program = """
    import datetime, time, os, torch
    compiled = torch.compile(lambda values: values * 2 + 0 * time.time() + 0 * os.getpid(), backend="eager")
    assert datetime.datetime.now().year == 2023
    assert compiled(torch.ones(2)).tolist() == [2.0, 2.0]
    """
    output_of(program, tmp_path, set(ALL) - {"compile"})
