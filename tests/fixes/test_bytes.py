"""Every byte outside the edits stays: encodings, line ends, tabs, the layout of notebooks."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.fixes.fixing import fix, fixed_bytes

SEED = "torch.manual_seed = 42"
CALLED = "torch.manual_seed(42)"
MODE = """import torch

if __name__ == "__main__":
\ttorch.use_deterministic_algorithms(True)
\tweights = torch.rand(4, 4, device="cuda")
\tprint(torch.mm(weights, weights))
"""
WORKSPACE = 'os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"'


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ANN401
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(
    "text",
    [
        f"import torch\n{SEED}\n",
        f"import torch\n{SEED}",
        f"\ufeffimport torch\n{SEED}\n",
        f"# coding: latin-1\nimport torch\nx = 'é'; {SEED}  # ñ\n",
        f"import torch\nx = '日本'; {SEED}  # \u2028 \x0c\n",
        f"import torch\n\x0c\nif x:\n\t{SEED} \t\n",
        f"import torch\nx = '''\n{SEED}\n'''\n{SEED}\n",
    ],
)
def test_line_ends_and_encodings_stay(text: str, end: str) -> None:
    encoding = "latin-1" if "latin-1" in text else "utf-8"
    before = text.replace("\n", end).encode(encoding)
    head, _, tail = before.rpartition(SEED.encode())
    assert fixed_bytes(before, "TL201") == head + CALLED.encode() + tail


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_new_line_ends_like_its_neighbours(end: str) -> None:
    before = MODE.replace("\n", end)
    after = before.replace("import torch", f"import os{end}import torch").replace(
        "\ttorch.use", f"\t{WORKSPACE}{end}\ttorch.use"
    )
    assert fixed_bytes(before.encode(), "TL204", unsafe=True) == after.encode()


def test_an_encoding_that_is_not_its_bytes_is_left_alone() -> None:
    data = f"# coding: utf-7\nx = '+AGE-'\nimport torch\n{SEED}\n".encode()
    assert fixed_bytes(data, "TL201") == data


def notebook(*cells: str | list[str], **layout: Any) -> bytes:  # noqa: ANN401
    """A notebook of these cells, with outputs, metadata and what other tools leave in it."""
    output = {"output_type": "stream", "name": "stdout", "text": ["é\n"]}
    made = [
        {"cell_type": "code", "execution_count": 1, "metadata": {"x": 1.0}, "outputs": [output], "source": source}
        for source in cells
    ]
    content = {"cells": [{"cell_type": "markdown", "metadata": {}, "source": ["# a\n"]}, *made], "metadata": {}}
    return json.dumps({**content, "nbformat": 4, "nbformat_minor": 5}, **layout).encode()


LAYOUTS: list[dict[str, Any]] = [{"indent": 1}, {"indent": 4, "ensure_ascii": False}, {}, {"separators": (",", ":")}]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("end", [b"", b"\n", b"\n\n"])
@pytest.mark.parametrize("are_lists", [True, False])
def test_of_a_notebook_only_the_source_changes(layout: dict[str, Any], end: bytes, *, are_lists: bool) -> None:
    def cells(*texts: str) -> list[str | list[str]]:
        return [text.splitlines(keepends=True) if are_lists else text for text in texts]

    magics = "%matplotlib inline\nfiles = !ls\n"
    mode, last = MODE.rstrip("\n").split("\n", 1)
    before = notebook(*cells(f"{magics}{mode}", last, f"# “é”\n{SEED}"), **layout) + end
    new = last.replace("\ttorch.use", f"\t{WORKSPACE}\n\ttorch.use")
    after = notebook(*cells(f"{magics}import os\n{mode}", new, f"# “é”\n{CALLED}"), **layout) + end
    found = fixed_bytes(before, "TL201", "TL204", name="nb.ipynb", unsafe=True)
    assert found.decode() == after.decode()


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_cell_of_one_line_gets_another(layout: dict[str, Any]) -> None:
    mode = "torch.use_deterministic_algorithms(True)"
    rest = 'x = torch.rand(4, 4, device="cuda")\nprint(torch.mm(x, x))'
    before = notebook(["import torch, os"], [mode], rest.splitlines(keepends=True), **layout)
    after = notebook(["import torch, os"], [f"{WORKSPACE}\n", mode], rest.splitlines(keepends=True), **layout)
    found = fixed_bytes(before, "TL204", name="nb.ipynb", unsafe=True)
    assert found.decode() == after.decode()


def test_a_cell_that_is_indented_as_a_whole() -> None:
    before = notebook(["import torch\n"], [f"  {SEED}\n", "  print(1)"], indent=1)
    after = notebook(["import torch\n"], [f"  {CALLED}\n", "  print(1)"], indent=1)
    assert fixed_bytes(before, "TL201", name="nb.ipynb") == after


def test_a_file_that_a_notebook_writes() -> None:
    cell = ["%%writefile train.py\n", "import torch\n", SEED]
    before = notebook(cell, ["import torch\n", SEED], indent=1)
    after = notebook([*cell[:2], CALLED], ["import torch\n", CALLED], indent=1)
    assert fixed_bytes(before, "TL201", name="nb.ipynb") == after


def test_fixes_that_meet_take_several_rounds() -> None:
    text = "import torch\nimport os\n\nfiles = list(os.listdir(sorted(os.listdir('a'))[0])) or os.listdir('b')\n"
    text += "train, held_out = files[:100], files[100:]\n"
    found = fix({"train.py": text.encode()}, "TL401")
    assert sum(file.count for file in found.files) == len(found.files) * 2
    assert found.report.diagnostics == ()


def test_a_fix_that_ends_nothing_is_taken_back() -> None:
    """The seed is under a test, and so is what a fix puts beside it: the program may still run without it."""
    text = """import sys
import torch
from torch import nn

def main():
    if "seed" in sys.argv:
        torch.manual_seed(0)
    model = nn.Conv2d(3, 3, 3).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        model(torch.rand(1, 3, 8, 8).cuda()).sum().backward()
        optimizer.step()

if __name__ == "__main__":
    main()
"""
    found = fix({"train.py": text.encode()}, "TL210", unsafe=True)
    left = [one for one in found.report.diagnostics if one.edits is not None]
    assert not left
