"""Where values come from: what the argument of `asked(...)` stands for, a part as `x[1]`, what is not seen as `?`."""

from __future__ import annotations

import ast

import pytest

from tests.facts.reading import facts_of_program
from torchlint.facts.definitions import definitions_of
from torchlint.facts.file import FileFacts
from torchlint.facts.flow.values import EACH, End, Parameter, Through
from torchlint.facts.tensors.devices import Device, devices_of

WAYS = {
    "name": ("x = f()\nasked(x)", ["f()"]),
    "choice": ("x = f() if fast else g()\nasked(x)", ["f()", "g()"]),
    "fallback": ("asked(x or f())", ["f()", "?"]),
    "walrus": ("asked(x := f())", ["f()"]),
    "branches": ("if fast:\n    x = f()\nelse:\n    x = g()\nasked(x)", ["f()", "g()"]),
    "to itself": ("x = f()\nwhile True:\n    asked(x)\n    x = x or g()", ["f()", "g()"]),
    "part": ("x, y = f()\nasked(y)", ["f()[1]"]),
    "part that is written out": ("both = f(), g()\nx, y = both\nasked(y)", ["g()"]),
    "element": ("for x in f():\n    asked(x)", ["f()[each]"]),
    "elements that are written out": ("for x in (1, 2):\n    asked(x)", ["1", "2"]),
    "part of an element": ("for i, (x, y) in f():\n    asked(y)", ["f()[each][1][1]"]),
    "part of elements that are written out": ("for x, y in ((1, 2), (3, 4)):\n    asked(y)", ["2", "4"]),
    "enumerate": ("for i, (x, y) in enumerate(f()):\n    asked(y)", ["f()[each][1]"]),
    "count of enumerate": ("for i, x in enumerate(f()):\n    asked(i)", ["enumerate(f())[each][0]"]),
    "zip": ("for x, y in zip(f(), g()):\n    asked(y)", ["g()[each]"]),
    "zip of several": ("for x, y in zip(*f()):\n    asked(y)", ["zip(*f())[each][1]"]),
    "passed on": ("from tqdm import tqdm\nfor x in tqdm(f()):\n    asked(x)", ["f()[each]"]),
    "comprehension": ("[asked(y) for x, y in f()]", ["f()[each][1]"]),
    "attribute": (
        "class A:\n    def __init__(self):\n        self.x = f()\n    def run(self):\n        asked(self.x)",
        ["f()"],
    ),
    "attribute that is never set": ("class A:\n    def run(self):\n        asked(self.x)", ["?"]),
    "parameter": ("def run(x=1):\n    asked(x)\nrun(2)", ["run(x)"]),
    "result": ("def f():\n    return 1\nasked(f())", ["f()"]),
}
"""With defaults and results of the file, as `Through` asks for them."""
FURTHER = {
    "parameter": ("def run(x=1):\n    asked(x)\nrun(2)", ["run(x)", "1", "2"]),
    "result": ("def f():\n    return 1\nasked(f())", ["1"]),
}
DEVICES = {
    "moved": ("x = f().cuda()\nasked(x)", Device.CUDA),
    "brought back": ("x = f().cuda()\nasked(x.cpu())", Device.CPU),
    "chosen": ('d = "cuda" if wide else "cpu"\nasked(f().to(d))', Device.CUDA | Device.CPU),
    "unpacked": ("x, y = f().cuda().chunk(2)\nasked(y)", Device.CUDA),
    "converted": ("import torch\nx = f().cuda()\nasked(x.to(torch.half))", Device.CUDA),
    "in place": ("model = f()\nmodel.cuda()\nasked(model)", Device.CUDA),
    "unknown": ("asked(f())", Device.UNKNOWN),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_value_is_followed_to_its_definitions(way: str) -> None:
    program, wanted = WAYS[way]
    assert ends_in(program, Through.CHANGES) == wanted


@pytest.mark.parametrize("way", FURTHER)
def test_parameters_and_results_are_followed_where_they_are_asked_for(way: str) -> None:
    program, wanted = FURTHER[way]
    assert sorted(ends_in(program, Through.PARAMETERS | Through.RESULTS)) == sorted(wanted)


@pytest.mark.parametrize("case", DEVICES)
def test_tensors_are_on_the_devices_they_are_moved_to(case: str) -> None:
    program, wanted = DEVICES[case]
    facts = facts_of_program(program)
    assert devices_of(facts, *asked(facts)) == wanted


def ends_in(program: str, through: Through) -> list[str]:
    facts = facts_of_program(program)
    return [told(facts, end) for end in definitions_of(facts, *asked(facts), through)]


def asked(facts: FileFacts) -> tuple[ast.expr, int]:
    site = next(site for site in facts.symbols.calls if getattr(site.node.func, "id", "") == "asked")
    return site.node.args[0], site.scope


def told(facts: FileFacts, end: End) -> str:
    if end is None:
        return "?"
    if isinstance(end, Parameter):
        return f"{facts.symbols.scopes[end.function].name}({end.name})"
    return ast.unparse(end.node) + "".join(
        f"[{'each' if part == EACH else getattr(part, 'key', part)}]" for part in end.parts
    )
