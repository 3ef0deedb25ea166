"""Which bindings of `x` hold where `asked(x)` reads it: each is named by what it calls, a parameter by `given`."""

from __future__ import annotations

import ast
import textwrap

import pytest

from tests.facts.reading import facts_of_program
from torchlint.facts.file import FileFacts
from torchlint.facts.reaching import reaching
from torchlint.facts.scopes import Binding

MODULES = {
    "straight line": ("x = a()\nx = b()\nasked(x)", "b"),
    "below the read": ("x = a()\nasked(x)\nx = b()", "a"),
    "its own right side": ("x = a()\nx = asked(x)", "a"),
    "its own right side, over lines": ("x = a()\nx = b(\n    asked(x),\n)", "a"),
    "one line": ("x = a(); x = b(); asked(x)", "b"),
    "one line, before": ("x = a(); asked(x); x = b()", "a"),
    "unpacked": ("x = a()\ny, x = b()\nasked(x)", "b"),
    "exchanged": ("x = a()\nx, y = b(), asked(x)", "a"),
    "annotated": ("x: int = a()\nx: int = b()\nasked(x)", "b"),
    "only declared": ("x = a()\nx: int\nasked(x)", "a ?"),
    "augmented": ("x = a()\nx += b()\nasked(x)", "a"),
    "augmented in a branch": ("x = a()\nif c:\n    x = b()\n    x += d()\nasked(x)", "a b"),
    "imported": ("x = a()\nfrom m import x\nasked(x)", "?"),
    "defined": ("x = a()\ndef x(): pass\nasked(x)", "?"),
    "deleted": ("x = a()\nif c:\n    x = b()\n    del x\nasked(x)", "a"),
    "deleted and bound": ("x = a()\ndel x\nx = b()\nasked(x)", "b"),
    # -- branches
    "if only": ("x = a()\nif c:\n    x = b()\nasked(x)", "a b"),
    "replaced in its branch": ("if c:\n    x = a()\n    x = b()\nasked(x)", "b"),
    "if and else": ("x = a()\nif c:\n    x = b()\nelse:\n    x = d()\nasked(x)", "b d"),
    "replaced in both branches": (
        "if c:\n    x = a()\n    x = b()\nelse:\n    x = d()\n    x = e()\nasked(x)",
        "b e",
    ),
    "the other branch": ("x = a()\nif c:\n    x = b()\nelse:\n    asked(x)", "a"),
    "in the branch": ("x = a()\nif c:\n    x = b()\n    asked(x)\nelse:\n    x = d()", "b"),
    "elif chain": ("x = a()\nif c:\n    x = b()\nelif d:\n    x = e()\nasked(x)", "a b e"),
    "elif chain with else": (
        "x = a()\nif c:\n    x = b()\nelif d:\n    x = e()\nelse:\n    x = f()\nasked(x)",
        "b e f",
    ),
    "one test of a chain": ("x = a()\nif c:\n    x = b()\nelif asked(x):\n    pass", "a"),
    "nested": ("x = a()\nif c:\n    if d:\n        x = b()\n    else:\n        x = e()\nasked(x)", "a b e"),
    "nested and replaced": (
        "x = a()\nif c:\n    if d:\n        x = b()\n    x = e()\nelse:\n    x = f()\nasked(x)",
        "e f",
    ),
    "branch that raises": ("x = a()\nif c:\n    x = b()\n    raise\nasked(x)", "a"),
    "other branch raises": ("x = a()\nif c:\n    x = b()\nelse:\n    raise\nasked(x)", "b"),
    # -- try
    "tried": ("x = a()\ntry:\n    x = b()\nexcept E:\n    pass\nasked(x)", "a b"),
    "tried in full": ("x = a()\ntry:\n    x = b()\nexcept E:\n    x = d()\nasked(x)", "b d"),
    "tried, else it leaves": ("x = a()\ntry:\n    x = b()\nexcept E:\n    raise\nasked(x)", "b"),
    "replaced in a try": ("try:\n    x = a()\n    x = b()\nfinally:\n    pass\nasked(x)", "b"),
    "replaced in a try that may fail": ("try:\n    x = a()\n    x = b()\nexcept E:\n    pass\nasked(x)", "a b"),
    "in a handler": ("x = a()\ntry:\n    x = b()\n    x = d()\nexcept E:\n    asked(x)", "a b d"),
    "try with else": ("x = a()\ntry:\n    c()\nexcept E:\n    x = b()\nelse:\n    x = d()\nasked(x)", "b d"),
    "else after a try": ("x = a()\ntry:\n    x = b()\nexcept E:\n    x = d()\nelse:\n    asked(x)", "b"),
    "in finally": ("x = a()\ntry:\n    x = b()\nfinally:\n    asked(x)", "a b"),
    "bound in finally": ("x = a()\ntry:\n    x = b()\nfinally:\n    x = d()\nasked(x)", "d"),
    "after finally": ("x = a()\ntry:\n    x = b()\nfinally:\n    c()\nasked(x)", "b"),
    "caught": ("x = a()\ntry:\n    c()\nexcept E as x:\n    asked(x)", "?"),
    # -- with
    "with": ("x = a()\nwith m():\n    x = b()\n    x = d()\nasked(x)", "d"),
    "entered": ("x = a()\nwith b() as x:\n    asked(x)", "b"),
    "entered, then behind": ("x = a()\nwith b() as x:\n    x = d()\nasked(x)", "d"),
    "suppressed": ("import contextlib\nx = a()\nwith contextlib.suppress(E):\n    x = b()\nasked(x)", "a b"),
    # -- loops
    "loop": ("x = a()\nfor y in z:\n    x = b()\nasked(x)", "a b"),
    "replaced in a loop": ("x = a()\nfor y in z:\n    x = b()\n    x = d()\nasked(x)", "a d"),
    "bound in a loop": ("for y in z:\n    x = a()\n    x = b()\n    asked(x)", "b"),
    "round before": ("x = a()\nfor y in z:\n    asked(x)\n    x = b()", "a b"),
    "round before, in a branch": ("x = a()\nwhile c:\n    if d:\n        asked(x)\n    else:\n        x = b()", "a b"),
    "last of the round before": ("x = a()\nfor y in z:\n    asked(x)\n    x = b()\n    x = d()", "a d"),
    "round of the outer loop": ("for y in z:\n    x = a()\n    for v in w:\n        asked(x)\n        x = b()", "a b"),
    "element": ("x = a()\nfor x in b():\n    asked(x)", "b"),
    "element over itself": ("x = a()\nfor x in asked(x):\n    pass", "a"),
    "last element": ("x = a()\nfor x in b():\n    pass\nasked(x)", "a b"),
    "else of a loop": ("x = a()\nfor y in z:\n    x = b()\n    break\nelse:\n    asked(x)", "a"),
    "bound in the else": ("x = a()\nfor y in z:\n    x = b()\nelse:\n    x = d()\nasked(x)", "d"),
    "broken off before the else": ("for y in z:\n    x = a()\n    break\nelse:\n    x = b()\nasked(x)", "a b"),
    "test of while": ("x = a()\nwhile asked(x):\n    x = b()", "a b"),
    "endless": ("x = a()\nwhile True:\n    x = b()\n    if c:\n        break\n    x = d()\nasked(x)", "b"),
    "broken off": ("x = a()\nfor y in z:\n    x = b()\n    if c:\n        break\n    x = d()\nasked(x)", "a b d"),
    "next round": ("x = a()\nfor y in z:\n    x = b()\n    if c:\n        continue\n    x = d()\nasked(x)", "a b d"),
    "next round, not behind": (
        "for y in z:\n    x = a()\n    if c:\n        x = b()\n        continue\n    asked(x)",
        "a",
    ),
    "break of an inner loop": (
        "while True:\n    x = a()\n    for y in z:\n        break\n    x = d()\n    if c:\n        break\nasked(x)",
        "d",
    ),
    # -- match, walrus
    "match": ("x = a()\nmatch c:\n    case 1:\n        x = b()\n    case 2:\n        x = d()\nasked(x)", "a b d"),
    "match of all": ("x = a()\nmatch c:\n    case 1:\n        x = b()\n    case _:\n        x = d()\nasked(x)", "b d"),
    "captured": ("x = a()\nmatch c:\n    case [x, 1]:\n        asked(x)", "?"),
    "another case": ("x = a()\nmatch c:\n    case [x, 1]:\n        pass\n    case 2:\n        asked(x)", "a"),
    "walrus": ("x = a()\nif (x := b()):\n    asked(x)", "b"),
    "walrus in a while": ("x = a()\nwhile (x := b()):\n    asked(x)", "b"),
    "walrus behind": ("x = a()\nif (x := b()):\n    pass\nasked(x)", "b"),
    "walrus before": ("x = a()\nif asked(x) or (x := b()):\n    pass", "a"),
    "walrus that is perhaps not reached": ("x = a()\nif c and (x := b()):\n    pass\nasked(x)", "a b"),
    "walrus in its statement": ("x = a()\ny = (x := b()) + asked(x)", "b"),
    # -- functions
    "function sees what comes later": ("x = a()\ndef f():\n    asked(x)\nx = b()", "a b"),
    "function does not see what was replaced": ("x = a()\nx = b()\ndef f():\n    asked(x)", "b"),
    "method does not see what was replaced": ("x = a()\nx = b()\nclass A:\n    def f(self):\n        asked(x)", "b"),
    "body of a class": ("x = a()\nx = b()\nclass A:\n    asked(x)\nx = d()", "b"),
    "bound by a function": ("x = a()\ndef f():\n    global x\n    x = b()\nx = d()\nasked(x)", "b d"),
}
FUNCTIONS = {
    "parameter": ("asked(x)", "given"),
    "parameter that is replaced": ("x = a()\nasked(x)", "a"),
    "parameter that is perhaps replaced": ("if x is None:\n    x = a()\nasked(x)", "given a"),
    "branch that returns": ("if c:\n    x = a()\n    return x\nasked(x)", "given"),
    "other branch returns": ("if c:\n    x = a()\nelse:\n    return\nasked(x)", "a"),
    "both branches of a branch leave": (
        "if c:\n    x = a()\n    if d:\n        return\n    else:\n        raise\nasked(x)",
        "given",
    ),
    "return in a loop": ("for y in z:\n    x = a()\n    return x\nasked(x)", "given"),
    "inner function": ("x = a()\ndef inner():\n    asked(x)\nx = b()", "a b"),
    "bound by an inner function": ("def inner():\n    nonlocal x\n    x = a()\nx = b()\nasked(x)", "a b"),
    "lambda": ("x = a()\nx = b()\nkey = lambda y: asked(x)", "b"),
    "comprehension": ("x = a()\nx = [b() for y in asked(x)]", "a"),
}


