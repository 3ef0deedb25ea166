"""What is executed for a target: all that it needs, and none of the program around it."""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path

import pytest

from tests.cli.command import run_torchlint
from torchlint.verify.hoisting import slice_before
from torchlint.verify.kept import FOLDER
from torchlint.verify.names import bound_names, used_names
from torchlint.verify.slicing import Slice, names_to_import, slice_around, slice_for

SCRIPT = """\
import argparse
import wandb
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--width", type=int, default=8)
args = parser.parse_args()
wandb.init(project="demo")
WIDTH = args.width

for epoch in range(1000):
    print(epoch)

with open("weights.bin") as handle:
    WEIGHTS = handle.read()

try:
    import fast_norm
except ImportError:
    fast_norm = None


def block(channels):
    return nn.Conv2d(channels, WIDTH, 3)


@torch.jit.ignore
def unrelated():
    return wandb.config


class Net(nn.Module):
    norm = fast_norm

    def __init__(self):
        super().__init__()
        self.body = block(3)


Net.extra = 4


def main(seed=1, rounds=2):
    torch.manual_seed(seed)
    data = list(range(rounds))
    unused = sum(data)
    if rounds > 1:
        loader = torch.utils.data.DataLoader(
            data,
            batch_size=2)
    print(loader, unused)


if __name__ == "__main__":
    torch.backends.cudnn.benchmark = True
    main()
"""


def lines_of(cut: Slice) -> dict[int, str]:
    return {number: line for number, line in enumerate(cut.text.split("\n"), 1) if line.strip()}


def cut(text: str, *names: str) -> str:
    text = textwrap.dedent(text)
    found = slice_for(ast.parse(text), text, names).text
    ast.parse(found)
    return "\n".join(line for line in found.split("\n") if line.strip())


def test_lines_keep_their_numbers() -> None:
    kept = lines_of(slice_for(ast.parse(SCRIPT), SCRIPT, ["Net"]))
    original = dict(enumerate(SCRIPT.split("\n"), 1))
    assert kept
    assert all(original[number] == line for number, line in kept.items())


def test_a_class_takes_what_it_needs_and_leaves_the_script() -> None:
    text = slice_for(ast.parse(SCRIPT), SCRIPT, ["Net"]).text
    for needed in (
        "class Net",
        "def block",
        "WIDTH = args.width",
        "parser.add_argument",
        "import fast_norm",
        "Net.extra",
    ):
        assert needed in text
    for dropped in ("wandb", "for epoch", "weights.bin", "def main", "__main__", "unrelated"):
        assert dropped not in text


def test_a_loop_is_run_only_for_what_nothing_else_makes() -> None:
    filled = "LAYERS = []\nfor size in (1, 2):\n    LAYERS.append(size)\nclass Net:\n    layers = LAYERS\n"
    assert "for size" not in cut(filled, "Net")
    made = "for size in (1, 2):\n    LAST = size\nclass Net:\n    last = LAST\n"
    assert "for size" in cut(made, "Net")


def test_decorators_stars_and_futures_stay() -> None:
    text = """\
        from __future__ import annotations
        from layers import *
        import registry
        @registry.register(
            "net")
        class Net(Base):
            pass
        """
    assert cut(text, "Net") == textwrap.dedent(text).rstrip()


def test_statements_that_share_a_line_stay_together() -> None:
    assert cut("import os; import sys\nclass Net:\n    path = sys.path\n", "Net").startswith("import os; import sys")


def test_a_name_in_a_string_annotation_is_needed() -> None:
    assert "class Config" in cut("class Config:\n    pass\ndef build(config: 'Config'):\n    pass\n", "build")


def line_of(code: str, text: str = SCRIPT) -> int:
    return next(number for number, line in enumerate(text.split("\n"), 1) if line.strip() == code)


def test_what_stands_before_a_statement_is_taken_out_of_its_function() -> None:
    line = line_of("loader = torch.utils.data.DataLoader(")
    kept = lines_of(slice_before(ast.parse(SCRIPT), SCRIPT, line))
    ast.parse("\n".join(kept.values()))
    assert {"seed = 1; rounds = 2", "data = list(range(rounds))", "import torch"} <= set(kept.values())
    assert not any(word in text for text in kept.values() for word in ("unused", "print", "DataLoader"))


def test_a_text_of_several_lines_keeps_its_own_indent() -> None:
    text = 'def main():\n    query = """\n  two\n"""\n    return seed(query)\n'
    space: dict[str, object] = {}
    found = slice_before(ast.parse(text), text, 5).text
    exec(compile(found, "sliced", "exec"), space)  # noqa: S102 - what was cut must run
    assert space["query"] == "\n  two\n"


def around(line: int, *, surroundings: bool = False, program: bool = False, text: str = SCRIPT) -> str:
    found = slice_around(ast.parse(text), text, line, surroundings=surroundings, program=program).text
    ast.parse(found)
    return found


def test_a_flagged_line_keeps_the_function_that_holds_it_whole() -> None:
    found = around(line_of("loader = torch.utils.data.DataLoader("))
    assert "def main(seed=1, rounds=2):" in found
    assert "print(loader, unused)" in found
    assert "__main__" not in found


def test_a_flagged_line_of_the_main_guard_keeps_the_guard() -> None:
    found = around(line_of("torch.backends.cudnn.benchmark = True"), surroundings=True)
    assert 'if __name__ == "__main__":' in found
    assert "def main" in found


