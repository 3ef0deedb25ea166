"""Whether all that becomes of a value is seen: what nobody understands counts as a way out."""

from __future__ import annotations

import textwrap

import pytest

from tests.facts.reading import facts_of_program
from torchlint.facts.flow.containment import Containment
from torchlint.facts.flow.tracker import Flow, follow
from torchlint.facts.flow.values import Field, Move, Others, Value


class Anything(Containment):
    """Knows no use of its own."""

    def steps(self, value: Value) -> list[Move]:
        return list(self.passes(value))  # type: ignore[arg-type]


def followed(program: str) -> Flow:
    facts = facts_of_program(program)
    (made,) = (
        site.node for site in facts.symbols.calls if facts.names(site.node.func, site.scope).only == "made.source"
    )
    return follow(Anything(facts), Value(made))


def in_function(body: str) -> str:
    return "from made import source, launch\n\ndef work(given):\n" + textwrap.indent(textwrap.dedent(body), "    ")


CONTAINED = {
    "dropped": "source()",
    "printed": "one = source()\nprint('have', one)",
    "tested": "one = source()\nif one is None or not one:\n    one = 3",
    "replaced in a list": "parts = [source()]\nparts[0] = 3\nprint(len(parts))",
    "another entry": "run = {'one': source(), 'two': 2}\nlaunch(run['two'])",
    "kept in an own list": "parts = []\nparts.append(source())\nprint(parts)",
    "unpacked": "one, two = source(), 2\nlaunch(two)",
    "named anew": "one = source()\none = 3\nlaunch(one)",
    "into a function of its own": "def take(one):\n    print(one)\ntake(source())",
    "a namespace": "from types import SimpleNamespace\nrun = SimpleNamespace(one=source(), two=2)\nlaunch(run.two)",
}
LOST = {
    "into an unknown call": "launch(source())",
    "into an unknown call by keyword": "launch(one=source())",
    "into an unknown call in a list": "launch([source()])",
    "with two stars": "launch(**{'one': source()})",
    "an attribute of it": "source().start",
    "called": "source()()",
    "kept in the list of somebody": "given.append(source())",
    "kept under a key of somebody": "given['one'] = source()",
    "kept in an attribute of somebody": "given.one = source()",
    "kept in an own list that somebody has": "parts = []\nlaunch(parts)\nparts.append(source())",
    "kept in an own list with another name": "parts = []\nother = parts\nparts.append(source())\nlaunch(other)",
    "yielded": "yield source()",
    "into a decorated function": "@launch\ndef take(one):\n    print(one)\ntake(source())",
    "into one of two functions": "def take(one):\n    print(one)\nrun = take if given else launch\nrun(source())",
    "into a function with any arguments": "def take(*all):\n    launch(all)\ntake(source())",
    "into a lambda that gives it back": "give = lambda: source()\nlaunch(give())",
    "its function is handed on": "def make():\n    return source()\nlaunch(make)",
    "through a list": "parts = [source()]\nfor one in parts:\n    launch(one)",
    "through a closure": "one = source()\ndef run():\n    launch(one)\nrun()",
    "matched": "match source():\n    case other:\n        launch(other)",
    "starred": "launch(*[source()])",
    "all of an object": "from types import SimpleNamespace\nrun = SimpleNamespace(one=source())\nlaunch(run.__dict__)",
    "deep inside": "run = [[[[source()]]]]\nlaunch(run)",
    "all entries of it": "parts = dict()\nparts.update(source())\nlaunch(parts)",
    "raised": "raise source()",
    "put into what a base of somebody keeps": (
        "from made import Base\nclass Kept(Base):\n    pass\nkept = Kept()\nkept.add(source())"
    ),
    "deeper than is told": "run = {}\nrun['one'] = [[[source()]]]\nlaunch(run)",
}
CLASS = """
from made import launch, source

{decorators}
class Run{bases}:
    def __init__(self, one):
        self.one = one

    def start(self):
        {body}

{after}
Run(source()).start()
"""


def of_class(body: str = "print(self.one)", bases: str = "", decorators: str = "", after: str = "") -> str:
    return CLASS.format(body=body, bases=bases, decorators=decorators, after=after)


CLASSES_THAT_CONTAIN = {
    "own attribute": of_class(),
    "another attribute": of_class("launch(self.other)"),
    "another object": of_class(after="launch(Run(3))"),
    "given back": of_class("return self.one"),
    "a module": "import torch\n" + of_class(bases="(torch.nn.Module)"),
    "an heir": of_class(after="class Heir(Run):\n    def stop(self):\n        print(self.one)"),
    "an annotation": of_class(after="def check(run: Run):\n    print(isinstance(run, int))"),
}
CLASSES_THAT_LOSE = {
    "own attribute": of_class("launch(self.one)"),
    "the object": of_class("launch(self)"),
    "its attributes": of_class("launch(self.__dict__)"),
    "a base of others": "from made import Base\n" + of_class(bases="(Base)"),
    "a decorator": of_class(decorators="@launch"),
    "an heir": of_class(after="class Heir(Run):\n    def stop(self):\n        launch(self.one)"),
    "the class is handed on": of_class(after="launch(Run)"),
}


@pytest.mark.parametrize("body", CONTAINED.values(), ids=CONTAINED)
def test_what_stays_in_sight(body: str) -> None:
    assert followed(in_function(body)).is_contained


@pytest.mark.parametrize("body", LOST.values(), ids=LOST)
def test_what_gets_out_of_sight(body: str) -> None:
    assert not followed(in_function(body)).is_contained


@pytest.mark.parametrize("program", CLASSES_THAT_CONTAIN.values(), ids=CLASSES_THAT_CONTAIN)
def test_objects_that_keep_it(program: str) -> None:
    assert followed(program).is_contained


@pytest.mark.parametrize("program", CLASSES_THAT_LOSE.values(), ids=CLASSES_THAT_LOSE)
def test_objects_that_let_it_out(program: str) -> None:
    assert not followed(program).is_contained


def test_what_other_files_may_get_at_are_ways_out_of_the_file() -> None:
    program = """
        from made import source

        ONE = source()

        class Run:
            def take(self, one):
                self.kept = one

        def make(run: Run):
            run = Run()
            run.take(ONE)
            return ONE
    """
    exits = {(one.symbol, one.port) for one in followed(program).exits}
    assert exits == {
        ("program.py::", Field("ONE")),
        ("program.py::Run", Field("kept")),
        ("program.py::Run", Others(are_heirs=True)),
        ("program.py::make", None),
    }
