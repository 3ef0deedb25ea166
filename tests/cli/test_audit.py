"""`torchlint audit`, as a user runs it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.audit import projects
from tests.cli.command import clean_environment, run_torchlint
from tests.harness.html_pages import read

_STATUS: dict[str, Any] = {"enum": ["green", "amber", "red"]}
_TEXT: dict[str, Any] = {"type": "string"}
_MAYBE: dict[str, Any] = {"type": ["string", "null"]}


def _object(**properties: object) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _list(items: object) -> dict[str, Any]:
    return {"type": "array", "items": items}


_PLACE = _object(
    path=_TEXT,
    cell={"type": ["integer", "null"]},
    line={"type": "integer"},
    column={"type": "integer"},
    note=_MAYBE,
    source=_TEXT,
)
_LINE = _object(
    status={"enum": ["green", "amber", "red", None]},
    label=_TEXT,
    text=_TEXT,
    code=_MAYBE,
    url=_MAYBE,
    advice=_MAYBE,
    run=_MAYBE,
    places=_list(_PLACE),
)
_SECTION = _object(key=_TEXT, title=_TEXT, status=_STATUS, headline=_TEXT, lines=_list(_LINE), looked_for=_TEXT)
_PROGRAM = _object(
    program=_TEXT,
    kind=_TEXT,
    start=_PLACE,
    trains={"anyOf": [_PLACE, {"type": "null"}]},
    torch=_TEXT,
    devices=_list(_TEXT),
    files=_list(_TEXT),
    example={"type": "boolean"},
    status=_STATUS,
    verdict=_TEXT,
    first={"type": "array", "items": _object(section=_TEXT, label=_TEXT)},
    sections=_list(_SECTION),
    not_seen=_list(_TEXT),
)
_MAYBE_LINE = {"anyOf": [_LINE, {"type": "null"}]}
_CHANGES = _object(
    program=_TEXT,
    change={"enum": ["new", "kept", "gone"]},
    new=_list(_object(section=_TEXT, line=_LINE, before=_MAYBE_LINE)),
    gone=_list(_object(section=_TEXT, line=_LINE, now=_MAYBE_LINE)),
)
SCHEMA = _object(torchlint=_TEXT, programs=_list(_PROGRAM))
COMPARED_SCHEMA = _object(
    torchlint=_TEXT, programs=_list(_PROGRAM), compared=_object(against=_TEXT, programs=_list(_CHANGES))
)


_LEFT_OPEN = {"pyproject.toml": projects.RULES, "train.py": projects.STRICT["train.py"]}
"""Strict, but for the release of torch, which nothing names."""


def strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)
    elif isinstance(value, dict):
        yield from strings(list(value.values()))


def test_a_page_for_the_terminal(tmp_path: Path) -> None:
    done = run_torchlint("audit", "train.py", cwd=projects.write(projects.LOOSE, tmp_path))
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0] == "train.py"
    assert "✗ 4 reasons found why two runs may differ, 4 points left open" in lines
    assert "✗ Seeds             numpy.random not seeded" in lines
    assert "      train.py:23  first draw: order = np.random.permutation(len(class_of))" in lines
    assert max(map(len, lines)) <= 80
    assert "\x1b" not in done.stdout


def test_the_whole_page_reads_as_it_was_meant(tmp_path: Path) -> None:
    done = run_torchlint("audit", cwd=projects.write(projects.LOOSE, tmp_path))
    golden = Path(__file__).with_name("audit_page.txt")
    assert done.stdout == golden.read_text(encoding="utf-8")


def test_colour_on_request(tmp_path: Path) -> None:
    folder = projects.write(projects.STRICT, tmp_path)
    done = run_torchlint("audit", cwd=folder, environment={"FORCE_COLOR": "1"})
    plain = run_torchlint("audit", cwd=folder, environment={"FORCE_COLOR": "1", "NO_COLOR": "1"})
    assert "\x1b[32m" in done.stdout
    assert re.sub(r"\x1b\[[\d;]*m", "", done.stdout) == plain.stdout


def test_a_terminal_that_knows_few_letters(tmp_path: Path) -> None:
    folder = projects.write(projects.TWO_MODES, tmp_path)
    for arguments in (["--pages"], []):
        done = run_torchlint("audit", *arguments, cwd=folder, environment={"PYTHONIOENCODING": "ascii"})
        assert done.returncode == 0
        assert done.stdout.isascii()
        assert "\\u" not in done.stdout


def test_several_programs_are_shown_at_a_glance(tmp_path: Path) -> None:
    folder = projects.write({**projects.TWO_MODES, "examples/demo.py": projects.STRICT["train.py"]}, tmp_path)
    done = run_torchlint("audit", cwd=folder)
    lines = done.stdout.splitlines()
    assert lines[0] == "2 programs and 1 example"
    assert [line.split()[0] for line in lines[2:6] if line] == ["quick.py", "steady.py", "examples/demo.py"]
    assert lines[1].split()[:3] == ["✗", "!", "seed"]
    assert lines[2].split()[1:] == ["1", "1", "✓", "!", "✓", "✓", "✓", "✗", "✓", "✓", "✓", "✓"]
    assert lines[2].index("✓") == lines[1].index("seed") + 3
    assert max(map(len, lines)) <= 80
    pages = run_torchlint("audit", "--pages", cwd=folder).stdout
    assert [name for name in ("quick.py", "steady.py", "examples/demo.py") if f"\n{name}\n" in f"\n{pages}"] == [
        "quick.py",
        "steady.py",
        "examples/demo.py",
    ]


def test_overviews_begin_with_the_worst_program(tmp_path: Path) -> None:
    loose = projects.LOOSE["train.py"]
    project = {
        **projects.LOOSE,
        "a_good.py": projects.STRICT["train.py"],
        "b_better.py": loose.replace("    order = np", "    np.random.seed(1)\n    order = np"),
        "examples/bad.py": loose,
        "examples/a_good.py": projects.STRICT["train.py"],
    }
    folder = projects.write(project, tmp_path)
    worst_first = ["train.py", "b_better.py", "a_good.py", "examples/bad.py", "examples/a_good.py"]
    rows = [line.split() for line in run_torchlint("audit", cwd=folder).stdout.splitlines() if ".py " in line]
    assert [row[0] for row in rows] == worst_first
    assert [row[1:3] for row in rows] == [["4", "4"], ["3", "4"], ["0", "2"], ["4", "4"], ["0", "2"]]
    record = json.loads(run_torchlint("audit", "--output-format", "json", cwd=folder).stdout)
    assert [program["program"] for program in record["programs"]] == worst_first
    page = read(run_torchlint("audit", "--output-format", "html", cwd=folder).stdout)
    places = ["".join(page.text).index(name) for name in worst_first]
    assert places == sorted(places)
    pages = run_torchlint("audit", "--pages", cwd=folder).stdout.splitlines()
    assert [line for line in pages if line in worst_first] == [
        "a_good.py",
        "b_better.py",
        "train.py",
        "examples/a_good.py",
        "examples/bad.py",
    ]


def test_the_json_keeps_its_schema(tmp_path: Path) -> None:
    for number, project in enumerate((projects.LOOSE, projects.TWO_MODES, projects.NOTEBOOK, projects.COMMANDS)):
        folder = projects.write(project, tmp_path / str(number))
        done = run_torchlint("audit", "--output-format", "json", cwd=folder)
        assert done.returncode == 0
        record = json.loads(done.stdout)
        jsonschema.validate(record, SCHEMA)
        assert record["programs"]


def test_the_html_is_well_formed_and_stands_alone(tmp_path: Path) -> None:
    folder = projects.write({**projects.TWO_MODES, "examples/demo.py": projects.STRICT["train.py"]}, tmp_path)
    done = run_torchlint("audit", "--output", "audit.html", cwd=folder)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == "wrote audit.html (3 programs)\n"
    page = (folder / "audit.html").read_text(encoding="utf-8")
    reader = read(page)
    assert not {"script", "link", "img", "iframe"} & set(reader.seen)
    assert "url(" not in page
    assert "@import" not in page
    inside = {link.removeprefix("#") for link in reader.links if link.startswith("#")}
    assert inside <= set(reader.ids)
    assert len(reader.ids) == len(set(reader.ids))
    assert all(link.startswith("#") for link in reader.links)  # no page of a rule is published


def test_the_html_says_what_the_json_says(tmp_path: Path) -> None:
    folder = projects.write(projects.LOOSE, tmp_path)
    record = json.loads(run_torchlint("audit", "--output-format", "json", cwd=folder).stdout)["programs"][0]
    shown = "".join(read(run_torchlint("audit", "--output-format", "html", cwd=folder).stdout).text)
    shown = " ".join(shown.split())
    for section in record["sections"]:
        for text in strings([section["title"], section["headline"], [line["text"] for line in section["lines"]]]):
            assert " ".join(text.replace("`", "").split()) in shown


@pytest.mark.skipif(os.name != "posix", reason="file names that Windows forbids")
def test_hostile_names_are_text(tmp_path: Path) -> None:
    name = "<img src=x onerror=alert(1)>\"'&\N{RIGHT-TO-LEFT OVERRIDE}.py"
    source = projects.STRICT["train.py"].replace("manual_seed(1)", "manual_seed(1)  # </pre><script>alert(1)</script>")
    folder = projects.write({"pyproject.toml": projects.RULES, name: source}, tmp_path)
    page = run_torchlint("audit", "--output-format", "html", cwd=folder).stdout
    reader = read(page)
    assert not {"script", "img"} & set(reader.seen)
    assert "\N{RIGHT-TO-LEFT OVERRIDE}" not in page
    text = run_torchlint("audit", cwd=folder).stdout
    assert text.startswith("<img src=x onerror=alert(1)>\"'&\\u202e.py\n")


@pytest.mark.skipif(os.name != "posix", reason="file names of bytes")
def test_a_name_that_is_no_text(tmp_path: Path) -> None:
    projects.write({"pyproject.toml": projects.RULES}, tmp_path)
    try:
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/tr\xff.py")).write_text(projects.STRICT["train.py"])
    except OSError:
        pytest.skip("this file system takes text only")
    done = run_torchlint("audit", "--output", "audit.html", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    read((tmp_path / "audit.html").read_text(encoding="utf-8"))
    assert run_torchlint("audit", cwd=tmp_path).returncode == 0


def test_every_number_of_jobs_gives_the_same_bytes(tmp_path: Path) -> None:
    many = {f"part/module{number}.py": projects.LOOSE["segment/model.py"] for number in range(30)}
    imports = "".join(f"import part.module{number}\n" for number in range(30))
    project = {**projects.LOOSE, **many, "part/__init__.py": "", "wide.py": imports + projects.LOOSE["train.py"]}
    folder = projects.write(project, tmp_path)
    for output_format in ("json", "html", "markdown", "text"):
        outputs = {
            run_torchlint(
                *("audit", "--pages", "--output-format", output_format, "--jobs", jobs),
                cwd=folder,
                environment={"PYTHONHASHSEED": seed},
            ).stdout
            for jobs, seed in (("1", "0"), ("2", "7"))
        }
        assert len(outputs) == 1


def test_without_a_program_there_is_a_note(tmp_path: Path) -> None:
    folder = projects.write({"library.py": "import torch\n"}, tmp_path)
    done = run_torchlint("audit", cwd=folder)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.startswith("note: no program found: ")
    done = run_torchlint("audit", "--output-format", "json", cwd=folder)
    assert json.loads(done.stdout)["programs"] == []
    read(run_torchlint("audit", "--output-format", "html", cwd=folder).stdout)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["gone.py"], "error: gone.py: no such file or folder"),
        (["segment/data.py"], "error: segment/data.py starts no program; these programs reach it: train.py"),
        (["train.py::teach"], "error: train.py has no command `teach`; there is train.py::__main__"),
        (["--torch", "soon"], "error: --torch: `soon`"),
        (["--output", "no/such/folder.html"], "error: --output: no/such/folder.html cannot be written"),
        (["--config", "pyproject.toml", "--isolated"], "error: --config and --isolated exclude each other"),
        (
            ["--output-format", "pdf"],
            "error: --output-format: unknown value `pdf` (choose from text, html, markdown, json)",
        ),
    ],
)
def test_what_cannot_be_done_ends_with_2(arguments: list[str], said: str, tmp_path: Path) -> None:
    done = run_torchlint("audit", *arguments, cwd=projects.write(projects.LOOSE, tmp_path))
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith(said)


def test_a_source_file_is_not_overwritten(tmp_path: Path) -> None:
    folder = projects.write(projects.STRICT, tmp_path)
    before = (folder / "train.py").read_bytes()
    done = run_torchlint("audit", "--output-format", "json", "--output", "train.py", cwd=folder)
    assert (done.returncode, (folder / "train.py").read_bytes()) == (2, before)
    assert "named like a source file" in done.stderr


def test_a_kind_of_file_that_no_page_is_written_as_is_refused(tmp_path: Path) -> None:
    folder = projects.write(projects.STRICT, tmp_path)
    done = run_torchlint("audit", "--output", "page.pdf", cwd=folder)
    assert (done.returncode, (folder / "page.pdf").exists()) == (2, False)
    assert "no report is known for .pdf files" in done.stderr


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="no links here")
def test_a_link_to_a_page_stays_one_and_nothing_is_left_beside(tmp_path: Path) -> None:
    folder = projects.write(projects.STRICT, tmp_path)
    (folder / "kept.html").write_text("old")
    (folder / "page.html").symlink_to("kept.html")
    assert run_torchlint("audit", "--output", "page.html", cwd=folder).returncode == 0
    assert (folder / "page.html").is_symlink()
    assert (folder / "kept.html").read_text(encoding="utf-8").startswith("<!")
    assert [path.name for path in folder.iterdir() if path.name.startswith(".kept")] == []


def test_the_suffix_of_the_output_chooses_the_format(tmp_path: Path) -> None:
    folder = projects.write(projects.STRICT, tmp_path)
    for name, start in (
        ("a.json", "{"),
        ("a.HTML", "<!doctype html>"),
        ("a.md", "## torchlint audit: "),
        ("a.txt", "train.py\n"),
    ):
        assert run_torchlint("audit", "--output", name, cwd=folder).returncode == 0
        assert (folder / name).read_text(encoding="utf-8").startswith(start)
    run_torchlint("audit", "--output", "b.html", "--output-format", "json", cwd=folder)
    assert json.loads((folder / "b.html").read_text(encoding="utf-8"))["programs"]


def test_audit_from_another_folder_shows_paths_from_there(tmp_path: Path) -> None:
    projects.write(projects.LOOSE, tmp_path / "project")
    done = run_torchlint("audit", "project/train.py", cwd=tmp_path)
    assert done.stdout.startswith("project/train.py\n")
    assert "project/Dockerfile:2  ENV PYTHONHASHSEED=0" in done.stdout


def test_check_imports_nothing_of_the_audit(tmp_path: Path) -> None:
    projects.write(projects.STRICT, tmp_path)
    program = (
        "import sys; from torchlint.cli import main; main(['check', '--jobs', '1']); "
        "print([name for name in sys.modules if 'audit' in name], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env=clean_environment(PYTHONPATH=str(Path(__file__).parents[2])),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    ("project", "fail_on", "returncode", "said"),
    [
        (projects.LOOSE, None, 0, ""),
        (projects.LOOSE, "red", 1, "1 of 1 program with red lines\n"),
        (projects.LOOSE, "amber", 1, "1 of 1 program with red or amber lines\n"),
        (_LEFT_OPEN, "red", 0, ""),
        (_LEFT_OPEN, "amber", 1, "1 of 1 program with red or amber lines\n"),
        (projects.STRICT, "amber", 0, ""),
        (projects.TWO_MODES, "red", 1, "1 of 2 programs with red lines\n"),
    ],
)
def test_fail_on_decides_the_exit_code(
    project: dict[str, str], fail_on: str | None, returncode: int, said: str, tmp_path: Path
) -> None:
    folder = projects.write(project, tmp_path)
    for output_format in ("text", "json"):
        asked = [] if fail_on is None else ["--fail-on", fail_on]
        done = run_torchlint("audit", "--output-format", output_format, *asked, cwd=folder)
        assert (done.returncode, done.stderr) == (returncode, said)
        assert done.stdout == run_torchlint("audit", "--output-format", output_format, cwd=folder).stdout


def test_examples_count_for_the_exit_code_as_they_are_on_the_page(tmp_path: Path) -> None:
    example = {"examples/demo.py": projects.LOOSE["train.py"]}
    folder = projects.write({**projects.STRICT, **projects.LOOSE, **projects.STRICT, **example}, tmp_path)
    done = run_torchlint("audit", "--fail-on", "red", cwd=folder)
    assert (done.returncode, done.stderr) == (1, "1 of 2 programs with red lines\n")
    assert run_torchlint("audit", "--fail-on", "red", "train.py", cwd=folder).returncode == 0


def test_a_file_is_written_also_where_the_exit_code_is_1(tmp_path: Path) -> None:
    folder = projects.write(projects.LOOSE, tmp_path)
    done = run_torchlint("audit", "--fail-on", "red", "--output", "audit.md", cwd=folder)
    assert (done.returncode, done.stderr) == (1, "wrote audit.md (1 program)\n1 of 1 program with red lines\n")
    assert (folder / "audit.md").exists()


def _changed_since(folder: Path) -> None:
    """An audit as it was, then a better seed, a worse switch and other lines."""
    projects.write(projects.LOOSE, folder)
    assert run_torchlint("audit", "--output", "old.json", cwd=folder).returncode == 0
    text = projects.LOOSE["train.py"].replace("random.seed(1)", "np.random.seed(1)")
    text = text.replace("    torch.backends", "    torch.set_num_threads = 1\n    torch.backends")
    (folder / "train.py").write_text(f"# moved\n{text}", encoding="utf-8")


def test_what_changed_since_an_earlier_audit(tmp_path: Path) -> None:
    _changed_since(tmp_path)
    done = run_torchlint("audit", "--against", "old.json", cwd=tmp_path)
    plain = run_torchlint("audit", cwd=tmp_path).stdout
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(plain)
    assert done.stdout.removeprefix(plain).splitlines() == [
        "",
        "Compared with old.json: 1 new line, 1 line gone",
        "",
        "train.py",
        "  new   ✗ Switches, overwritten-function: assigning to `torch.set_num_threads`",
        "          replaces the function: nothing is switched on [TL201]",
        "          train.py:22  torch.set_num_threads = 1",
        "  gone  ✗ Seeds, numpy.random: the program draws from it, and nothing seeds it",
        "          [TL301]",
        "          now nothing found: seeded by `numpy.random.seed`",
    ]


def test_every_format_tells_what_changed(tmp_path: Path) -> None:
    _changed_since(tmp_path)
    shown = {
        name: run_torchlint("audit", "--against", "old.json", "--output-format", name, cwd=tmp_path).stdout
        for name in ("json", "markdown", "html")
    }
    record = json.loads(shown["json"])
    jsonschema.validate(record, COMPARED_SCHEMA)
    (program,) = record["compared"]["programs"]
    assert [each["line"]["label"] for each in program["new"]] == ["overwritten-function"]
    assert [(each["line"]["label"], each["now"]["status"]) for each in program["gone"]] == [("numpy.random", "green")]
    assert "### Compared with `old.json`: 1 new line, 1 line gone\n" in shown["markdown"]
    assert "\n- new in `train.py`: ✗ **Switches, overwritten-function**: " in shown["markdown"]
    assert "\n- gone in `train.py`: ✗ **Seeds, numpy.random**: " in shown["markdown"]
    page = " ".join("".join(read(shown["html"]).text).split())
    assert "Compared with old.json: 1 new line, 1 line gone" in page
    assert "new: Switches, overwritten-function" in page
    assert "gone: Seeds, numpy.random" in page


def test_only_new_lines_fail_a_comparison(tmp_path: Path) -> None:
    _changed_since(tmp_path)
    done = run_torchlint("audit", "--against", "old.json", "--fail-on", "red", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (1, "1 of 1 program with new red lines\n")
    run_torchlint("audit", "--output", "old.json", cwd=tmp_path)
    done = run_torchlint("audit", "--against", "old.json", "--fail-on", "amber", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("\n\nCompared with old.json: nothing is new or gone\n")
    (tmp_path / "other.py").write_text((tmp_path / "train.py").read_text(encoding="utf-8"), encoding="utf-8")
    done = run_torchlint("audit", "--against", "old.json", "--fail-on", "red", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (1, "1 of 2 programs with new red lines\n")
    assert "\nother.py (new program)\n" in done.stdout
    run_torchlint("audit", "--output", "old.json", cwd=tmp_path)
    (tmp_path / "other.py").unlink()
    done = run_torchlint("audit", "--against", "old.json", "--fail-on", "amber", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("0 lines gone, 1 program gone\n\nother.py (no program any more)\n")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("gone.json", "error: gone.json: there is no such audit"),
        ("train.py", "error: train.py: is not the JSON of an audit"),
        ("segment", "error: --against: "),
    ],
)
def test_what_is_no_audit_to_compare_with_ends_with_2(name: str, said: str, tmp_path: Path) -> None:
    done = run_torchlint("audit", "--against", name, cwd=projects.write(projects.LOOSE, tmp_path))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(said)


def test_an_audit_may_be_compared_with_the_file_that_it_replaces(tmp_path: Path) -> None:
    _changed_since(tmp_path)
    done = run_torchlint("audit", "--against", "old.json", "--output", "old.json", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "wrote old.json (1 program)\n")
    record = json.loads((tmp_path / "old.json").read_text(encoding="utf-8"))
    assert len(record["compared"]["programs"]) == 1
    done = run_torchlint("audit", "--against", "old.json", cwd=tmp_path)
    assert "nothing is new or gone" in done.stdout
