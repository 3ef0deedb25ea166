"""The work for a file grows with its size and no faster, whatever is long in it. Calls are counted; no time."""

from __future__ import annotations

import cProfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from torchlint.diagnostics import Report, Severity
from torchlint.engine import workers
from torchlint.engine.run import RunOptions, run
from torchlint.facts import file

HEAD = (
    "import argparse, os\nimport numpy as np\nimport torch\nfrom torch import nn\nimport torch.nn.functional as F\n\n\n"
)
LAYER = 'nn.Conv2d(3, 3, 3, padding=1, padding_mode="replicate")'


class Shape(NamedTuple):
    """Code that is long in one thing: `N` is the number of an entry, `M` that of the one before it."""

    before: str
    entry: str
    after: str = ""
    between: str = ""

    def of(self, count: int) -> str:
        entries = (self.entry.replace("N", str(n)).replace("M", str(max(n - 1, 0))) for n in range(count))
        return f"{HEAD}{self.before}{self.between.join(entries)}{self.after}\n"


NET = "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
LITERALS = {
    "a list": Shape("y = [\n", "    torch.randn(N),\n", "]"),
    "a dictionary": Shape("y = {\n", "    'N': nn.Conv2d(N, 3, 3),\n", "}"),
    "a call": Shape("f(\n", "    np.random.rand(N),\n", ")"),
    "a Sequential": Shape(
        f"{NET}        self.net = nn.Sequential(\n", "            nn.Conv2d(N, 3, 3),\n", "        )"
    ),
    "a chain of elif": Shape("def f(x):\n    if x:\n        y = 1\n", "    elif x == N:\n        y = torch.randn(N)\n"),
}
OTHERS = {
    "a list in a function": Shape("def f(x):\n    return [\n", "        torch.randn(N),\n", "    ]"),
    "a tuple": Shape("y = (\n", "    torch.randn(N),\n", ")"),
    "a set": Shape("y = {\n", "    torch.randn(N),\n", "}"),
    "keywords": Shape("y = dict(\n", "    aN=nn.Conv2d(N, 3, 3),\n", ")"),
    "a dictionary of dictionaries": Shape("y = {\n", "    'N': {'a': torch.randn(N)},\n", "}\nprint(y['1']['a'])"),
    "lists in a list": Shape("y = [\n", "    [torch.randn(N), [torch.rand(N)]],\n", "]\nprint(y[0][1])"),
    "comprehensions in a list": Shape("y = [\n", "    [torch.randn(i) for i in range(N)],\n", "]"),
    "lambdas in a list": Shape("y = [\n", "    lambda x: torch.randn(N),\n", "]"),
    "choices in a list": Shape(
        "def f(x):\n    return [\n", "        torch.randn(3) if x else torch.rand(N),\n", "    ]"
    ),
    "listings in a list": Shape("y = [\n", "    os.listdir('N'),\n", "]"),
    "unpacking": Shape("", "aN", f" = {LAYER}", ", "),
    "a sum": Shape("def f(x):\n    return (", "x[N]\n", ")", "+ "),
    "a sum of draws": Shape("def f(x):\n    return (", "torch.randn(N)\n", ")", "+ "),
    "a conjunction": Shape("def f(x):\n    return (", "torch.equal(x, torch.randn(N))\n", ")", "and "),
    "an alternative": Shape("def f(x):\n    return (", "nn.Conv2d(N, 3, 3)\n", ")", "or "),
    "a comparison": Shape("def f(x):\n    return (", "torch.randn(N)\n", ")", "< "),
    "a formatted string": Shape("def f(x):\n    return f'", "{x.mean().item()} ", "'"),
    "a with": Shape(
        "def f(x):\n    with (\n", "        torch.no_grad() as aN,\n", "    ):\n        return torch.randn(3)"
    ),
    "decorators": Shape("", "@torch.no_grad()\n", "def f(x):\n    return torch.randn(3)"),
    "a chain of elif that return": Shape(
        "def f(x):\n    if x:\n        return 1\n", "    elif x == N:\n        return nn.Conv2d(N, 3, 3)\n"
    ),
    "a chain of elif on an option": Shape(
        "args = argparse.ArgumentParser().parse_args()\nif args.x:\n    y = 1\n",
        "elif args.x == 'N':\n    y = torch.randn(N)\n",
    ),
    "conditions": Shape("def f(x):\n", "    if x == N:\n        y = torch.randn(N)\n", "    return y"),
    "returns": Shape("def f(x):\n", "    if x.aN:\n        return torch.randn(N)\n", "\n\ny = f(3) + f(4)"),
    "cases": Shape("def f(x):\n    match x:\n", "        case N:\n            y = torch.randn(N)\n"),
    "a name that is bound again": Shape("def f(x):\n", "    x = F.relu(x + N)\n", "    return x"),
    "a name that is bound again in branches": Shape("def f(x, c):\n", "    if c == N:\n        x = F.relu(x + N)\n"),
    "a name that is added to": Shape("def f(x):\n    y = 0\n", "    y += F.mse_loss(x, torch.randn(N))\n"),
    "operators on a name": Shape("def f(x, y):\n", "    x = x.index_add(0, y, x[N])\n", "    return x"),
    "losses of a name": Shape("def f(x):\n", "    x = F.interpolate(x, mode='bilinear')\n", "    x.sum().backward()"),
    "draws": Shape("", "xN = np.random.rand(N)\n"),
    "constants": Shape("C0 = 3\n", "CN = CM\nxN = torch.randn(CN)\n"),
    "functions": Shape("", "def fN(x):\n    return fM(torch.randn(N) + x)\n\n\n"),
    "calls of one function": Shape("def g(x, n):\n    return torch.randn(n)\n\n\n", "xN = g(3, N)\n"),
    "layers": Shape(NET, "        self.aN = nn.Conv2d(N, 3, 3)\n", "        self.b = self.a1"),
    "one attribute": Shape(NET, "        self.a = torch.randn(N)\n", "        self.b = self.a"),
    "classes": Shape(
        "Base = nn.Module\n\n\n", "class AN(Base):\n    def forward(self, x):\n        return torch.randn(3) + x\n\n\n"
    ),
    "branches that bind a name to what is made of it": Shape(
        "def f(x, y):\n    if x:\n        y = 1\n", "    elif x == N:\n        y = y.index_add(0, x, y)\n"
    ),
    "loops": Shape("def f(x):\n", "    for i in range(N):\n        x[i] += torch.randn(3)\n"),
    "parameters": Shape("def f(", "aN=torch.randn(N)", "):\n    pass", ", "),
    "stores in a dictionary": Shape("y = {}\n", "y['N'] = torch.randn(N)\n", "print(y['1'])"),
    "what is added to a list": Shape("def f():\n    y = []\n", "    y += os.listdir('N')\n", "    return y[:3]"),
    "options": Shape("p = argparse.ArgumentParser()\n", "p.add_argument('--aN', default=N)\n", "args = p.parse_args()"),
}
IN_PIECES = {
    "a chain of methods": Shape("def f(x):\n    return (x\n", "        .to(N)\n", "    )"),
}
"""What is gone through so many entries at once, and so often: from some 250 entries on each costs the same."""
BOUNDED = {
    "methods": Shape(
        "class A:\n", "    def fN(self, x):\n        self.xN = torch.randn(N)\n        return self.fM(x)\n\n"
    ),
}
"""What reaches the budget of one question between 150 and 300 entries: from there on it grows no more."""


