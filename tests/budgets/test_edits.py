"""What an edit of a long file costs while the editor waits, in counted work: a project of 500 files, 2,000 lines."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock

import pytest

pytest.importorskip("pygls")

from pygls.workspace import PositionCodec

from torchlint.engine.cache import checksums
from torchlint.engine.cache.results import ResultCache
from torchlint.engine.process_state import ProcessState
from torchlint.facts.file import FileFacts
from torchlint.server.checking import Checker
from torchlint.server.opened import OpenFile, Part
from torchlint.server.settings import ClientSettings, check_options
from torchlint.source import syntax

FILES, LINES = 500, 2_000
_MODULE = """import torch
from torch import nn
from net.part{above} import Block{above}


class Block{number}(Block{above}):
    def __init__(self, width):
        super().__init__(width)
        self.conv{number} = nn.Conv2d(width, width, 3)

    def forward(self, x):
        return super().forward(self.conv{number}(x))
"""
_FIRST = (
    "from torch import nn\n\n\nclass Block0(nn.Module):\n    def __init__(self, width):\n        super().__init__()\n"
)
_HEAD = """from torch import nn
from torch.nn import functional as F
from net.part1 import Block1


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = Block1(3)

    def forward(self, x):
        x = self.first(x)
        return F.interpolate(x, scale_factor=2, mode="bilinear")
"""
_FUNCTION = "\n\ndef scale{number}(x):\n    x = x * {number}\n    return x.relu()\n"
_IMPORTER = "from long import Decoder, scale3\n\nnet = Decoder()\n\n\ndef scaled(x):\n    return scale3(x)\n"


@dataclass(slots=True)
class Work:
    """What an edit has the engine do."""

    parsed: int = 0
    """Trees."""
    worked_out: list[str] = field(default_factory=list)
    """Files whose results were not known any more."""
    opened: set[str] = field(default_factory=set)
    """Files of the project that were read."""


class _Edits:
    """The long file in an editor."""

    def __init__(self, root: Path) -> None:
        self.root, self.path = root, root / "long.py"
        self.text = self.path.read_text(encoding="utf-8")
        self._checker = Checker(ResultCache(stays=True))
        self._version = 0

    def work_of(self, text: str) -> tuple[Work, list[str]]:
        """What a check of another text of the file costs, and the codes of what it finds."""
        self._version += 1
        part = Part(self.path.as_uri(), self._version, text)
        options = check_options(ClientSettings(), [self.root])
        with _counted(self.root) as work:
            answer = self._checker.check([OpenFile(self.path, True, (part,))], options, PositionCodec())  # noqa: FBT003
        assert answer.errors == ()
        return work, [one.finding.code for one in answer.found.get(part.uri, ())]


_listening: list[tuple[str, Work]] = []


def _heard(event: str, arguments: tuple[object, ...]) -> None:
    for root, work in _listening:
        if event == "open" and str(arguments[0]).startswith(root):
            work.opened.add(str(arguments[0]).removeprefix(root))


sys.addaudithook(_heard)


@contextmanager
def _counted(root: Path) -> Iterator[Work]:
    work = Work()
    parse, check, summary = syntax._parsed, ProcessState.check, ProcessState.summary

    def parsing(text: str) -> object:
        work.parsed += 1
        return parse(text)

    def told(state: ProcessState, path: str, ask: object) -> object:
        work.worked_out.append(path)
        return ask(state, path)  # type: ignore[operator]

    _listening.append((f"{root}/", work))
    with (
        mock.patch.object(checksums, "_JUST_NOW", 0),  # the files of the tests are as if written a while ago
        mock.patch.object(syntax, "_parsed", parsing),
        mock.patch.object(ProcessState, "check", lambda state, path: told(state, path, check)),
        mock.patch.object(ProcessState, "summary", lambda state, path: told(state, path, summary)),
    ):
        yield work
    _listening.clear()


@pytest.fixture(scope="module")
def edits(tmp_path_factory: pytest.TempPathFactory) -> _Edits:
    root = tmp_path_factory.mktemp("project")
    (root / ".git").mkdir()
    (root / "net").mkdir()
    (root / "net" / "__init__.py").write_text("")
    (root / "net" / "part0.py").write_text(_FIRST)
    for number in range(1, FILES - 4):
        (root / "net" / f"part{number}.py").write_text(_MODULE.format(number=number, above=number // 8))
    (root / "uses.py").write_text(_IMPORTER)
    functions = (LINES - _HEAD.count("\n")) // _FUNCTION.count("\n")
    (root / "long.py").write_text(_HEAD + "".join(_FUNCTION.format(number=number) for number in range(functions)))
    (root / "train.py").write_text("import torch\nfrom uses import scaled\n\ntorch.manual_seed(0)\n")
    assert len(list(root.rglob("*.py"))) == FILES
    opened = _Edits(root)
    assert opened.text.count("\n") > LINES - 10
    work, found = opened.work_of(opened.text)
    assert work.parsed >= FILES
    assert found == ["TL103"]
    return opened


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("x = x * 7\n", "x = x * 7  # scaled\n"),
        ("x = x * 7\n", "x = x * 7\n    x = x + 1\n"),
        ("def scale9(x)", "def one_more(x):\n    return x\n\n\ndef scale9(x)"),
        ("from torch import nn\n", "import math\nfrom torch import nn\n"),
        ("def scale9(x)", "def scale_nine(x)"),
    ],
)
def test_an_edit_reads_the_file_alone(old: str, new: str, edits: _Edits) -> None:
    """Its tree, and the interface of what it imports; no importer is read again, as none asks for what is new."""
    work, found = edits.work_of(edits.text.replace(old, new, 1))
    assert work.parsed <= 2
    assert work.worked_out == ["long.py"]
    assert work.opened == {"long.py"}
    assert found == ["TL103"]


def test_a_name_that_is_gone_has_those_that_ask_for_it_read_again(edits: _Edits) -> None:
    work, _ = edits.work_of(edits.text.replace("def scale3(x)", "def scale_three(x)"))
    assert {"long.py", "uses.py"} <= set(work.worked_out) <= {"long.py", "train.py", "uses.py"}
    edits.work_of(edits.text)


def test_half_a_line_costs_a_tree_and_no_project(edits: _Edits) -> None:
    edits.work_of(edits.text)
    work, found = edits.work_of(edits.text.replace("x = x * 7\n", "x = (x *\n"))
    assert work.parsed <= 3
    assert work.worked_out == ["long.py"]
    assert found == ["TL001"]


def test_the_same_text_again_costs_nothing(edits: _Edits) -> None:
    edits.work_of(edits.text)
    work, found = edits.work_of(edits.text)
    assert work == Work(opened={"long.py"})
    assert found == ["TL103"]


def test_no_tree_stays_between_two_edits(edits: _Edits) -> None:
    edits.work_of(edits.text + "\n\nlast = 1\n")
    gc.collect()
    assert [one.path for one in gc.get_objects() if type(one) is FileFacts] == []
