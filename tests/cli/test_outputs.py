"""Where a check writes: `--output`, `--also`, what they refuse, and what was skipped."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.command import run_torchlint

BAD = "from torch import nn\n\npad = nn.ReplicationPad2d(1)\n"
CLOSING = "1 finding (1 warning; fails the run), 1 fix:"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    (tmp_path / "train.py").write_text(BAD)
    return tmp_path


def notebook(*cells: str) -> str:
    found = [{"cell_type": "code", "source": cell.splitlines(keepends=True), "outputs": []} for cell in cells]
    return json.dumps({"cells": found, "metadata": {}}, indent=1)


def test_a_report_goes_to_a_file_and_others_beside_it(project: Path) -> None:
    options = ["--output", "out.txt", "--also", "sarif:deep.sarif", "--also", "rdjsonl:dog.txt"]
    done = run_torchlint("check", *options, cwd=project, environment={"FORCE_COLOR": "1"})
    assert (done.returncode, done.stdout) == (1, "")
    said = ["wrote deep.sarif (1 finding)", "wrote dog.txt (1 finding)", "wrote out.txt (1 finding)"]
    assert done.stderr.splitlines() == said
    text = (project / "out.txt").read_text()
    assert text.startswith("train.py:3:7: TL101 warning: `nn.ReplicationPad2d(1)`")
    assert text.splitlines()[-1].startswith(CLOSING)
    (run,) = json.loads((project / "deep.sarif").read_text())["runs"]
    assert run["tool"]["driver"]["rules"][0]["name"] == "ReplicatePadding"
    assert json.loads((project / "dog.txt").read_text())["code"] == {"value": "TL101"}


def test_others_are_written_beside_what_is_printed(project: Path) -> None:
    done = run_torchlint("check", "--also", "junit:tests.xml", cwd=project)
    assert done.stdout.splitlines()[-1].startswith(CLOSING)
    assert (project / "tests.xml").read_text().startswith("<?xml")


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("a.sarif", "{"),
        ("a.json", "["),
        ("a.jsonl", '{"code"'),
        ("a.xml", "<?xml"),
        ("a.log", "train.py:"),
        ("a", "train.py:"),
    ],
)
def test_the_name_of_the_file_chooses_the_format(project: Path, name: str, start: str) -> None:
    run_torchlint("check", "--output", name, cwd=project)
    assert (project / name).read_text().startswith(start)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--output", "page.pdf"], "no report is known for .pdf files"),
        (["--also", "sarif"], "`sarif` is not FORMAT:FILE, such as sarif:out.sarif"),
        (["--also", "sariff:out"], "--also: unknown value `sariff`; did you mean `sarif`?"),
        (["--also", "sarif:a.out", "--also", "json:./a.out"], "--output and --also name one file twice"),
        (["--output", "a.json", "--also", "sarif:a.json"], "--output and --also name one file twice"),
        (["--statistics", "--output-format", "sarif"], "--statistics prints text or json, not sarif"),
        (["--output", "train.py", "--output-format", "text"], "named like a source file"),
        (["--also", "text:no/such/folder"], "cannot be written"),
    ],
)
def test_what_is_refused(project: Path, options: list[str], message: str) -> None:
    done = run_torchlint("check", *options, cwd=project)
    assert (done.returncode, message in done.stderr) == (2, True), done.stderr
    assert (project / "train.py").read_text() == BAD


def test_files_of_also_list_findings_that_statistics_count(project: Path) -> None:
    done = run_torchlint("check", "--statistics", "--also", "gcc:out", cwd=project)
    assert done.stdout.startswith("1 TL101 replicate-padding\n")
    assert (project / "out").read_text().startswith("train.py:3:7: warning: ")


def test_unsaved_text_of_a_notebook_has_the_lines_of_that_text(tmp_path: Path) -> None:
    text = notebook("x = 1\n", BAD)
    arguments = ["check", "-", "--stdin-filename", "nb.ipynb", "--output-format", "rdjson"]
    done = run_torchlint(*arguments, cwd=tmp_path, stdin=text.encode())
    (found,) = json.loads(done.stdout)["diagnostics"]
    line = found["location"]["range"]["start"]["line"]
    assert text.splitlines()[line - 1].strip() == '"pad = nn.ReplicationPad2d(1)\\n"'


@pytest.fixture
def skipping(project: Path) -> Path:
    """A project with a file that is too large, and a notebook in another language."""
    (project / "torchlint.toml").write_text("max-file-size = 100\n")
    (project / "large.py").write_text("x = 1\n" * 100)
    metadata = {"language_info": {"name": "R"}}
    (project / "r.ipynb").write_text(json.dumps({"cells": [], "metadata": metadata}))
    return project


def test_skipped_is_not_clean(skipping: Path) -> None:
    done = run_torchlint("check", "--select", "TL401", cwd=skipping)
    assert done.stdout == (
        "1 file checked, 2 skipped: large.py (600 bytes is above max-file-size (100)) · "
        "r.ipynb (the notebook's language is R, not Python)\n"
        "No findings in 1 file.\n"
    )
    assert done.stderr.splitlines() == [
        "note: large.py: skipped: 600 bytes is above max-file-size (100)",
        "note: r.ipynb: skipped: the notebook's language is R, not Python",
    ]
    assert done.returncode == 0
    assert run_torchlint("check", "--select", "TL401", "--fail-on-skipped", cwd=skipping).returncode == 1
    assert run_torchlint("check", "--select", "TL401", "--fail-on-skipped", "train.py", cwd=skipping).returncode == 0


def test_nothing_but_skipped_files_is_no_empty_folder(skipping: Path) -> None:
    done = run_torchlint("check", "large.py", cwd=skipping)
    assert done.stdout == "0 files checked, 1 skipped: large.py (600 bytes is above max-file-size (100))\n"
    assert "nothing to check" not in done.stderr


def test_a_notebook_with_large_pictures_is_checked(skipping: Path) -> None:
    cells = json.loads(notebook(BAD))
    cells["cells"][0]["outputs"] = [{"data": {"image/png": "A" * 10_000}}]
    (skipping / "nb.ipynb").write_text(json.dumps(cells))
    done = run_torchlint("check", "nb.ipynb", "--output-format", "json-lines", cwd=skipping)
    assert json.loads(done.stdout)["code"] == "TL101"
