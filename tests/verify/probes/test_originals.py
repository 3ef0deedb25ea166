"""What a target puts in place of functions changes its own runs, and never what is said of them."""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec
import pytest

torch = pytest.importorskip("torch")
pytestmark = [pytest.mark.torch, pytest.mark.skipif(sys.platform == "win32", reason="runs are forked")]

from torchlint.recording.entry import run  # noqa: E402
from torchlint.recording.messages import Answer, Code, Hooks, Message, ProbedFinding, Request, Target  # noqa: E402
from torchlint.recording.statements.apart import run_apart  # noqa: E402

_STEADY = """
class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Linear(6, 4)

    def forward(self, values):
        return self.body(values).relu()  # flagged
"""
_DIVERGING = """
library = torch.library.Library("originals_of_a_test", "DEF")
library.define("tick(Tensor values) -> Tensor")
count = itertools.count()
library.impl("tick", lambda values: values + next(count), "CompositeExplicitAutograd")


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Linear(6, 4)

    def forward(self, values):
        return torch.ops.originals_of_a_test.tick(self.body(values).detach())  # flagged
"""
_DRAWING = """
class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Linear(6, 4)

    def forward(self, values):
        return self.body(values) + torch.rand(4) + random.random()  # flagged
"""
_HEAD = "import builtins, copy, itertools, json, os, random, time, zlib\nimport torch\nfrom torch import nn\n"
_TARGETS = {"steady": (_STEADY, "NOT REPRODUCED"), "diverging": (_DIVERGING, "DIVERGED")}

_PATCHES = (
    "torch.equal = lambda one, other: False",
    "torch.equal = lambda one, other: True",
    "torch.Tensor.equal = lambda self, other: True",
    "torch.Tensor.__eq__ = lambda self, other: torch.ones(self.shape, dtype=torch.bool)",
    "torch.Tensor.__ne__ = lambda self, other: torch.zeros(self.shape, dtype=torch.bool)",
    "torch.Tensor.view = lambda self, *shape: torch.zeros(3, dtype=torch.uint8)",
    "torch.Tensor.reshape = lambda self, *shape: torch.zeros(3)",
    "torch.Tensor.contiguous = lambda self, *rest: torch.zeros(3)",
    "torch.Tensor.to = lambda self, *rest, **named: torch.zeros(3)",
    "torch.Tensor.abs = lambda self: self * 0",
    "torch.Tensor.sum = lambda self, *rest: torch.zeros(())",
    "torch.Tensor.clone = lambda self, **named: torch.zeros(self.shape)",
    "torch.Tensor.data_ptr = lambda self: 0",
    "torch.Tensor.__deepcopy__ = lambda self, memo: self",
    "torch.isnan = torch.Tensor.isnan = lambda values: True",
    "torch.float64 = torch.uint8 = torch.strided = torch.float16",
    "torch.linspace = lambda *rest, **named: torch.rand(10)",
    "torch.manual_seed = torch.random.manual_seed = lambda seed: None",
    "torch.get_rng_state = lambda: torch.zeros(1)",
    "torch.set_num_threads = torch.use_deterministic_algorithms = lambda *rest, **named: None",
    "random.seed = lambda seed: None",
    "torch.Tensor.layout = property(lambda self: None)",
    "copy.deepcopy = lambda value, memo=None: value",
    "zlib.crc32 = lambda data, start=0: int(time.time_ns())",
    "time.monotonic = lambda: 0.0",
    "time.monotonic = time.perf_counter = lambda: 1 / 0",
    "time.sleep = lambda seconds: 1 / 0",
    "os.write = os.getpid = lambda *rest: 1 / 0",
    "json.dumps = lambda *rest: 1 / 0",
    "builtins.sorted = lambda values, **named: []",
    "builtins.any = lambda values: False",
    "builtins.all = lambda values: True",
    "builtins.sum = builtins.filter = lambda *values, **named: 0",
    "builtins.max = builtins.min = lambda *rest, **named: 0",
    "builtins.abs = builtins.repr = builtins.print = lambda *rest, **named: 0",
    "builtins.enumerate = lambda *rest, **named: iter(())",
)


def _asked(folder: Path, text: str, probe: str = "repeat", code: str = "") -> list[Answer]:
    """What the process of a target answers, in a fork: what is replaced there does not come back here."""
    path = folder / "program.py"
    path.write_text(text)
    line = next(number for number, words in enumerate(text.splitlines(), 1) if words.endswith("# flagged"))
    finding = ProbedFinding(index=0, code=code, line=line, end_line=line, probes=(probe,))  # type: ignore[arg-type]
    request = Request(
        code=Code(path=str(path), module="program", text=text, search_paths=(str(folder),)),
        target=Target(kind="module", name="Net") if probe != "config" else Target(kind="statement", name="program"),
        findings=(finding,),
        hooks=Hooks(inputs=("float32[2,6]",)),
        runs=3,
        threads=1,
        seconds=600.0,
    )

    def work() -> list[bytes]:
        heard: list[bytes] = []
        run(msgspec.json.encode(request), heard.append)
        return heard

    messages = [msgspec.json.decode(each, type=Message) for each in run_apart(work, list[bytes], 600.0)]
    return [each for each in messages if isinstance(each, Answer)]