@pytest.mark.parametrize("way", MODULES)
def test_bindings_reach_a_read(way: str) -> None:
    program, wanted = MODULES[way]
    assert reached(program) == wanted


@pytest.mark.parametrize("way", MODULES)
def test_bindings_reach_a_read_of_a_function(way: str) -> None:
    program, wanted = MODULES[way]
    if "global" not in program:
        assert reached(in_function(program, "")) == wanted


@pytest.mark.parametrize("way", FUNCTIONS)
def test_bindings_reach_a_read_beside_a_parameter(way: str) -> None:
    program, wanted = FUNCTIONS[way]
    assert reached(in_function(program, "x")) == wanted


def test_a_thousand_branches_are_one_pass() -> None:
    branches = "".join(f"if c{i}:\n    x = a{i}()\n    x = b{i}()\n" for i in range(1000))
    facts = facts_of_program(f"x = a()\n{branches}asked(x)")
    assert len(found_in(facts)) == 1001


def in_function(body: str, parameters: str) -> str:
    return f"def work({parameters}):\n" + textwrap.indent(body, "    ")


def reached(program: str) -> str:
    return " ".join(map(told, found_in(facts_of_program(program))))


def found_in(facts: FileFacts) -> list[Binding]:
    site = next(site for site in facts.symbols.calls if getattr(site.node.func, "id", "") == "asked")
    read = site.node.args[0]
    assert isinstance(read, ast.Name)
    return reaching(facts, read.id, site.scope, read)


def told(binding: Binding) -> str:
    if binding.kind.value == "parameter":
        return "given"
    value = binding.value.elt if isinstance(binding.value, ast.ListComp) else binding.value
    return value.func.id if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) else "?"
