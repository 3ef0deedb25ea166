"""`torchlint check --add-ignore[=REASON]`."""

from __future__ import annotations

import json
import re
import shutil
import stat
from pathlib import Path

import pytest

from tests.adoption.projects import ASSIGNED, BAD, BENCHMARK, Project, notebook
from tests.cli.command import run_torchlint

FIXTURES = Path(__file__).parents[2] / "fixtures"
EVERYTHING = ("--select", "ALL", "--min-confidence", "low")
ADDED = re.compile(r"(?:  )?# torchlint: ignore\[TL\d{3}(?:, TL\d{3})*\] QQ")
MERGED = re.compile(r"(?:, TL\d{3})+(?=\])")


def test_over_all_fixtures_it_converges_and_adds_comments_alone(project: Project) -> None:
    folder = project.root / "fixtures"
    shutil.copytree(FIXTURES, folder)
    before = contents(folder)
    done = run_torchlint("check", *EVERYTHING, "--no-cache", "--add-ignore=QQ", cwd=project.root)
    assert "error" not in done.stderr
    left = re.findall(r"^note: (\S+).*: (TL\d{3}): no line of its statement", done.stderr, re.MULTILINE)
    assert left == [("fixtures/notebooks/course.ipynb:cell", "TL211")], "a magic keeps its value"
    after = contents(folder)
    assert before.keys() == after.keys()
    assert sum(before[name] != after[name] for name in before) > 300
    for name, text in after.items():
        for old, new in zip(before[name].split("\n"), text.split("\n"), strict=True):
            assert old in (ADDED.sub("", new), MERGED.sub("", new)) or MERGED.sub("", old) == MERGED.sub("", new), name
    again = run_torchlint("check", *EVERYTHING, "--no-cache", "--add-ignore=QQ", cwd=project.root)
    assert (again.returncode, again.stdout) == (done.returncode, done.stdout)
    assert contents(folder) == after


def contents(folder: Path) -> dict[str, str]:
    return {
        str(path): path.read_bytes().decode(errors="surrogateescape") for path in folder.rglob("*") if path.is_file()
    }


def commented(project: Project, text: str, *arguments: str, name: str = "a.py") -> str:
    """The text with its comments, after which a check has nothing to say."""
    project.write({name: text})
    assert project.found(name, "--select", "TL101,TL2,TL002") != []
    assert project.torchlint("check", name, "--select", "TL101,TL2,TL002", *(arguments or ("--add-ignore",)))[0] == 0
    assert project.found(name, "--select", "TL101,TL2,TL002") == []
    return (project.root / name).read_bytes().decode()