@pytest.mark.parametrize("patch", _PATCHES)
@pytest.mark.parametrize("target", _TARGETS)
def test_what_a_file_replaces_when_it_is_loaded_changes_no_verdict(tmp_path: Path, target: str, patch: str) -> None:
    text, verdict = _TARGETS[target]
    (said,) = _asked(tmp_path, f"{_HEAD}{text}\n{patch}\n")
    assert said.verdict == verdict, said.reason
    assert _steady(said) == _unpatched(tmp_path, target)


_PROGRAM = """
def main():
    {seed}
    model = nn.Linear(80, 1)
    order = random.sample(range(50), 5)


if __name__ == "__main__":  # flagged
    main()
"""


@pytest.mark.parametrize(
    "patch",
    [
        "torch.equal = lambda one, other: False",
        "torch.equal = lambda one, other: True",
        "zlib.crc32 = lambda data, start=0: 7",
        "random.getstate = torch.get_rng_state = lambda: None",
        "torch.Tensor.tolist = torch.Tensor.data_ptr = torch.Tensor.reshape = torch.Tensor.detach = None",
        "builtins.sorted = builtins.repr = lambda *rest, **named: 'same'",
        "os.write = os.read = time.monotonic = None",
    ],
)
@pytest.mark.parametrize(
    ("seed", "verdict"), [("pass", "CONFIRMED"), ("torch.manual_seed(3); random.seed(3)", "REFUTED")]
)
def test_what_a_program_replaces_does_not_change_what_it_is_seen_to_draw(
    tmp_path: Path, seed: str, verdict: str, patch: str
) -> None:
    (said,) = _asked(tmp_path, f"{_HEAD}\n{patch}\n{_PROGRAM.format(seed=seed)}", "config", "TL301")
    assert said.verdict == verdict, said.reason


_said: dict[str, str] = {}


def _unpatched(folder: Path, target: str) -> str:
    if target not in _said:
        (said,) = _asked(folder, _HEAD + _TARGETS[target][0])
        _said[target] = _steady(said)
    return _said[target]


def _steady(said: Answer) -> str:
    """The reason, whether the machine was busy or not."""
    return said.reason.partition(", but the machine")[0]


@pytest.mark.parametrize("place", ["__init__", "forward"])
@pytest.mark.parametrize("patch", ["torch.equal = lambda one, other: True", "torch.Tensor.view = None"])
def test_what_a_run_replaces_changes_no_verdict(tmp_path: Path, place: str, patch: str) -> None:
    before = {"__init__": "        self.body =", "forward": "        return torch"}[place]
    (said,) = _asked(tmp_path, _HEAD + _DIVERGING.replace(before, f"        {patch}\n{before}"))
    assert said.verdict == "DIVERGED", said.reason


def test_seeds_that_do_nothing_do_not_reach_the_verifiers_own(tmp_path: Path) -> None:
    patches = "torch.manual_seed = random.seed = lambda seed: None\n"
    (said,) = _asked(tmp_path, _HEAD + _DRAWING + patches)
    assert (said.verdict, "gave the same bits" in said.reason) == ("NOT REPRODUCED", True), said.reason


@pytest.mark.parametrize(
    "patch",
    [
        "torch.Tensor.relu = lambda values: values.tanh()  # flagged",
        "plain = torch.Tensor.relu\ntorch.Tensor.relu = lambda values: plain(values).tanh()  # flagged",
        "def own(values):\n    return values.tanh()  # flagged\nsetattr(torch.Tensor, 'relu', own)",
    ],
)
def test_the_program_itself_runs_with_what_it_replaced(tmp_path: Path, patch: str) -> None:
    (said,) = _asked(tmp_path, f"{_HEAD}{_STEADY.replace('  # flagged', '')}\n{patch}\n", "trace")
    assert "aten.tanh.default" in said.evidence["operators"], said  # type: ignore[operator]


@pytest.mark.parametrize(
    "assignment",
    [
        "torch.use_deterministic_algorithms = True",
        'setattr(torch, "use_deterministic_algorithms", True)',
        "torch.manual_seed = 42",
        "torch.random.manual_seed = 42",
        "random.seed = 0",
    ],
)
def test_a_function_that_is_overwritten_is_seen_to_be(tmp_path: Path, assignment: str) -> None:
    text = f"{_HEAD}\n{assignment}  # flagged\nmodel = nn.Linear(8, 1)\n"
    (said,) = _asked(tmp_path, text, "config", "TL201")
    assert said.verdict == "CONFIRMED", said.reason
