"""Generators, the system's entropy and process ids: fixed where they are held, and otherwise the program's."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.diverge.factors.held_program import output_of

PYTHON = """
import multiprocessing, os, pickle, random, tempfile

class Own(random.Random):
    pass

def drawn():
    return random.random(), random.Random().random(), Own().random()

if __name__ == "__main__":
    print(random.random(), drawn())
    random.seed()
    print(drawn())
    random.seed(None)
    print(drawn(), isinstance(Own(), random.Random), type(random._inst) is random.Random)
    print(os.path.basename(tempfile.mktemp()))
    for start in ("fork", "spawn"):
        context = multiprocessing.get_context(start)
        results = []
        for _ in range(2):
            with context.Pool(1) as pool:
                results.append(pool.apply(drawn))
        print(results, results[0] != results[1])
"""
NUMPY = """
import numpy as np
print(np.random.rand(), np.random.default_rng().random(), np.random.RandomState().rand())
print(np.random.SeedSequence().entropy, np.random.Generator(np.random.PCG64()).random())
print(np.random.RandomState(np.random.MT19937()).rand(), np.random.default_rng().random())
np.random.seed()
print(np.random.rand())
np.random.seed(None)
print(np.random.rand())
"""
TORCH = """
import torch, torch.cuda
print(torch.rand(1).item(), torch.seed(), torch.random.seed(), torch.rand(1).item())
generator = torch.Generator()
print(generator.seed(), torch.rand(1, generator=generator).item(), generator.initial_seed())
torch.cuda.seed(), torch.cuda.seed_all()
print(torch.nn.Linear(2, 2).weight.tolist())
"""
ENTROPY = """
import os, random, secrets, uuid
print(os.urandom(8), os.getrandom(4), len(os.urandom(0)), len(os.urandom(100)))
print(random.SystemRandom().random(), random.SystemRandom().getrandbits(70))
print(secrets.token_hex(), secrets.randbits(40), secrets.choice(range(10**9)), uuid.uuid4(), uuid.uuid1())
assert uuid.uuid1().version == 1 and uuid.uuid4().version == 4 and uuid.uuid4() != uuid.uuid4()
"""
PROCESS = """
import os, signal, time
own = os.getpid()
reader, writer = os.pipe()
if os.fork() == 0:
    os.write(writer, str(os.getpid()).encode())
    os._exit(0)
os.wait()
print(own, os.getpid(), int(os.read(reader, 100)), os.getpgid(own) == os.getpgid(0))
signal.signal(signal.SIGUSR1, lambda *_: print("got it"))
os.kill(os.getpid(), signal.SIGUSR1)
time.sleep(0.01)
"""


@pytest.mark.parametrize(
    ("factor", "program"),
    [
        ("python-random", PYTHON),
        ("numpy-random", NUMPY),
        pytest.param("torch-random", TORCH, marks=pytest.mark.torch),
        ("os-entropy", ENTROPY),
        ("process-id", PROCESS),
    ],
)
def test_two_runs_are_equal_only_where_it_is_held(factor: str, program: str, tmp_path: Path) -> None:
    held = [output_of(program, tmp_path, {factor}) for _ in range(2)]
    free = [output_of(program, tmp_path) for _ in range(2)]
    assert held[0] == held[1]
    assert all(one != other for one, other in zip(*map(str.splitlines, free), strict=True) if "got it" not in one)


def test_processes_started_one_after_the_other_draw_different_numbers(tmp_path: Path) -> None:
    printed = output_of(PYTHON, tmp_path, {"python-random"})
    assert printed.count("True") == 4


@pytest.mark.torch
def test_seeds_of_the_program_keep_their_meaning(tmp_path: Path) -> None:
    program = """
    import random, numpy as np, torch
    random.seed(42), np.random.seed(42), torch.manual_seed(42)
    print(random.random(), np.random.rand(), torch.rand(1).item())
    print(random.Random(3).random(), random.Random("x").random(), np.random.default_rng(3).random())
    print(np.random.RandomState(3).rand(), torch.rand(1, generator=torch.Generator().manual_seed(3)).item())
    state = random.getstate()
    assert random.random() == (random.setstate(state), random.random())[1]
    """
    assert output_of(program, tmp_path) == output_of(
        program, tmp_path, {"python-random", "numpy-random", "torch-random", "os-entropy"}
    )


def test_numpys_entropy_is_not_held_with_the_systems(tmp_path: Path) -> None:
    program = "import numpy as np\nprint(np.random.default_rng().random())"
    assert output_of(program, tmp_path, {"os-entropy"}) != output_of(program, tmp_path, {"os-entropy"})
    both = {"os-entropy", "numpy-random"}
    assert output_of(program, tmp_path, both) == output_of(program, tmp_path, both)


def test_numpy_is_held_also_where_something_asked_for_it_before(tmp_path: Path) -> None:
    program = """
    from importlib.util import find_spec
    assert find_spec("numpy") and find_spec("numpy.random") and find_spec("numpy.random.bit_generator")
    import numpy as np
    print(np.random.default_rng().random(), np.random.rand(), type(np.__spec__.loader).__name__)
    """
    assert output_of(program, tmp_path, {"numpy-random"}) == output_of(program, tmp_path, {"numpy-random"})


def test_ranks_draw_different_numbers(tmp_path: Path) -> None:
    program = "import uuid\nprint(uuid.uuid4())"
    ranks = [output_of(program, tmp_path, {"os-entropy"}, environ={"RANK": rank}) for rank in "011"]
    assert ranks[0] != ranks[1] == ranks[2]


def test_what_is_replaced_is_pickled_and_copied_and_inspected_as_before(tmp_path: Path) -> None:
    program = """
    import copy, inspect, os, pickle, random, secrets, time, uuid
    for function in (os.urandom, os.getpid, os.listdir, os.scandir, os.kill, uuid.uuid1, uuid.uuid4, time.time,
                     time.sleep, time.strftime, time.perf_counter_ns):
        assert pickle.loads(pickle.dumps(function)) is function, function
        assert copy.deepcopy(function) is function
        print(function.__name__, function.__doc__)
        try:
            print(inspect.signature(function))
        except ValueError as error:
            print("none")
    class Timer:
        now, names, own = time.perf_counter, os.listdir, os.getpid
    assert Timer().now() and Timer.now() and Timer().names(".") and Timer().own() == os.getpid()
    source = random.Random(5)
    source.random()
    print(copy.deepcopy(source).random(), pickle.loads(pickle.dumps(source)).random(), inspect.signature(random.seed))
    print(pickle.loads(pickle.dumps(random.shuffle)).__name__, pickle.loads(pickle.dumps(random.seed)).__name__)
    """
    every = {"python-random", "os-entropy", "process-id", "listing", "clock"}
    assert output_of(program, tmp_path, every) == output_of(program, tmp_path)
