"""What is new and what is gone since an earlier audit, which went through its JSON."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.audit import projects
from tests.report.audits import amber, green, page, red
from torchlint.api import CheckOptions, audit_paths
from torchlint.audit.comparison import compared
from torchlint.audit.earlier import Earlier
from torchlint.audit.page import Audit, Light, Line, Page, ProgramChange
from torchlint.errors import ConfigError
from torchlint.report.audit_json import json_text


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def compare(before: list[Page], now: list[Page], *entries: str) -> Audit:
    Path("old.json").write_text("\n".join(json_text(Audit(tuple(before)))), encoding="utf-8")
    return compared(Audit(tuple(now)), Earlier.read(Path("old.json")), entries)


def changes(before: list[Page], now: list[Page], *entries: str) -> dict[str, ProgramChange]:
    found = compare(before, now, *entries).compared
    assert found is not None
    assert found.against == "old.json"
    return {program.name: program for program in found.programs}


def told(before: list[Line], now: list[Line]) -> tuple[list[str], list[str]]:
    """The labels of the lines of one program that are new, and of those that are gone."""
    found = changes([page("train.py", *before)], [page("train.py", *now)]).get("train.py")
    if found is None:
        return [], []
    return [change.line.label for change in found.new], [change.line.label for change in found.gone]


@pytest.mark.parametrize(
    ("before", "now", "new", "gone"),
    [
        pytest.param([red("torch")], [red("torch")], [], [], id="the same"),
        pytest.param([], [red("torch")], ["torch"], [], id="red appears"),
        pytest.param([], [amber("torch")], ["torch"], [], id="amber appears"),
        pytest.param([], [green("torch")], [], [], id="green appears"),
        pytest.param([], [Line("torch", "a fact")], [], [], id="a fact appears"),
        pytest.param([red("torch")], [], [], ["torch"], id="red goes"),
        pytest.param([green("torch")], [], [], [], id="green goes"),
        pytest.param([green("torch")], [red("torch")], ["torch"], [], id="green to red"),
        pytest.param([red("torch")], [green("torch")], [], ["torch"], id="red to green"),
        pytest.param([red("torch")], [Line("torch", "no draw seen")], [], ["torch"], id="red to a fact"),
        pytest.param([amber("torch", "x")], [red("torch", "x")], ["torch"], [], id="worse"),
        pytest.param([red("torch", "x")], [amber("torch", "x")], [], ["torch"], id="better"),
        pytest.param([red("torch", "x")], [amber("torch", "y")], [], ["torch"], id="better in other words"),
        pytest.param([red("torch", "x")], [red("torch", "y")], ["torch"], [], id="another reason"),
        pytest.param([red("torch", code="TL301")], [red("torch", code="TL302")], ["torch"], [], id="another rule"),
        pytest.param([red("torch")], [red("random")], ["random"], ["torch"], id="another topic"),
        pytest.param([red("torch")], [red("torch"), red("torch")], ["torch"], [], id="twice"),
        pytest.param([red("a"), amber("a")], [amber("a"), red("a")], [], [], id="another order"),
        pytest.param([red("a", "drawn at a.py:3")], [red("a", "drawn at b.py:41")], [], [], id="moved"),
        pytest.param(
            [red("a", "drawn at n.ipynb:cell 3:1")], [red("a", "drawn at n.ipynb:cell 4:9")], [], [], id="cell"
        ),
        pytest.param([amber("a", "varies (1 call)")], [amber("a", "varies (12 calls)")], [], [], id="counted"),
        pytest.param([red("a", "2 places. X")], [red("a", "2 places. X")], [], [], id="as many places"),
        pytest.param([red("a", "2 places. X")], [red("a", "3 places. X")], ["a"], [], id="more places"),
        pytest.param([red("a", "3 places. X")], [red("a", "2 places. X")], [], ["a"], id="fewer places"),
        pytest.param([red("a", "`x` varies")], [red("a", "2 places. X")], ["a"], [], id="a second place"),
        pytest.param([red("a", "2 places. X")], [red("a", "`x` varies")], [], ["a"], id="one place less"),
        pytest.param([amber("a", "2 places. X")], [red("a", "`x` varies")], ["a"], [], id="worse at fewer places"),
        pytest.param([Line("a", "2 places. X")], [Line("a", "3 places. X")], [], [], id="places of a fact"),
        pytest.param([amber("1 loader")], [amber("2 loaders")], [], [], id="a counted label"),
        pytest.param([amber("a", "torch 2.13 or 2.14")], [amber("a", "torch 2.9 or 2.10")], [], [], id="releases"),
    ],
)
def test_a_line_is_new_gone_or_the_same(before: list[Line], now: list[Line], new: list[str], gone: list[str]) -> None:
    assert told(before, now) == (new, gone)


def test_findings_are_counted_as_the_pages_count_them(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    listing = "    class_of = {name: index for index, name in enumerate(os.listdir(arguments.folder))}\n"
    assert listing in projects.LOOSE["train.py"]
    audits = []
    for count in (1, 2, 3):
        text = projects.LOOSE["train.py"].replace(listing, listing * count)
        monkeypatch.chdir(projects.write({**projects.LOOSE, "train.py": text}, tmp_path / str(count)))
        audits.append(list(audit_paths([], CheckOptions(jobs=1)).pages))
    one, two, three = audits
    for before, now in ((one, two), (two, three)):
        assert [change.line.label for change in changes(before, now)["train.py"].new] == ["unsorted-listing"]
        assert changes(now, before)["train.py"].new == ()
        assert [change.line.label for change in changes(now, before)["train.py"].gone] == ["unsorted-listing"]


def test_what_stood_there_is_told() -> None:
    found = changes(
        [page("train.py", amber("mode", "off"), red("torch"))], [page("train.py", red("mode", "on"), green("torch"))]
    )
    new, gone = found["train.py"].new[0], found["train.py"].gone[0]
    assert (new.line.text, new.other.text if new.other else None) == ("on", "off")
    assert (gone.line.text, gone.other.text if gone.other else None) == ("nothing seeds it", "seeded")
    assert found["train.py"].light is Light.RED


def test_programs_come_and_go() -> None:
    found = changes(
        [page("kept.py", red("torch")), page("old.py", red("torch"))],
        [page("kept.py", red("torch")), page("new.py", amber("torch"), red("random"), green("numpy.random"))],
    )
    assert {name: program.status for name, program in found.items()} == {"new.py": "new", "old.py": "gone"}
    assert [change.line.label for change in found["new.py"].new] == ["random", "torch"]
    assert (found["old.py"].new, found["old.py"].gone) == ((), ())


def test_what_was_not_asked_for_is_not_gone() -> None:
    Path("part").mkdir()
    names = ["train.py", "predict.py", "part/tool.py::a", "part/tool.py::b"]
    before, now = [page(name, red("torch")) for name in names], [page("train.py", red("torch"))]
    assert changes(before, now, "train.py") == {}
    assert set(changes(before, now, "part", "train.py")) == {"part/tool.py::a", "part/tool.py::b"}
    assert set(changes(before, now, "part/tool.py::a", "train.py")) == {"part/tool.py::a"}
    assert set(changes(before, now)) == set(names) - {"train.py"}


def test_an_audit_of_another_folder_or_release_is_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [page("train.py", red("torch"))]
    assert compare(now, now).notes == ()
    for entries in ([], ["train.py"]):
        notes = compare([page("project/train.py", red("torch"))], now, *entries).notes
        assert [str(note).startswith("old.json: has none of these programs; ") for note in notes] == [True]
    assert compare([], now).notes == compare(now, []).notes == ()
    monkeypatch.setattr("torchlint.audit.comparison.__version__", "9.9")
    assert "and this is 9.9" in str(compare(now, now).notes)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "there is no such audit"),
        (b"", "is not the JSON of an audit"),
        (b"\xff\xfe{\x00", "it is not UTF-8 text"),
        (b"[]", "is not the JSON of an audit"),
        (b'{"version": 1}', "missing required field `torchlint`"),
        (b'{"torchlint": "1", "programs": [{"program": 3, "sections": []}]}', "$.programs[0].program"),
        (b"[" * 100_000, "is not the JSON of an audit"),
    ],
)
def test_a_file_that_is_no_audit_is_refused(content: bytes | None, said: str) -> None:
    if content is not None:
        Path("old.json").write_bytes(content)
    with pytest.raises(ConfigError) as raised:
        Earlier.read(Path("old.json"))
    assert str(raised.value).startswith("old.json: ")
    assert said in str(raised.value)