def check(folder: Path, **files: str) -> Report:
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    return run([folder], RunOptions(jobs=1))


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], int]:
    """How many functions are called for a text, of Python and of C."""
    large = workers.with_large_stack
    monkeypatch.setattr(workers, "with_large_stack", lambda action: action())  # the profile is of one thread

    def counted(text: str) -> int:
        profile = cProfile.Profile()
        report = large(lambda: profile.runcall(check, tmp_path, program=text))
        assert not report.internal_errors
        return sum(entry.callcount for entry in profile.getstats())

    counted(HEAD)  # what is loaded once
    return counted


@pytest.mark.parametrize("shape", LITERALS.values(), ids=LITERALS)
def test_the_work_grows_with_the_entries(shape: Shape, work: Callable[[str], int]) -> None:
    small, middle, large = (work(shape.of(count)) for count in (500, 1000, 2000))
    assert middle < 2.3 * small
    assert large < 2.3 * middle
    assert large < 4.8 * small


@pytest.mark.parametrize("shape", OTHERS.values(), ids=OTHERS)
def test_the_work_grows_with_what_is_long(shape: Shape, work: Callable[[str], int]) -> None:
    empty, small, large = (work(shape.of(count)) for count in (2, 150, 300))
    assert large - empty < 2.3 * (small - empty)


