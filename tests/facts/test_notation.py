"""Full names, taken apart; nobody else reads or writes their marks."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import torchlint
from torchlint.facts.notation import (
    Def,
    Member,
    Module,
    Part,
    Reference,
    Result,
    is_instance,
    last_part,
    name_in,
    part_of,
    plain,
    reference,
    result_of,
    symbol_of,
)

PACKAGE = Path(torchlint.__file__).parent
NET = Def("kit/net.py", "Net")


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("torch.nn.Conv2d", Def("", "torch.nn.Conv2d")),
        ("torch.nn.Conv2d()", Result(Def("", "torch.nn.Conv2d"))),
        ("torch.nn.Conv2d()()", Result(Result(Def("", "torch.nn.Conv2d")))),
        ("kit/net.py::", Module("kit/net.py")),
        ("kit/net.py::Net", NET),
        ("kit/net.py::Net.step", Def("kit/net.py", "Net.step")),
        ("kit/net.py::Net()", Result(NET)),
        ("kit/net.py::Net().step", Member(Result(NET), "step")),
        ("kit/net.py::Net().step()[0].fit", Member(Part(Result(Member(Result(NET), "step")), 0), "fit")),
        ("kit/net.py::build()[None]", Part(Result(Def("kit/net.py", "build")), None)),
        ("kit/net.py::Net().*", Member(Result(NET), "*")),
        ("odd()name/net.py::Net().step", Member(Result(Def("odd()name/net.py", "Net")), "step")),
        ("", Def("", "")),
    ],
)
def test_a_name_is_taken_apart(name: str, meant: Reference) -> None:
    assert reference(name) == meant


def test_a_name_is_put_together() -> None:
    made = result_of(name_in("kit/net.py", "Net"))
    assert reference(made) == Result(NET)
    assert reference(part_of(made, 2)) == Part(Result(NET), 2)
    assert reference(name_in("kit/net.py")) == Module("kit/net.py")
    assert symbol_of(plain(f"{made}.step")) == ("kit/net.py", "Net.step")
    assert last_part(f"{made}.step") == "step"
    assert is_instance(made)
    assert not is_instance("kit/net.py::build()")


def marks_in(file: Path) -> list[str]:
    """Where a module writes or looks for the marks of names: as a text of its own, or in a text that it fills in."""
    found = []
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        parts = node.values if isinstance(node, ast.JoinedStr) else [node]
        texts = [part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)]
        is_filled = isinstance(node, ast.JoinedStr)
        if any(one in ("::", "()") or (is_filled and one.startswith(("::", "()."))) for one in texts):
            found.append(f"{file.relative_to(PACKAGE)}:{getattr(node, 'lineno', 0)}")
    return found


def test_no_other_module_writes_the_marks() -> None:
    """Requirements have brackets of their own."""
    files = sorted(file for room in ("facts", "project", "checks") for file in (PACKAGE / room).rglob("*.py"))
    assert marks_in(PACKAGE / "facts/notation.py")
    others = [file for file in files if file.name != "notation.py" and file.parent.name != "requirements"]
    assert not [place for file in others for place in marks_in(file)]
