"""What others read of a file: all that its module binds, where it stands, and nothing of what its functions do."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import torchlint
from tests.facts.reading import facts_of
from torchlint.facts.exports import exports_of, interface_of

OWN = [path.read_text(encoding="utf-8") for path in sorted(Path(torchlint.__file__).parent.glob("*/*.py"))]

PROGRAM = '''
"""What this is about."""
import os, torch as t
from .parts import (
    One,  # of several
    two as second,
)

TABLE = {"one": One,
         "two": lambda x: second(x)}
if os.name == "nt":
    "a text alone"
    @t.no_grad()
    def fast(x, size=3): return x * size
else:
    async def fast(
        x,
    ):
        """It says so."""
        first = x
        return first


class Net(t.nn.Module):
    """A net,
    in two lines.""" ; kinds = ["a"]
    table = {}

    def forward(self, x):
        y = self.inner(x); return y

    class Inner:
        "only a text"


try: from fast import *
except ImportError:
    def slow(): pass
finally:
    pass

def set_up():
    global MODEL
    MODEL = Net()

def with_default(x=(HELD := 3)):
    return x
'''
INTERFACE = '''
0
import os, torch as t
from .parts import (
    One,  # of several
    two as second,
)

TABLE = {"one": One,
         "two": lambda x: second(x)}
if os.name == "nt":
    0

    def fast(): 0
else:
    def fast(): 0







class Net(t.nn.Module):
    """A net,
    in two lines.""" ; kinds = ["a"]
    table = {}

    def forward(): 0


    class Inner:
        0


try: from fast import *
except ImportError:
    def slow(): 0
finally:
    pass

def set_up():
    global MODEL
    MODEL = Net()

def with_default(x=(HELD := 3)):
    return x
'''


def test_functions_and_texts_are_left_out() -> None:
    assert interface_of(PROGRAM, ast.parse(PROGRAM)) == INTERFACE


@pytest.mark.parametrize("text", ["", "\n", "x = 1", "def f(): 'ä'; 'ö'", "class A: 'ä'", "if 1: 'ä'\nelse: 'ö' # so"])
def test_any_text_has_an_interface(text: str) -> None:
    ast.parse(interface_of(text, ast.parse(text)))


@pytest.mark.parametrize("text", [PROGRAM, *OWN])
def test_an_interface_binds_what_its_file_binds(text: str) -> None:
    interface = interface_of(text, ast.parse(text))
    whole, told = facts_of(text.encode(), "a.py"), facts_of(interface.encode(), "a.py")
    assert exports_of(told) == exports_of(whole)
    assert interface_of(interface, told.tree) == interface
    assert interface.count("\n") == text.count("\n")