@pytest.mark.parametrize("shape", IN_PIECES.values(), ids=IN_PIECES)
def test_the_work_grows_with_what_is_gone_through_in_pieces(shape: Shape, work: Callable[[str], int]) -> None:
    small, middle, large = (work(shape.of(count)) for count in (300, 600, 1200))
    assert large - middle < 2.3 * (middle - small)


def test_the_work_grows_with_what_is_unpacked(work: Callable[[str], int]) -> None:
    def unpacking(count: int) -> str:
        names, values = (", ".join(word.format(n) for n in range(count)) for word in ("a{}", "torch.empty({})"))
        return f"{HEAD}{names} = {values}\nprint(a1)\n"

    small, middle, large = (work(unpacking(count)) for count in (500, 1000, 2000))
    assert middle < 2.3 * small
    assert large < 2.3 * middle


def test_the_work_grows_with_the_calls_that_lead_to_a_reader_and_not_with_the_ways(work: Callable[[str], int]) -> None:
    def calling(count: int) -> str:
        put = "self.seen = loss.to('cpu', non_blocking=True)"
        methods = [f"    def put(self, loss):\n        {put}\n\n    def m0(self):\n        return self.seen.item()\n"]
        methods += [f"    def m{n}(self):\n" + f"        self.m{n - 1}()\n" * count for n in range(1, 6)]
        return f"{HEAD}class Meter:\n" + "\n".join(methods)

    small, large = (work(calling(count)) for count in (10, 20))
    assert large < 2.3 * small


@pytest.mark.parametrize("shape", BOUNDED.values(), ids=BOUNDED)
def test_the_work_for_what_reaches_a_budget_grows_with_the_file_alone(
    shape: Shape, work: Callable[[str], int], tmp_path: Path
) -> None:
    """Another file saves what one of them gives: only then is it asked what that hangs on."""
    (tmp_path / "main.py").write_text("import torch\nfrom program import A\n\ntorch.save(A.f7(A(), 1), 'a.pt')\n")
    small, large = (work(shape.of(count)) for count in (300, 600))
    assert large < 1.2 * small


def test_a_file_over_its_budget_is_told_and_concerns_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file, "MOST_WORK", 300)
    lines = "".join(f"def f{n}(x):\n    return F.interpolate(x[{n}], mode='bilinear')\n\n\n" for n in range(200))
    report = check(
        tmp_path, large=f"{HEAD}first = {LAYER}\n\n\n{lines}last = {LAYER}\n", other=f"{HEAD}layer = {LAYER}\n"
    )
    assert not report.internal_errors
    large = [each for each in report.diagnostics if each.location.path.endswith("large.py")]
    (told,) = [each for each in large if each.code == "TL001"]
    assert told.severity is Severity.WARNING
    assert "checked only up to this line" in told.message
    assert [each.code for each in report.diagnostics if each.location.path.endswith("other.py")] == ["TL101"]


def test_a_file_of_people_stays_far_below_the_budget(tmp_path: Path) -> None:
    report = check(tmp_path, large=LITERALS["a Sequential"].of(1000))
    assert "TL001" not in {each.code for each in report.diagnostics}
