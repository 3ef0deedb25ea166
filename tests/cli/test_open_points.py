"""`torchlint check --open`: what the pages of an audit leave open, as notes and at the end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.audit import projects
from tests.cli.command import run_torchlint

_TRAIN = projects.LOOSE["train.py"]


@pytest.fixture
def loose(tmp_path: Path) -> Path:
    return projects.write(projects.LOOSE, tmp_path)


def notes(folder: Path, *arguments: str) -> list[dict[str, object]]:
    """The open points that the JSON tells."""
    done = run_torchlint("check", "--open", "--output-format", "json", *arguments, cwd=folder)
    return [found for found in json.loads(done.stdout) if found["code"] == "TL000"]


def open_lines(folder: Path) -> set[tuple[str, str]]:
    """The amber lines of the page of train.py that no finding of the check tells, by label and text."""
    record = json.loads(run_torchlint("audit", "train.py", "--output-format", "json", cwd=folder).stdout)
    lines = [line for section in record["programs"][0]["sections"] for line in section["lines"]]
    return {(line["label"], line["text"]) for line in lines if line["status"] == "amber"}


def test_each_amber_line_is_a_note_at_its_first_place(loose: Path) -> None:
    found = notes(loose)
    places = {f"{note['path']}:{note['line']}": str(note["message"]) for note in found}
    assert len(found) == len(places) == len(open_lines(loose)) - 1
    assert places["segment/model.py:9"].startswith("Operators, convolutions: may vary on CUDA")
    assert places["segment/model.py:9"].endswith(" (in train.py)")
    start = _TRAIN.splitlines().index('if __name__ == "__main__":') + 1
    assert places[f"train.py:{start}"].startswith("Target torch: 2.6 to 2.8")
    assert {(note["severity"], note["name"], note["explained_by"]) for note in found} == {
        ("info", "open-point", "torchlint audit train.py")
    }


def test_what_a_finding_tells_there_is_not_told_twice(loose: Path) -> None:
    """The determinism mode is an amber line, and TL210 reports it at the same place."""
    told = [str(note["message"]).partition(":")[0] for note in notes(loose)]
    assert "Determinism mode" not in told
    assert "TL210" in run_torchlint("check", "--open", cwd=loose).stdout
    told = [str(note["message"]).partition(":")[0] for note in notes(loose, "--ignore", "TL210")]
    assert "Determinism mode" in told


def test_the_closing_lines_count_the_points_of_programs_that_train(tmp_path: Path) -> None:
    names = [f"train{number}.py" for number in range(5)]
    quiet = "import torch\n\nif __name__ == '__main__':\n    torch.save(torch.ones(3), 'x')\n"
    project = {**projects.LOOSE, **dict.fromkeys(names, _TRAIN), "a b.py": _TRAIN, "quiet.py": quiet}
    folder = projects.write(project, tmp_path)
    for output_format in ("text", "grouped", "full"):
        done = run_torchlint("check", "--open", "--output-format", output_format, cwd=folder)
        assert done.stdout.splitlines()[-4:] == [
            "a b.py: 4 points left open (`torchlint audit 'a b.py'`)",
            "train.py: 4 points left open (`torchlint audit train.py`)",
            "train0.py: 4 points left open (`torchlint audit train0.py`)",
            "and 4 more programs",
        ]


def test_programs_that_share_a_place_share_a_note(tmp_path: Path) -> None:
    folder = projects.write({**projects.LOOSE, "b.py": _TRAIN, "c.py": _TRAIN}, tmp_path)
    shared = [note for note in notes(folder) if note["path"] == "segment/model.py"]
    assert [str(note["message"]).rpartition(" (in ")[2] for note in shared] == ["b.py and 2 more programs)"] * 2


@pytest.mark.parametrize("fail_on", ["info", "warning"])
def test_no_exit_code_changes(fail_on: str, tmp_path: Path) -> None:
    open_only = {"pyproject.toml": projects.RULES, "train.py": projects.STRICT["train.py"]}
    folder = projects.write(open_only, tmp_path / "open")
    done = run_torchlint("check", "--open", "--fail-on", fail_on, cwd=folder)
    assert done.returncode == 0
    assert "TL000 info: Target torch: " in done.stdout
    assert "none fails the run" in done.stdout
    folder = projects.write(projects.LOOSE, tmp_path / "loose")
    codes = {run_torchlint("check", *more, "--fail-on", fail_on, cwd=folder).returncode for more in ([], ["--open"])}
    assert codes == {1}


def test_only_the_programs_among_the_checked_files_count(tmp_path: Path) -> None:
    folder = projects.write({**projects.LOOSE, "other.py": _TRAIN}, tmp_path)
    assert {note["explained_by"] for note in notes(folder, "other.py")} == {"torchlint audit other.py"}
    assert notes(folder, "segment/data.py") == []
    assert notes(folder, "--exclude", "*.py") == []


def test_without_the_option_nothing_is_said(loose: Path) -> None:
    plain = run_torchlint("check", cwd=loose)
    opened = run_torchlint("check", "--open", cwd=loose)
    assert "left open" not in plain.stdout
    assert "TL000" not in plain.stdout
    assert "train.py: 4 points left open (`torchlint audit train.py`)" in opened.stdout
    kept = [line for line in opened.stdout.splitlines() if line in plain.stdout.splitlines() and ": TL" in line]
    assert kept == [line for line in plain.stdout.splitlines() if ": TL" in line]


def test_a_selection_of_rules_changes_no_page(loose: Path) -> None:
    every = {(note["path"], note["line"]) for note in notes(loose, "--min-severity", "error")}
    assert {(note["path"], note["line"]) for note in notes(loose)} <= every


def test_a_configuration_that_cannot_be_read_costs_no_finding(loose: Path) -> None:
    projects.write({"part/torchlint.toml": "nonsense = 1\n", "part/x.py": "import torch\n"}, loose)
    plain, opened = (run_torchlint("check", *more, cwd=loose) for more in ([], ["--open"]))
    assert (opened.returncode, opened.stdout, opened.stderr) == (2, plain.stdout, plain.stderr)
    assert "TL301" in opened.stdout


def test_standard_input_is_no_file(loose: Path) -> None:
    done = run_torchlint("check", "--open", "-", cwd=loose, stdin=b"import torch\n")
    assert (done.returncode, done.stderr) == (2, "error: --open reads files, not standard input\n")


def test_a_check_names_the_page_of_what_starts_and_trains(tmp_path: Path) -> None:
    folder = projects.write(projects.LOOSE, tmp_path)
    last = "train.py: `torchlint audit train.py` shows what this check leaves open"
    assert run_torchlint("check", cwd=folder).stdout.splitlines()[-1] == last
    assert last not in run_torchlint("check", "--output-format", "pylint", cwd=folder).stdout
    quiet = projects.write(
        {"show.py": "import torch\n\nif __name__ == '__main__':\n    print(torch.ones(3))\n"}, tmp_path / "b"
    )
    assert "torchlint audit" not in run_torchlint("check", cwd=quiet).stdout