def test_the_program_is_kept_where_a_rule_is_about_it() -> None:
    line = line_of("torch.manual_seed(seed)")
    assert "__main__" not in around(line)
    assert "__main__" in around(line, program=True)


def test_a_script_without_a_main_guard_is_a_program_as_it_stands() -> None:
    text = "import torch\nnet = torch.nn.Linear(2, 1)\ntorch.manual_seed(0)\nfor _ in range(2):\n    print(net)\n"
    assert around(3, text=text, program=True) == text
    assert "Linear" not in around(3, text=text)


def test_what_is_made_of_a_flagged_name_later_is_kept() -> None:
    text = (
        "import os\nnames = os.listdir('.')\nnames.sort()\nindex = {n: i for i, n in enumerate(names)}\nprint(names)\n"
    )
    found = around(2, text=text)
    assert "names.sort()" in found
    assert "index =" in found
    assert "print" not in found


def test_switches_and_seeds_are_kept_only_where_they_are_asked_for() -> None:
    text = "import torch\ntorch.manual_seed(0)\nWIDTH = 3\n"
    assert "manual_seed" in around(3, text=text, surroundings=True)
    assert "manual_seed" not in around(3, text=text)


def test_what_a_factory_may_import_is_all_but_loops_and_the_main_guard() -> None:
    text = (
        "import torch\nSIZE = 3\nfor epoch in range(9):\n    loss = epoch\n\n"
        "def models():\n    return SIZE\n\nif __name__ == '__main__':\n    model = models()\n"
    )
    tree = ast.parse(text)
    assert set(names_to_import(tree)) == {"torch", "SIZE", "models"}
    assert "epoch" not in slice_for(tree, text, names_to_import(tree)).text


NOTEBOOK = """\
import torch
from torch import nn

loader = make_loader()
model = nn.Linear(3, 1)
losses = []
for x, y in loader:
    loss = model(x).sum()
    loss.backward()
    losses.append(loss)
for size in (1, 2):
    STRIDE = size


class Net(nn.Module):
    def __init__(self, size=STRIDE):
        super().__init__()
        self.body = nn.Linear(size, 1)

    def forward(self, x):
        y = self.body(x)
        loss = [model.sum() for model in (x, y)]
        return y, loss, (lambda losses: losses)(x)
"""


def test_local_names_pull_in_no_statement_that_binds_the_same_name() -> None:
    text = cut(NOTEBOOK, "Net")
    assert "backward" not in text
    assert "loader" not in text
    assert "model = " not in text
    assert "STRIDE = size" in text  # the default of a parameter is read outside


@pytest.mark.parametrize(
    ("text", "used"),
    [
        ("def f(a, *b, c=d, **e): return a, b, c, e, g", {"d", "g"}),
        ("def f():\n    global count\n    count += step\n    return count", {"count", "step"}),
        ("def f(x):\n    def g():\n        nonlocal x\n        x = y\n    return g", {"y"}),
        ("f = lambda x: x + y", {"y"}),
        ("z = [x for x in x if x > low]", {"x", "low"}),
        ("z = {k: v for k, v in pairs for w in v}", {"pairs"}),
        ("def f(rows):\n    if any((last := row) for row in rows): return last", {"any"}),
        ("class A(B, metaclass=M):\n    size = size\n    def f(self): return size", {"B", "M", "size"}),
        (
            "def f(x):\n    match x:\n        case P(x=a): return a\n        case {1: [_, *b], **c}: return b, c",
            {"P"},
        ),
        ("def f(x: 'Box[int]') -> Out: return x", {"Box", "Out"}),
        ("@wrap(key)\ndef f(): pass", {"wrap", "key"}),
        ("def f():\n    import os.path as p\n    try: p.join()\n    except OSError as error: raise error", {"OSError"}),
        ("total += rows[i]", {"rows", "i"}),
        ("del gone", {"gone"}),
    ],
)
def test_used_names_are_those_of_the_level_around(text: str, used: set[str]) -> None:
    (statement,) = ast.parse(text).body
    assert used_names(statement) == used


def test_names_of_deeply_nested_expressions_are_found() -> None:
    node: ast.expr = ast.Name("first", ast.Load())
    for _ in range(20_000):
        node = ast.BinOp(node, ast.Add(), ast.Name("other", ast.Load()))
    statement = ast.Assign([ast.Name("total", ast.Store())], node)
    assert used_names(statement) == {"first", "other"}
    assert bound_names(statement) == {"total"}


def test_a_deep_expression_ends_no_check_that_looks_for_verdicts(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / FOLDER).mkdir(parents=True)
    deep = f"TOTAL = {' + '.join(['1'] * 2000)}\n"
    padded = "from torch import nn\nhead = nn.Sequential(nn.Conv2d(3, 3, 3), nn.ReflectionPad2d(TOTAL))\n"
    (tmp_path / "model.py").write_text(deep + padded, encoding="utf-8")
    done = run_torchlint("check", "--select", "TL102", cwd=tmp_path)
    assert (done.returncode, "TL102" in done.stdout, done.stderr) == (1, True, "")


def test_names_that_only_the_main_guard_makes_come_with_the_class() -> None:
    text = """
class Net(Module):
    def __init__(self):
        self.body = Linear(width, rows)
rows = 3
if __name__ == "__main__":
    words = "a b c".split()
    width = len(words)
    rows = 4
    model = Net()
    for step in range(9):
        width = train(model)
"""
    found = cut(text, "Net")
    assert 'if True:\n    words = "a b c".split()\n    width = len(words)' in found
    for dropped in ("rows = 4", "model = Net()", "train(model)"):
        assert dropped not in found
