"""How full names are written, and what they refer to: the one place that reads and writes their marks.

A name is carried as text, because the catalogue writes names in the same way, and sets and tables are asked by them.
Whoever wants to know more than the text has it taken apart: `reference(name)`.

    torch.nn.Conv2d         Def("", "torch.nn.Conv2d")
    net.py::                Module("net.py")
    net.py::Net.step        Def("net.py", "Net.step")
    net.py::Net()           Result(Def("net.py", "Net"))
    net.py::Net().step      Member(Result(Def("net.py", "Net")), "step")
    net.py::build()[1]      Part(Result(Def("net.py", "build")), 1)
"""

from __future__ import annotations

import functools
import re
import sys

import msgspec

FILE, CALL = "::", "()"
"""The marks themselves: only for what is asked of every name of every file."""
_BEYOND = re.compile(r"\(\)|\[")
"""Where what is defined ends, and what a call of it gives begins."""
_STEP = re.compile(r"\(\)|\[(?P<place>[^\]]*)\]|\.(?P<member>[^.()\[]+)")

Symbol = tuple[str, str]
"""A project path and a symbol in it (see facts/summary.py)."""


class Module(msgspec.Struct, frozen=True):
    """A file of the project."""

    path: str


class Def(msgspec.Struct, frozen=True):
    """A function, a class, a method or a variable; `path` is empty for what comes from outside the project."""

    path: str
    qualname: str


class Result(msgspec.Struct, frozen=True):
    """What a call gives: of a class an instance; what a function gives its project tells (project/objects.py)."""

    of: Reference


class Member(msgspec.Struct, frozen=True):
    """An attribute or a method of what a call gives."""

    of: Reference
    name: str


class Part(msgspec.Struct, frozen=True):
    """A part of the tuple that a call gives; None where its place is not known."""

    of: Reference
    place: int | None


Reference = Module | Def | Result | Member | Part


@functools.lru_cache(maxsize=2048)
def reference(name: str) -> Reference:
    """What a full name refers to.

    >>> reference("net.py::Net().step")
    Member(of=Result(of=Def(path='net.py', qualname='Net')), name='step')
    """
    path, qualname = symbol_of(name) if FILE in name else ("", name)
    if path and not qualname:
        return Module(path)
    beyond = _BEYOND.search(qualname)
    found: Reference = Def(path, qualname if beyond is None else qualname[: beyond.start()])
    for step in _STEP.finditer(qualname, len(qualname) if beyond is None else beyond.start()):
        if step["member"]:
            found = Member(found, step["member"])
        elif step["place"] is not None:
            found = Part(found, int(step["place"]) if step["place"].isdigit() else None)
        else:
            found = Result(found)
    return found


@functools.lru_cache(maxsize=32_768)
def symbol_of(name: str) -> Symbol:
    """The file of a project name and what stands behind it, one object for each: call graphs hold them many times.

    >>> symbol_of("net.py::Net.step")
    ('net.py', 'Net.step')
    """
    path, _, qualname = name.partition(FILE)
    return sys.intern(path), qualname


def name_in(path: str, qualname: str = "") -> str:
    """The full name of what a file of the project defines; of the file itself, where nothing is named.

    >>> name_in("net.py", "Net"), name_in("net.py")
    ('net.py::Net', 'net.py::')
    """
    return f"{path}{FILE}{qualname}"


def is_in(name: str, path: str) -> bool:
    """Whether it names a file, or what that defines."""
    return name.startswith(path + FILE)


def is_of_project(name: str) -> bool:
    return FILE in name


def is_module(name: str) -> bool:
    return name.endswith(FILE)


def result_of(name: str) -> str:
    """The name of what a call gives: `Net()` for `Net`."""
    return name + CALL


def part_of(name: str, place: int | None) -> str:
    """The name of a part of a tuple: `build()[1]` for `build()`."""
    return f"{name}[{place}]"


def is_result(name: str) -> bool:
    return name.endswith(CALL)


def maker_of(name: str) -> str:
    """What is called to give a result: `Net` for `Net()`; any other name stays."""
    return name.removesuffix(CALL)


def hangs_on_call(name: str) -> bool:
    """Whether it is what a call gives, or a member or a part of that."""
    return CALL in name


def root_of(name: str) -> str:
    """What is defined, and the rest is got of: `net.py::Net` for `net.py::Net().step`."""
    return name.partition(CALL)[0]


def is_instance(name: str) -> bool:
    """Whether a full name is an object of a class: `torch.nn.CrossEntropyLoss()`, as far as capitals tell."""
    return is_result(name) and last_part(maker_of(name))[:1].isupper()


def plain(name: str) -> str:
    """A method without the mark of an object: `net.py::Net().step` is `net.py::Net.step`."""
    return name.replace(f"{CALL}.", ".")


def qualname_of(name: str) -> str:
    """`Net.step` of `net.py::Net.step`; what comes from outside the project is whole."""
    return name.rpartition(FILE)[2]


def last_part(name: str) -> str:
    """`step` of `net.py::Net.step`."""
    return qualname_of(name).rpartition(".")[2]
