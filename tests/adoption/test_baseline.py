"""`torchlint baseline`, and what a check leaves out because of it."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.adoption.projects import ASSIGNED, BAD, BENCHMARK, Project, notebook
from tests.cli.command import clean_environment

REPOSITORY = Path(__file__).parents[2]
FILE = "torchlint-baseline.json"


@pytest.fixture
def adopted(project: Project) -> Project:
    """A project with four findings, all of them known."""
    project.write({"a.py": BAD, "sub/b.py": BAD})
    assert len(project.found()) == 4
    assert project.torchlint("baseline")[:2] == (0, f"{FILE}: 4 findings (4 new, 0 dropped)\n")
    return project


@pytest.mark.parametrize(
    ("ignore", "arguments", "name"),
    [
        ("*.json\n", [], "torchlint-baseline.json"),
        ("/known/\n", ["--baseline", "known/all.json"], "known/all.json"),
        ("torchlint-*\n!*.py\n", ["--prune"], "torchlint-baseline.json"),
    ],
)
def test_a_baseline_that_git_ignores_is_said(project: Project, ignore: str, arguments: list[str], name: str) -> None:
    project.write({"a.py": BAD, "known/a.txt": ""})
    project.torchlint("baseline", *arguments[:2] if arguments[1:] else [])
    assert project.torchlint("baseline", *arguments)[2] == ""  # no repository
    project.git("init", "--quiet")
    assert project.torchlint("baseline", *arguments)[2] == ""
    project.write({".gitignore": ignore})
    note = f"note: {name}: git ignores this file, so nobody else gets it (`git check-ignore -v {name}` says why)\n"
    assert project.torchlint("baseline", *arguments)[2] == note
    project.git("add", "--force", name)
    assert project.torchlint("baseline", *arguments)[2] == ""


def test_without_git_nothing_is_said_of_it(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.write({"a.py": BAD, ".gitignore": "*.json\n"})
    project.git("init", "--quiet")
    monkeypatch.setenv("PATH", "")
    assert project.torchlint("baseline")[::2] == (0, "")


def test_what_is_known_is_neither_printed_nor_counted(adopted: Project) -> None:
    code, out, err = adopted.torchlint("check")
    assert (code, out, err) == (0, "No new findings in 2 files (4 in the baseline).\n", "")
    assert adopted.found() == []
    assert len(adopted.found("--no-baseline")) == 4


def test_a_new_finding_counts_alone(adopted: Project) -> None:
    adopted.write(
        {"a.py": BAD + "torch.backends.cudnn.enabled = torch.are_deterministic_algorithms_enabled\n", "c.py": BAD}
    )
    assert adopted.found() == ["c.py:3 TL201", "c.py:4 TL207"]
    code, out, _ = adopted.torchlint("check")
    assert code == 1
    assert "2 new findings (1 error, 1 warning; all fail the run)" in out


def test_moved_and_indented_lines_stay_known(adopted: Project) -> None:
    moved = f"import torch\n\n# the mode\n\nif torch.cuda.is_available():\n    {BENCHMARK}\n\n    {ASSIGNED}\n"
    adopted.write({"a.py": moved})
    assert adopted.found() == []


def test_a_line_that_is_written_once_more_is_one_new_finding(adopted: Project) -> None:
    adopted.write({"a.py": BAD + BENCHMARK + "\n"})
    assert adopted.found() == ["a.py:5 TL207"]


def test_a_changed_line_is_new(adopted: Project) -> None:
    adopted.write({"a.py": BAD.replace(BENCHMARK, f"{BENCHMARK}; seed = 3")})
    assert adopted.found() == ["a.py:4 TL207"]


def test_a_renamed_file_stays_known_and_is_written_under_its_new_name(adopted: Project) -> None:
    (adopted.root / "a.py").rename(adopted.root / "renamed.py")
    assert adopted.found() == []
    adopted.write({"renamed.py": f"\n\n{BAD}{BENCHMARK}\n"})
    assert adopted.found() == ["renamed.py:7 TL207"]
    assert adopted.torchlint("baseline", "--prune")[1] == f"{FILE}: 4 findings (0 new, 0 dropped)\n"
    assert {entry["path"] for entry in entries(adopted)} == {"renamed.py", "sub/b.py"}
    assert adopted.found() == ["renamed.py:7 TL207"]


def test_a_copy_of_a_file_is_new(adopted: Project) -> None:
    adopted.write({"copy.py": BAD})
    assert adopted.found() == ["copy.py:3 TL201", "copy.py:4 TL207"]


def test_two_files_cannot_both_be_the_one_that_is_gone(adopted: Project) -> None:
    (adopted.root / "a.py").unlink()
    adopted.write({"one.py": BAD, "two.py": BAD})
    assert adopted.found() == ["two.py:3 TL201", "two.py:4 TL207"]


def test_entries_that_nothing_answers_to_are_reported_and_pruned(adopted: Project) -> None:
    adopted.write({"a.py": f"import torch\n\n{ASSIGNED}\n", "new.py": BAD})
    note = f"note: {FILE}: 1 entry matches no finding any more: `torchlint baseline --prune` removes stale entries\n"
    code, _, err = adopted.torchlint("check")
    assert (code, err) == (1, note)
    assert adopted.torchlint("baseline", "--prune")[1] == f"{FILE}: 3 findings (0 new, 1 dropped)\n"
    assert adopted.torchlint("check")[2] == ""
    assert adopted.found() == ["new.py:3 TL201", "new.py:4 TL207"]


def test_a_file_that_is_gone_takes_its_entries_along(adopted: Project) -> None:
    (adopted.root / "a.py").unlink()
    assert "2 entries match no finding" in adopted.torchlint("check")[2]


@pytest.mark.parametrize("narrower", [("sub",), ("--select", "TL207"), ("--min-severity", "error")])
def test_what_a_run_did_not_look_at_is_not_stale(narrower: tuple[str, ...], adopted: Project) -> None:
    assert adopted.torchlint("check", *narrower)[0::2] == (0, "")


def test_writing_again_for_a_part_leaves_the_rest(adopted: Project) -> None:
    adopted.write({"sub/b.py": f"import torch\n{BENCHMARK}\n", "a.py": BAD * 2})
    assert adopted.torchlint("baseline", "sub")[1] == f"{FILE}: 3 findings (0 new, 1 dropped)\n"
    assert adopted.torchlint("baseline", "--select", "TL207", ".")[1] == f"{FILE}: 4 findings (1 new, 0 dropped)\n"
    assert adopted.found() == ["a.py:7 TL201"]


def test_one_file_is_judged_as_the_whole_is(adopted: Project) -> None:
    adopted.write({"a.py": BAD + BENCHMARK + "\n"})
    assert adopted.found("a.py") == ["a.py:5 TL207"]
    assert adopted.found("sub/b.py") == []


def test_the_cells_of_a_notebook_may_move(project: Project) -> None:
    project.write({"nb.ipynb": notebook("import torch", ASSIGNED, BENCHMARK)})
    assert project.found() == ["nb.ipynb:3:1 TL201", "nb.ipynb:4:1 TL207"]
    project.torchlint("baseline")
    project.write(
        {"nb.ipynb": notebook("%matplotlib inline\nimport torch", BENCHMARK, "x = 1\n", f"x = 2\n{ASSIGNED}")}
    )
    assert project.found() == []
    project.write({"nb.ipynb": notebook("import torch", ASSIGNED, BENCHMARK, BENCHMARK)})
    assert project.found() == ["nb.ipynb:5:1 TL207"]


def test_the_file_is_the_same_from_anywhere_and_one_entry_a_line(adopted: Project) -> None:
    first = (adopted.root / FILE).read_bytes()
    (adopted.root / FILE).unlink()
    environment = clean_environment(PYTHONPATH=str(REPOSITORY), PYTHONHASHSEED="7")
    command = [sys.executable, "-m", "torchlint", "baseline", "..", "--jobs", "2"]
    subprocess.run(command, cwd=adopted.root / "sub", env=environment, check=True)
    assert (adopted.root / FILE).read_bytes() == first
    lines = first.decode().splitlines()
    assert [line for line in lines if '"path": "sub/b.py"' in line] == lines[3:5]
    assert all(line.endswith("},") for line in lines[1:-2])
    assert first.endswith(b'  "version": 1\n}\n')


def test_branches_that_add_findings_elsewhere_merge(adopted: Project) -> None:
    adopted.commit()
    main = adopted.git("symbolic-ref", "--short", "HEAD").strip()
    for branch, name in (("one", "0_first.py"), ("two", "z_last.py")):
        adopted.git("checkout", "--quiet", "-b", branch, main)
        adopted.write({name: BAD})
        adopted.torchlint("baseline")
        adopted.commit()
    adopted.git("merge", "--quiet", "one")
    assert adopted.torchlint("check")[:2] == (0, "No new findings in 4 files (8 in the baseline).\n")


def test_a_name_of_ones_own(project: Project) -> None:
    project.write({"a.py": BAD, "torchlint.toml": 'baseline = "ci/known.json"\n', "ci/.keep": ""})
    assert project.torchlint("check")[0::2] == (
        2,
        f"error: {project.root}/ci/known.json: there is no such baseline (`torchlint baseline` writes it)\n",
    )
    assert project.torchlint("baseline")[1] == "ci/known.json: 2 findings (2 new, 0 dropped)\n"
    assert project.found() == []
    assert len(project.found("--isolated")) == 2
    (project.root / "ci/known.json").rename(project.root / "other.json")
    assert project.found("--baseline", "other.json") == []


def test_each_root_has_its_own(project: Project) -> None:
    for name in ("one", "two"):
        project.write({f"{name}/torchlint.toml": "", f"{name}/a.py": BAD})
    code, out, _ = project.torchlint("baseline", "one", "two")
    assert (code, out.splitlines()) == (0, [f"{name}/{FILE}: 2 findings (2 new, 0 dropped)" for name in ("one", "two")])
    assert project.found("one", "two") == []
    for command in (["check"], ["baseline"]):
        code, _, err = project.torchlint(*command, "--baseline", f"one/{FILE}", "one", "two")
        assert (code, err) == (
            2,
            f"error: {project.root}/one/{FILE}: is the baseline of 2 roots: give each root its own\n",
        )


def test_the_folder_of_a_baseline_stays_the_root_for_a_file_alone(project: Project) -> None:
    """No configuration, repository or manifest: what was named at first would else be forgotten."""
    (project.root / "torchlint.toml").unlink()
    project.write({"course/week1/a.py": BAD, "course/week2/b.py": BAD})
    assert project.torchlint("baseline", "course")[1] == f"course/{FILE}: 4 findings (4 new, 0 dropped)\n"
    assert project.found("course/week1/a.py") == []
    assert project.found("course/week2") == []


def test_what_the_mode_would_do_is_asked_of_all_findings(adopted: Project) -> None:
    assert len(adopted.found("--assume", "deterministic")) == len(
        adopted.found("--assume", "deterministic", "--no-baseline")
    )
    assert adopted.found("--assume", "deterministic") != []


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"{", ":1: is damaged: it is not valid JSON"),
        (b"\xff", ": cannot be read: it is not UTF-8 text"),
        (b"[]", ": is not a baseline of torchlint (`torchlint baseline` writes one)"),
        (b'{"a": 1}', ": is not a baseline of torchlint (`torchlint baseline` writes one)"),
        (b'{"version": 2}', ": is a baseline of version 2, and this torchlint reads 1"),
        (b'{"ab": {"path": "a", "code": "b", "line": "c"}, "version": 1}', ": is damaged: `ab` is not a fingerprint"),
        (b'{"ab": {"path": 3}, "version": 1}', ": is damaged: Expected `str`, got `int` - at `$[...].path`"),
        (
            b'{\n<<<<<<< HEAD\n"version": 1\n=======\n"version": 1\n>>>>>>> one\n}',
            ":2: holds a merge conflict: keep the lines of both sides, or delete the file and run `torchlint baseline`",
        ),
    ],
)
def test_a_file_that_is_no_baseline(content: bytes, said: str, adopted: Project) -> None:
    adopted.write({FILE: content})
    for command in (["check"], ["baseline"], ["baseline", "--prune"]):
        assert adopted.torchlint(*command)[0::2] == (2, f"error: {adopted.root / FILE}{said}\n")
    assert (adopted.root / FILE).read_bytes() == content


def test_an_unreadable_baseline(project: Project) -> None:
    project.write({"a.py": BAD, f"{FILE}/inside": ""})
    assert project.torchlint("check")[0::2] == (2, f"error: {project.root / FILE}: cannot be read: Is a directory\n")


def test_a_project_without_findings_gets_no_file(project: Project) -> None:
    project.write({"a.py": "import torch\n"})
    assert project.torchlint("baseline")[:2] == (0, f"{FILE}: no findings\n")
    assert not (project.root / FILE).exists()


def test_a_baseline_that_holds_nothing_any_more(adopted: Project) -> None:
    adopted.write({"a.py": "", "sub/b.py": ""})
    assert adopted.torchlint("baseline", "--prune")[1] == f"{FILE}: no findings (4 dropped): delete it\n"
    assert adopted.torchlint("check")[:2] == (0, "No findings in 2 files.\n")


def test_nothing_to_prune(project: Project) -> None:
    project.write({"a.py": BAD})
    assert project.torchlint("baseline", "--prune") == (0, "", "note: there is no baseline to prune\n")


def test_the_file_is_replaced_whole_and_keeps_its_mode(adopted: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    path = adopted.root / FILE
    path.chmod(0o640)
    before = path.read_bytes()
    adopted.write({"c.py": BAD})
    with monkeypatch.context() as broken:
        broken.setattr(Path, "replace", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
        code, _, err = adopted.torchlint("baseline")
    assert (code, err) == (2, f"error: baseline: {path} cannot be written: No space left on device\n")
    assert path.read_bytes() == before
    assert sorted(file.name for file in adopted.root.iterdir() if FILE in file.name) == [FILE]
    adopted.torchlint("baseline")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_source_file_is_not_overwritten(project: Project) -> None:
    project.write({"a.py": BAD})
    code, _, err = project.torchlint("baseline", "--baseline", "b.py")
    assert (code, err) == (
        2,
        f"error: baseline: {project.root}/b.py is named like a source file, which would be lost\n",
    )
    assert project.torchlint("baseline", "--baseline", "a.py")[0] == 2
    assert (project.root / "a.py").read_text() == BAD


def test_nothing_is_written_when_a_check_broke(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.write({"a.py": BAD})
    monkeypatch.setattr("torchlint.engine.outcomes.judge", lambda *_: 1 / 0)
    code, _, err = project.torchlint("baseline", "--jobs", "1")
    assert code == 2
    assert err.endswith("error: nothing was written, because findings may be missing\n")
    assert not (project.root / FILE).exists()


def entries(project: Project) -> list[dict[str, str]]:
    content = json.loads((project.root / FILE).read_text())
    return [entry for name, entry in content.items() if name != "version"]