@pytest.mark.parametrize(
    ("line", "after"),
    [
        (BENCHMARK, f"{BENCHMARK}  # torchlint: ignore[TL207]"),
        (f"{BENCHMARK} \t", f"{BENCHMARK} \t  # torchlint: ignore[TL207]"),
        (f"{BENCHMARK}  # type: ignore", f"{BENCHMARK}  # type: ignore  # torchlint: ignore[TL207]"),
        (f"{BENCHMARK}; {ASSIGNED}", f"{BENCHMARK}; {ASSIGNED}  # torchlint: ignore[TL201, TL207]"),
        (
            f"{BENCHMARK}; {ASSIGNED}  # torchlint: ignore[TL207] timed",
            f"{BENCHMARK}; {ASSIGNED}  # torchlint: ignore[TL207, TL201] timed",
        ),
        (
            f"{BENCHMARK}  # torchlint: ignore[TL202]",
            f"{BENCHMARK}  # torchlint: ignore[TL202, TL002, TL207]",
        ),
        ("x = 1  # torchlint: ignore", "x = 1  # torchlint: ignore  # torchlint: ignore[TL002]"),
        ("if x:\n\ttorch.backends.cudnn.benchmark = \\\n\t\tTrue", None),
        ('torch.manual_seed = """\n  many # torchlint: ignore[TL201]\n"""', None),
        ('torch.manual_seed = f"""\n  {\n  3\n  }\n"""', None),
        ("torch.nn.ReplicationPad2d(\n    (  # four\n        1, 1, 2, 2\n    )\n)", None),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_where_the_comment_stands(line: str, after: str | None, end: str, project: Project) -> None:
    before = f"import torch\nx = 0\n{line}\ny = 'é'\n".replace("\n", end)
    found = commented(project, before)
    if after is None:
        assert re.sub(r"  # torchlint: ignore\[TL\d+\](?=\r|\n)", "", found) == before
    else:
        assert found == before.replace(line, after)


def test_a_multi_line_call_is_marked_where_it_begins(project: Project) -> None:
    text = "import torch\n\nlayer = torch.nn.ReplicationPad2d(\n    (1, 1, 2, 2)\n)\n"
    assert commented(project, text) == text.replace("Pad2d(", "Pad2d(  # torchlint: ignore[TL101]")


def test_the_last_line_needs_no_line_end(project: Project) -> None:
    assert commented(project, BAD.rstrip()).endswith("benchmark = True  # torchlint: ignore[TL207]")


def test_a_reason(project: Project) -> None:
    found = commented(project, BAD, "--add-ignore=from [2019], see #7")
    assert f"{BENCHMARK}  # torchlint: ignore[TL207] from [2019], see #7\n" in found


@pytest.mark.parametrize(
    ("data", "reason", "said"),
    [
        (b"\xef\xbb\xbf" + BAD.encode(), "grün", ""),
        (b"# coding: latin-1\n" + BAD.encode() + b"x = '\xe9'\n", "gr\u00fcn", ""),
        (b"# coding: latin-1\n" + BAD.encode(), "\u2014", "its encoding (iso8859-1) has no `\u2014`"),
        (b"# coding: utf-7\nx = '+AGE-'\n" + BAD.encode(), "", "its bytes are not its text in utf-7"),
        (
            "# torchlint: ignore\nx = '\u00e9'\n".encode(),
            "coding: latin-1",
            "comments would change what Python reads",
        ),
    ],
)
def test_encodings(data: bytes, reason: str, said: str, project: Project) -> None:
    project.write({"a.py": data})
    code, _, err = project.torchlint("check", f"--add-ignore={reason}")
    after = (project.root / "a.py").read_bytes()
    if said:
        assert (code, after) == (2, data)
        assert f"error: a.py: no comments were written: {said}" in err
    else:
        encoded = reason.encode("latin-1" if b"latin" in data else "utf-8")
        assert code == 0
        assert after == data.replace(
            b"_algorithms = True", b"_algorithms = True  # torchlint: ignore[TL201] " + encoded
        ).replace(b"benchmark = True", b"benchmark = True  # torchlint: ignore[TL207] " + encoded)


def test_a_reason_is_one_line(project: Project) -> None:
    project.write({"a.py": BAD})
    assert project.torchlint("check", "--add-ignore=one\ntwo")[0] == 2
    assert (project.root / "a.py").read_text() == BAD


def test_a_path_after_the_option_is_a_path(project: Project) -> None:
    project.write({"a.py": BAD, "b.py": BAD})
    assert project.torchlint("check", "--add-ignore", "a.py")[0] == 0
    assert project.found() == ["b.py:3 TL201", "b.py:4 TL207"]


def test_standard_input_is_no_file(project: Project) -> None:
    code, _, err = project.torchlint("check", "--add-ignore", "-")
    assert code == 2
    assert "--add-ignore writes into files" in err


MARKED = f"{BENCHMARK}  # torchlint: ignore[TL207] “so”"
CELLS = (
    "import torch\n",
    f"%matplotlib inline\nfiles = !ls\n{ASSIGNED}  # é\n%time {BENCHMARK}",
    f"%%time\nif x:\n    {BENCHMARK}\n",
    f"  {BENCHMARK}\n",
)
WANTED = (
    "import torch\n",
    f"%matplotlib inline\nfiles = !ls\n{ASSIGNED}  # é  # torchlint: ignore[TL201] “so”\n%time {MARKED}",
    f"%%time\nif x:\n    {MARKED}\n",
    f"  {MARKED}\n",
)


@pytest.mark.parametrize("layout", ["jupyter", "minified", "wide", "crlf", "marked", "strings", "line-ends"])
def test_a_notebook_gets_comments_and_stays_as_it_is(layout: str, project: Project) -> None:
    before, after = (laid_out(notebook(*cells, x="“so”"), layout) for cells in (CELLS, WANTED))
    project.write({"nb.ipynb": before})
    assert project.torchlint("check", "--select", "TL2", "--add-ignore=“so”")[:2] == (
        0,
        "No findings in 1 file (4 suppressed).\n",
    )
    found = (project.root / "nb.ipynb").read_bytes()
    assert json.loads(found.decode("utf-8-sig")) == json.loads(after.decode("utf-8-sig"))
    added = re.compile(rb"  # torchlint: ignore\[TL\d+\] \\u201cso\\u201d")
    assert added.sub(b"", found) == before
    assert project.found("--select", "TL2") == []


def laid_out(text: str, layout: str) -> bytes:
    content = json.loads(text)
    if layout == "strings":
        for cell in content["cells"]:
            cell["source"] = "".join(cell["source"])
    if layout == "line-ends":
        for cell in content["cells"]:
            cell["source"] = [line.replace("\n", "\r\n") for line in cell["source"]]
    if layout == "minified":
        return json.dumps(content, separators=(",", ":")).encode()
    written = json.dumps(content, indent=4 if layout == "wide" else 1, ensure_ascii=layout == "wide").encode()
    if layout == "crlf":
        return written.replace(b"\n", b"\r\n")
    return b"\xef\xbb\xbf" + written if layout == "marked" else written


def test_a_comment_in_a_notebook_takes_more_codes(project: Project) -> None:
    line = f"  {BENCHMARK}; {ASSIGNED}"
    project.write({"nb.ipynb": notebook("import torch", f"  x = 1\n{line}  # torchlint: ignore[TL207] é")})
    project.torchlint("check", "--add-ignore")
    found = json.loads((project.root / "nb.ipynb").read_text())["cells"][2]["source"][1]
    assert found == f"{line}  # torchlint: ignore[TL207, TL201] é"


def test_a_variable_that_a_magic_sets_keeps_its_value(project: Project) -> None:
    text = notebook("import torch", "%env PYTHONHASHSEED=0")
    project.write({"nb.ipynb": text})
    _, out, err = project.torchlint("check", "--add-ignore")
    assert (project.root / "nb.ipynb").read_text() == text
    assert "note: nb.ipynb:cell 3:1:1: TL211: no line of its statement can take a comment" in err
    assert out.startswith("nb.ipynb:cell 3:1:1: TL211")


def test_what_no_comment_can_take_is_reported(project: Project) -> None:
    project.write(
        {"a.py": BAD, "broken.py": "x = '\n", "raw.py": b"x = '\xff'\n", "nb.ipynb": notebook("x = (", BENCHMARK)}
    )
    project.write({"torchlint.toml": '[per-file-ignores]\n"none_*.py" = ["TL201"]\n'})
    code, out, err = project.torchlint("check", ".", "--add-ignore")
    assert code == 1
    assert [line.split(" ")[0] for line in out.splitlines() if "TL00" in line] == [
        "broken.py:1:5:",
        "nb.ipynb:cell",
        "raw.py:1:6:",
        "torchlint.toml:2:2:",
    ]
    assert "note: torchlint.toml: only Python files and notebooks can hold ignore comments" in err
    assert "note: broken.py:1:5: TL001: a file that does not parse cannot take a comment" in err
    assert (project.root / "a.py").read_text() != BAD


def test_a_file_that_is_read_only_is_an_error_and_the_others_are_written(project: Project) -> None:
    project.write({"a.py": BAD, "b.py": BAD, "c.py": BAD})
    (project.root / "b.py").chmod(0o444)
    (project.root / "c.py").chmod(0o750)
    code, out, err = project.torchlint("check", "--add-ignore")
    assert code == 2
    assert "error: b.py: no comments were written: the file is read-only\n" in err
    assert err.endswith("added ignore comments for 4 findings in 2 files\n")
    assert re.findall(r"^(\S+): TL", out, re.MULTILINE) == ["b.py:3:1", "b.py:4:1"]
    assert (project.root / "b.py").read_text() == BAD
    assert stat.S_IMODE((project.root / "c.py").stat().st_mode) == 0o750
    left = sorted(path.name for path in project.root.glob("[!.]*"))
    assert left == ["a.py", "b.py", "c.py", "torchlint.toml"]


def test_a_link_stays_a_link(project: Project) -> None:
    project.write({"real/a.py": BAD})
    (project.root / "a.py").symlink_to("real/a.py")
    project.torchlint("check", "a.py", "--add-ignore")
    assert (project.root / "a.py").is_symlink()
    assert "ignore[TL207]" in (project.root / "real/a.py").read_text()


def test_only_what_is_reported_gets_a_comment(project: Project) -> None:
    project.write({"old.py": BAD})
    project.torchlint("baseline")
    project.write({"new.py": BAD, "old.py": f"{BAD}if x:\n    {BENCHMARK}; {ASSIGNED}\n"})
    project.torchlint("check", "--select", "TL207", "--add-ignore")
    assert (project.root / "new.py").read_text() == BAD.replace(BENCHMARK, f"{BENCHMARK}  # torchlint: ignore[TL207]")
    assert project.found() == ["new.py:3 TL201", "old.py:6 TL201"]
    assert (project.root / "old.py").read_text().startswith(BAD)


def test_a_known_finding_beside_the_comment_stays_known(project: Project) -> None:
    project.write({"a.py": f"import torch\n{ASSIGNED}; {BENCHMARK}\n"})
    project.torchlint("baseline", "--select", "TL201")
    project.torchlint("check", "--add-ignore")
    assert "ignore[TL207]" in (project.root / "a.py").read_text()
    assert project.found() == []


def test_a_cell_that_writes_a_file_gets_its_comments_too(project: Project) -> None:
    cells = ("import torch", f"%%writefile net.py\nimport torch\n\n{BENCHMARK}\n", BENCHMARK)
    project.write({"nb.ipynb": notebook(*cells)})
    assert [place.split()[0] for place in project.found()] == ["nb.ipynb:3:4", "nb.ipynb:4:1"]
    assert project.torchlint("check", "--add-ignore")[0] == 0
    marked = [cell.replace(BENCHMARK, f"{BENCHMARK}  # torchlint: ignore[TL207]") for cell in cells]
    assert (project.root / "nb.ipynb").read_text() == notebook(*marked)
    assert project.found() == []


def test_a_diff_shows_what_would_be_written_and_writes_nothing(project: Project) -> None:
    project.write({"a.py": BAD})
    code, out, err = project.torchlint("check", "--add-ignore=later", "--diff", "--select", "TL2")
    before = (project.root / "a.py").read_bytes()
    assert before == BAD.encode()
    assert code == 1
    assert out.startswith("--- a.py\n+++ a.py\n")
    assert "would add ignore comments for" in err
    project.torchlint("check", "--add-ignore=later", "--select", "TL2")
    added = [line[1:] for line in out.splitlines() if line.startswith("+") and not line.startswith("+++")]
    assert added
    assert set(added) <= set((project.root / "a.py").read_text(encoding="utf-8").splitlines())
    assert project.torchlint("check", "--add-ignore=later", "--diff", "--select", "TL2")[:2] == (0, "")
