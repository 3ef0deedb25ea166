"""Inputs that end other tools: each gives a finding or one clear line, through the real command."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.cli.command import counted_torchlint, run_torchlint
from tests.counting import MOST_A_LINE

TORCH = "import torch\nfrom torch import nn\n\n"
CALL = 'nn.Conv2d(3, 3, 3, padding=1, padding_mode="replicate")'
FINDING = f"{TORCH}layer = {CALL}\n"


def check(path: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return run_torchlint("check", path.name, "--all-places", "--torch", "2.6", *options, cwd=path.parent)


def codes_in_proportion(path: Path, *options: str) -> list[str]:
    """The codes, where finding them took no more work than the lines of the file are worth."""
    done, calls = counted_torchlint("check", path.name, "--all-places", "--torch", "2.6", *options, cwd=path.parent)
    found = codes(done)
    assert calls < MOST_A_LINE * (20 + len(path.read_text().splitlines()))
    return found


def codes(done: subprocess.CompletedProcess[str]) -> list[str]:
    """The codes of the findings; the lines on stderr are for people."""
    assert done.returncode in (0, 1), done.stderr
    assert "rror" not in done.stderr, done.stderr
    return [line.split(": ")[1].split()[0] for line in done.stdout.splitlines() if ": TL" in line]


def write(folder: Path, content: str | bytes, name: str = "program.py") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_an_empty_file_is_clean(tmp_path: Path) -> None:
    done = check(write(tmp_path, ""))
    assert (done.returncode, codes(done), done.stderr) == (0, [], "")


def test_a_file_of_three_thousand_lines_is_read_in_proportion(tmp_path: Path) -> None:
    functions = "".join(
        f"def build_{n}(width, mode='zeros'):\n    layer = {CALL}\n    other = nn.Conv2d(width, {n}, 3)\n"
        "    for index in range(width):\n        if index % 2:\n            other.weight.data[index] = 0\n"
        "    return nn.Sequential(layer, other)\n\n\n"
        for n in range(340)
    )
    assert codes_in_proportion(write(tmp_path, TORCH + functions)) == ["TL101"] * 340


def test_functions_that_call_each_other_in_circles_are_read_in_proportion(tmp_path: Path) -> None:
    """Asked what they return, they would lead from one to the other without end."""
    names = [f"step_{n}" for n in range(12)]
    functions = "".join(
        f"def {name}(x, n):\n"
        + "".join(f"    if n == {i}:\n        return {other}({name}(x, {i}), n) + x\n" for i, other in enumerate(names))
        + "    return x\n\n\n"
        for name in names
    )
    loss = "def loss(x, target):\n    return nn.functional.cross_entropy(step_0(x, 3), target)\n"
    assert codes_in_proportion(write(tmp_path, f"{TORCH}{functions}{loss}layer = {CALL}\n")) == ["TL101"]


def _in_branches(*statements: str, before: str = "", after: str = "") -> str:
    """A function that binds the same names in forty branches: every branch doubles the ways through them."""
    branches = "".join(
        f"    if c == {n}:\n" + "".join(f"        {statement}\n" for statement in statements) for n in range(40)
    )
    return f"def step(c, out: torch.Tensor, labels: torch.Tensor):\n{before}{branches}{after}\n\n"


ENTANGLED = {
    "a tensor added to": _in_branches(
        "x = x + c", before="    x = torch.ones(4)\n", after="    out.index_add_(0, labels, x)\n"
    ),
    "two tensors": _in_branches(
        "x = x.cpu() + y.view(-1)[x]",
        "y, z = torch.sort(y * x)",
        before="    x = torch.empty(3)\n    y = torch.empty(3)\n",
        after="    out.scatter_add_(0, z, x[z])\n",
    ),
    "copies to the host": _in_branches(
        "x = y.to('cpu', non_blocking=True)",
        "y = x.view(-1)[labels]",
        before="    x = torch.ones(3)\n    y = out\n",
        after="    print(x, y)\n",
    ),
    "batches of loaders": _in_branches(
        "x = y[0]",
        "y = x.image",
        "a, b = y",
        "x = b",
        before="    loader = torch.utils.data.DataLoader(out)\n    for x in loader:\n        y = x\n    b = x\n",
        after="    a.cuda(non_blocking=True)\n    x.cuda(non_blocking=True)\n",
    ),
    "clips of gradients": _in_branches(
        "s.scale(out.sum()).backward()",
        "torch.nn.utils.clip_grad_norm_([labels], 1.0)",
        "s.step(out)",
        before="    s = torch.amp.GradScaler('cuda')\n",
    ),
    "a model and a device": "import time\n"
    + _in_branches(
        "model = net.to(device)",
        "net = model.to(other)",
        "device = other",
        "other = device",
        "x = y @ model(x)",
        "y = x.to(device) @ net(y)",
        before="    model = net = nn.Linear(3, 3)\n    device = other = 'cpu'\n    x = y = torch.randn(3, 3)\n",
        after="    start = time.time()\n    z = model(x)\n    z.backward()\n    print(time.time() - start)\n"
        "    return torch.equal(x @ y, z.cpu())\n",
    ),
    "datasets of a loader": "import numpy as np\nfrom torch.utils.data import DataLoader, Dataset, Subset\n\n\n"
    "class Draws(Dataset):\n    def __init__(self):\n        self.rng = np.random.default_rng(0)\n\n"
    "    def __getitem__(self, index):\n        return self.rng.random()\n\n\n"
    + _in_branches(
        "data = Subset(rest, n)",
        "rest = Subset(data, n)",
        "n = m",
        "m = n",
        before="    data = rest = Draws()\n    n = m = 1\n",
        after="    return DataLoader(data, num_workers=n)\n",
    ),
    "two words": _in_branches(
        "x = y",
        "y = x",
        before="    x = 'zeros'\n    y = 'reflect'\n",
        after="    nn.Conv2d(3, 3, 3, padding=1, padding_mode=x)\n",
    ),
    "a thousand saved values": "import numpy as np\n\nx = np.random.rand(3)\n"
    + "".join(f"x = x * {n} + x.mean()\ny{n} = x + y{n // 2}\n" for n in range(1000))
    + "".join(f"np.save('{n}', y{n})\n" for n in range(1000)),
    "tables picked from tables in circles": "".join(
        f"a = b\nb = a\nx = a[{n}]()\ny = x.table[{n}](a.get(3))\nx = y.table[x]\ny = x.get(y)\n" for n in range(300)
    ),
    "functions that give what others give": "class Net:\n    def run(self):\n        return self\n\n\n"
    + "".join(
        f"def make_{n}(x):\n    if x:\n        return make_{(n * 7 + 1) % 300}(x)\n"
        "    if not x:\n        return Net()\n"
        f"    net = make_{(n * 3 + 2) % 300}(x).run()\n    return net, make_{(n + 1) % 300}(net)[0].run()\n\n\n"
        for n in range(300)
    )
    + "make_0(1).run()\n",
    "twelve classes": "".join(f"v{n} = nn.Conv2d\n" for n in range(12))
    + "".join(f"if nn:\n    v{n} = v{other}\n" for n in range(12) for other in range(12))
    + "v0(3, 3, 3)\n",
    "lists made again of what was unpacked from them": "def rounded(task, rows):\n    "
    + ", ".join(f"row_{n}" for n in range(6))
    + " = rows\n"
    + "".join(
        f"    if task == {case}:\n        rows = ["
        + ", ".join(f"row_{n}['{case}'].max().round(3), row_{n}['{case}'].best" for n in range(6))
        + "]\n"
        for case in range(7)
    )
    + "    return rows\n\n\n",
    "a name that is cut down again and again": "def cut(rows):\n"
    + "".join(f"    if rows:\n        rows = rows[{n % 3}]\n" for n in range(7))
    + "    return rows[0].mean()\n\n\n",
    "a name that becomes an attribute of its own entry": "def entries(call):\n    rows = call.args\n"
    "    if rows:\n        rows = rows[0].parts\n    return rows\n\n\n",
    "sets that are filled from what is left of them": "def settle(asked):\n    done = set()\n"
    "    waiting = set(asked) - done\n    while waiting:\n        for one in waiting:\n            done.add(one)\n"
    "        print([one.name for one in waiting])\n        waiting -= done\n\n\n",
    "a thousand listings through one helper": "import os\n\n\ndef kept(files):\n"
    + "".join(f"    files = list(files)\n    part_{n} = files\n" for n in range(300))
    + "    return files\n\n\n"
    + "".join(f"files_{n} = kept(os.listdir('{n}'))\n" for n in range(1000)),
    "objects of a class that lists": "import os\n\n\nclass Files:\n"
    + "".join(f"    def list_{n}(self):\n        self.files_{n} = os.listdir('{n}')\n" for n in range(1000))
    + "\n\n"
    + "Files()\n" * 10_000,
    "views of one copy to the host": "def views(x):\n    y = x.to('cpu', non_blocking=True)\n"
    + "".join(f"    z{n} = y.view(-1)\n    work(z{n})\n" for n in range(1500))
    + "\n\n",
    "an attribute that is stored anew for each read": "import numpy as np\n\n\nclass Run:\n    pass\n\n\nrun = Run()\n"
    + "".join(f"run.seed = {n}\nr{n} = np.random.default_rng(run.seed)\nr{n}.random()\n" for n in range(2500)),
    "a chain in an autotuned kernel": "import triton\nimport triton.language as tl\n\n"
    '@triton.autotune(configs=[triton.Config({"B": 1}), triton.Config({"B": 2})], key=["n"])\n'
    "@triton.jit\ndef kernel(p, n, B: tl.constexpr):\n"
    f"    x = tl.arange(0, B){'.to(tl.float32)' * 60}\n    tl.store(p, tl.sum(x))\n\n\n",
}


@pytest.mark.parametrize("code", ENTANGLED.values(), ids=ENTANGLED)
def test_names_bound_to_each_other_in_many_branches_are_read_in_proportion(code: str, tmp_path: Path) -> None:
    path = write(tmp_path, f"{TORCH}{code}layer = {CALL}\n")
    assert "TL101" in codes_in_proportion(path, "--select", "ALL")


def test_two_thousand_files_are_checked_in_proportion(tmp_path: Path) -> None:
    for number in range(2000):
        folder = tmp_path / "project" / f"part_{number % 40}"
        folder.mkdir(parents=True, exist_ok=True)
        write(folder, FINDING if number % 100 == 0 else f"VALUE = {number}\n", f"module_{number}.py")
    done, calls = counted_torchlint("check", "project", "--torch", "2.6", "--jobs", "1", cwd=tmp_path)
    assert codes(done) == ["TL101"] * 20
    assert calls < MOST_A_LINE * 500  # for each file a quarter of what a line may take


def test_a_file_of_fifty_megabytes_is_one_note(tmp_path: Path) -> None:
    write(tmp_path, FINDING, "small.py")
    with (tmp_path / "large.py").open("wb") as file:
        file.truncate(50_000_000)
    done = run_torchlint("check", ".", "--torch", "2.6", cwd=tmp_path)
    assert codes(done) == ["TL101"]
    assert [line for line in done.stderr.splitlines() if "large.py" in line] == [
        "note: large.py: skipped: 50,000,000 bytes is above max-file-size (2,000,000)"
    ]


def test_a_loop_of_folders_ends(tmp_path: Path) -> None:
    folder = tmp_path / "project" / "inner"
    folder.mkdir(parents=True)
    write(folder, FINDING)
    (folder / "loop").symlink_to(tmp_path / "project", target_is_directory=True)
    (folder / "itself.py").symlink_to(folder / "itself.py")
    assert codes(check(tmp_path / "project")) == ["TL101"]


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="needs a file that its owner may not read")
def test_an_unreadable_file_is_one_finding(tmp_path: Path) -> None:
    path = write(tmp_path, FINDING)
    path.chmod(0)
    assert codes(check(path)) == ["TL001"]


def test_a_file_that_cannot_be_opened_is_one_finding(tmp_path: Path) -> None:
    """What root, who may read everything, meets as well: a link to nowhere among good files."""
    write(tmp_path, FINDING)
    (tmp_path / "broken.py").symlink_to(tmp_path / "nowhere.py")
    assert codes(run_torchlint("check", ".", "--torch", "2.6", cwd=tmp_path)) == ["TL101"]


def test_a_cell_of_prose_is_a_note_and_the_other_cells_are_checked(tmp_path: Path) -> None:
    cells: list[dict[str, object]] = [
        {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": text}
        for text in ("Then the loss is averaged (see above)", FINDING)
    ]
    path = tmp_path / "tutorial.ipynb"
    path.write_text(json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}))
    done = check(path, "--output-format", "json")
    found = [(each["code"], each["severity"]) for each in json.loads(done.stdout)]
    assert found == [("TL001", "info"), ("TL101", "warning")]


READABLE = {
    "a byte order mark": b"\xef\xbb\xbf" + FINDING.encode(),
    "CRLF": FINDING.replace("\n", "\r\n").encode(),
    "CR alone": FINDING.replace("\n", "\r").encode(),
    "latin-1 with a cookie": f"# -*- coding: latin-1 -*-\nNAME = 'é'\n{FINDING}".encode("latin-1"),
    "form feeds": f"\f\n{FINDING}\f\n".encode(),
    "no final newline": FINDING.rstrip().encode(),
    "wide characters before the call": f"{TORCH}x = '𝒳é'; layer = {CALL}\n".encode(),
    "tabs": f"{TORCH}if True:\n\tlayer = {CALL}\n".encode(),
    "a backslash at the start": f"{TORCH}x = \\\n    {CALL}\n".encode(),
    "the separators of str.splitlines": f"{TORCH}x = 'a\x0bb\x1cc\x85d\u2028e'; layer = {CALL}\n".encode(),
}


@pytest.mark.parametrize("content", READABLE.values(), ids=READABLE)
def test_a_readable_file_is_read(content: bytes, tmp_path: Path) -> None:
    assert codes(check(write(tmp_path, content))) == ["TL101"]


def test_columns_count_characters(tmp_path: Path) -> None:
    path = write(tmp_path, f"{TORCH}x = '𝒳é'; layer = {CALL}\n")
    (found,) = json.loads(check(path, "--output-format", "json").stdout)
    assert (found["line"], found["column"], found["end_column"]) == (4, 19, 19 + len(CALL))


UNREADABLE = {
    "UTF-16": FINDING.encode("utf-16"),
    "UTF-16 without a mark": FINDING.encode("utf-16-le"),
    "a null byte": FINDING.encode() + b"x = 1\0\n",
    "latin-1 without a cookie": f"NAME = 'é'\n{FINDING}".encode("latin-1"),
    "an unknown cookie": f"# coding: klingon\n{FINDING}".encode(),
    "half a string": f"{FINDING}x = '''abc\n".encode(),
    "five thousand brackets": f"{FINDING}x = {'[' * 5000}{']' * 5000}\n".encode(),
    "a hundred levels of indentation": (
        TORCH + "".join(f"{' ' * n}if x:\n" for n in range(110)) + f"{' ' * 110}{CALL}\n"
    ).encode(),
}


@pytest.mark.parametrize("content", UNREADABLE.values(), ids=UNREADABLE)
def test_an_unreadable_file_is_one_clear_finding(content: bytes, tmp_path: Path) -> None:
    done = check(write(tmp_path, content))
    assert codes(done).count("TL001") == 1, done.stdout
    assert done.returncode == 1


DEEP = {
    "a chain of 200 methods": f"x = {CALL}{'.to(1)' * 200}\n",
    "a chain around a call": f"x = y{'.to(1)' * 100}.to({CALL}){'.to(1)' * 100}\n",
    "a sum of 400 terms": f"x = {' + '.join(['a'] * 399 + [CALL])}\n",
    "a sum of 400 terms, the call first": f"x = {' + '.join([CALL] + ['a'] * 399)}\n",
    "400 elifs": "if a == 0:\n    pass\n" + "".join(f"elif a == {n}:\n    b = {CALL}\n" for n in range(1, 400)),
    "150 brackets": f"x = {'(' * 150}{CALL}{')' * 150}\n",
    "150 calls": f"x = {'nn.Sequential(' * 150}{CALL}{')' * 150}\n",
    "150 lambdas": f"x = {'lambda: ' * 90}{CALL}\n",
    "a chain of 150 comparisons": f"x = {' < '.join(['a'] * 150)} < {CALL}\n",
    "a list of 5000 calls": f"x = [\n{f'    {CALL},' + chr(10)}{'    1,' + chr(10)}]\n".replace(
        "    1,\n", "    1,\n" * 5000
    ),
    "300 nots": f"x = {'not ' * 80}{CALL}\n",
    "many ternaries": f"x = {'a if b else ' * 80}{CALL}\n",
    "a string of 100 000 lines": f'TEXT = """{"line" + chr(10)}"""\nx = {CALL}\n'.replace("line\n", "line\n" * 100_000),
    "a sum of 20 000 terms": f"x = {' + '.join(['a'] * 20_000)}\n",
    "a sum of 20 000 terms in a function": f"def f(a):\n    return {' + '.join(['a'] * 20_000)}\n",
    "a sum of 5000 draws": f"x = {' + '.join(['torch.randn(3)'] * 5000)}\n",
    "20 000 texts, one behind the other": f"x = {' + '.join(['repr(a)'] * 20_000)}\n",
    "20 000 formatted strings": "x = " + " + ".join(["f'{a}'"] * 20_000) + "\n",
    "20 000 attributes": f"x = a{'.b' * 20_000}\n",
    "20 000 calls of calls": f"x = a{'()' * 20_000}\n",
    "20 000 entries of entries": f"x = a{'[0]' * 20_000}\n",
    "5000 methods": f"x = a{'.to(1)' * 5000}\n",
    "5000 lambdas": f"x = {'lambda: ' * 5000}a\n",
    "5000 loops of one list": f"x = [a {'for a in b ' * 5000}]\n",
    "5000 lists": f"x = {'[' * 5000}{']' * 5000}\n",
    "5000 choices": f"x = {'a if b else ' * 5000}c\n",
    "5000 conditions": f"x = {' and '.join(['a'] * 5000)}\n",
    "5000 elifs": "if a == 0:\n    pass\n" + "".join(f"elif a == {n}:\n    b = a\n" for n in range(5000)),
    "20 000 elifs": "if a == 0:\n    pass\n" + "".join(f"elif a == {n}:\n    b = a\n" for n in range(20_000)),
    "a line of 1 000 000 characters": f"x = [{CALL}, '{'a' * 1_000_000}']\n",
}


@pytest.mark.parametrize("text", DEEP.values(), ids=DEEP)
def test_deep_code_gives_its_finding_or_says_that_it_is_too_deep(text: str, tmp_path: Path) -> None:
    path = write(tmp_path, f"{TORCH}{text}last = {CALL}\n")
    found = codes(check(path))
    assert set(found) <= {"TL101", "TL001"}, found
    assert found[-1:] == ["TL101"] or found == ["TL001"], "code after the deep place is still analysed"


@pytest.mark.parametrize("name", ["a sum of 20 000 terms", "20 000 attributes", "20 000 elifs", "5000 lists"])
def test_a_deep_file_or_cell_concerns_no_other(name: str, tmp_path: Path) -> None:
    write(tmp_path, f"{TORCH}{DEEP[name]}", "deep.py")
    write(tmp_path, FINDING, "other.py")
    cells: list[dict[str, object]] = [
        {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": text}
        for text in (DEEP[name], FINDING)
    ]
    notebook = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}
    write(tmp_path, json.dumps(notebook), "tutorial.ipynb")
    done = run_torchlint("check", ".", "--torch", "2.6", "--output-format", "json", cwd=tmp_path)
    found = [(each["path"], each["code"]) for each in json.loads(done.stdout)]
    assert "rror" not in done.stderr, done.stderr
    assert found.count(("deep.py", "TL001")) <= 1
    assert found.count(("tutorial.ipynb", "TL001")) <= 1
    assert ("other.py", "TL101") in found
    assert {("tutorial.ipynb", "TL001"), ("tutorial.ipynb", "TL101")} & set(found)


@pytest.mark.parametrize("name", ["a chain of 200 methods", "a sum of 400 terms", "400 elifs"])
def test_the_cases_of_the_promise_do_not_hide_the_rest_of_the_file(name: str, tmp_path: Path) -> None:
    path = write(tmp_path, f"{TORCH}{DEEP[name]}last = {CALL}\n")
    found = json.loads(check(path, "--output-format", "json").stdout)
    assert found[-1]["code"] == "TL101"
    assert len({entry["line"] for entry in found}) >= 2


def test_odd_names_and_folders_are_no_trouble(tmp_path: Path) -> None:
    (tmp_path / "folder.py").mkdir()
    (tmp_path / "sub folder").mkdir()
    write(tmp_path / "sub folder", FINDING, "naïve name.py")
    write(tmp_path, FINDING, "with:colon.py")
    done = run_torchlint("check", ".", "--torch", "2.6", "--output-format", "json", cwd=tmp_path)
    assert {entry["path"] for entry in json.loads(done.stdout)} == {"sub folder/naïve name.py", "with:colon.py"}
