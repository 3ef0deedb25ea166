"""`torchlint check --since REV`."""

from __future__ import annotations

import sys

import pytest

from tests.adoption.projects import ASSIGNED, BAD, BENCHMARK, Project, notebook

CLEAN = "import torch\n\nx = 1\n"


@pytest.fixture
def committed(project: Project) -> Project:
    """A repository with two findings in each file."""
    project.write({"a.py": BAD, "sub/b.py": BAD, "nb.ipynb": notebook("import torch", ASSIGNED, BENCHMARK)})
    project.commit()
    return project


def test_what_has_not_changed_is_left_out_and_counted(committed: Project) -> None:
    code, out, err = committed.torchlint("check", "--since", "HEAD")
    assert (code, out, err) == (0, "No findings in 3 files (6 on unchanged lines).\n", "")


@pytest.mark.parametrize("state", ["committed", "staged", "unstaged"])
def test_a_line_that_was_added(state: str, committed: Project) -> None:
    committed.git("tag", "start")
    committed.write({"a.py": f"import torch\n\nx = 1\n{ASSIGNED}\n{BENCHMARK}\nif x:\n    {BENCHMARK}\n"})
    if state != "unstaged":
        committed.git("add", "--all")
    if state == "committed":
        committed.git("commit", "--quiet", "-m", "more")
    assert committed.found("--since", "start") == ["a.py:7 TL207"]


@pytest.mark.parametrize("ignored", ["", "new.py"])
def test_a_file_that_git_does_not_know_is_new(ignored: str, committed: Project) -> None:
    committed.write({"new.py": BAD, ".gitignore": ignored})
    assert committed.found("--since", "HEAD", "new.py", "a.py") == ["new.py:3 TL201", "new.py:4 TL207"]


def test_a_renamed_file_has_the_lines_it_had(committed: Project) -> None:
    committed.git("mv", "a.py", 'näme with "quotes"\tand tab.py')
    committed.write({'näme with "quotes"\tand tab.py': BAD + BENCHMARK + "\n"})
    assert committed.found("--since", "HEAD") == ['näme with "quotes"\tand tab.py:5 TL207']


def test_names_that_git_would_quote(committed: Project) -> None:
    committed.write({"ä b\n.py": BAD})
    committed.commit()
    committed.write({"ä b\n.py": BAD + BENCHMARK + "\n"})
    assert committed.found("--since", "HEAD~1") == ["ä b\n.py:3 TL201", "ä b\n.py:4 TL207", "ä b\n.py:5 TL207"]
    assert committed.found("--since", "HEAD") == ["ä b\n.py:5 TL207"]


def test_a_statement_counts_as_a_whole(committed: Project) -> None:
    arguments = (
        "        4,\n        2,\n        kernel_size=3,\n        padding=1,\n        padding_mode='replicate',\n"
    )
    text = f"import torch\n\nlayer = torch.nn.Conv2d(\n{arguments})\n"
    committed.write({"a.py": text})
    committed.commit()
    assert committed.found("a.py") == ["a.py:3 TL101"]
    committed.write({"a.py": text.replace("        2,\n", "        3,\n")})
    assert committed.found("--since", "HEAD", "a.py") == ["a.py:3 TL101"]
    committed.write({"a.py": text.replace("        4,\n", "")})
    assert committed.found("--since", "HEAD", "a.py") == ["a.py:3 TL101"]
    committed.write({"a.py": text.replace("\n\nlayer", "\nlayer") + "x = 1\n"})
    assert committed.found("--since", "HEAD", "a.py") == []


def test_line_ends_and_other_bytes_are_no_change(committed: Project) -> None:
    committed.write({"a.py": b"\xef\xbb\xbf" + BAD.replace("\n", "\r\n").encode()})
    assert committed.found("--since", "HEAD", "a.py") == []


def test_the_facts_are_those_of_the_whole_tree(committed: Project) -> None:
    """A program's finding counts where a line that explains it is new, in another file as well."""
    main = (
        "import torch\nfrom voices import split\n\n\ndef main():\n    torch.manual_seed(17)\n    split([1, 2])\n"
        "    model = torch.nn.Linear(2, 2)\n    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
        "    model(torch.ones(2, 2)).mean().backward()\n    optimizer.step()\n\n\n"
        'if __name__ == "__main__":\n    main()\n'
    )
    committed.write({"train.py": main, "voices.py": "def split(files):\n    return files[:1]\n"})
    committed.commit()
    assert committed.found("--since", "HEAD", "--select", "TL301") == []
    committed.write(
        {"voices.py": "import random\n\n\ndef split(files):\n    random.shuffle(files)\n    return files[:1]\n"}
    )
    (found,) = committed.found("--since", "HEAD", "--select", "TL301")
    assert found.startswith("train.py:")
    committed.commit()
    assert committed.found("--since", "HEAD", "--select", "TL301") == []


def test_the_code_of_a_notebook_is_compared_and_not_its_json(committed: Project) -> None:
    committed.write({"nb.ipynb": notebook("%matplotlib inline", "import torch", ASSIGNED, BENCHMARK, nbformat_minor=4)})
    assert committed.found("nb.ipynb") == ["nb.ipynb:4:1 TL201", "nb.ipynb:5:1 TL207"]
    assert committed.found("--since", "HEAD", "nb.ipynb") == []
    committed.write({"nb.ipynb": notebook("import torch", ASSIGNED, f"x = 1\n{BENCHMARK}\n{BENCHMARK}")})
    assert committed.found("--since", "HEAD", "nb.ipynb") == ["nb.ipynb:4:2 TL207"]


def test_what_a_notebook_sets_by_magic_is_compared(committed: Project) -> None:
    cells = ("import torch", "%env PYTHONHASHSEED=0")
    committed.write({"nb.ipynb": notebook(*cells)})
    committed.commit()
    everything = committed.found("nb.ipynb")
    assert everything == ["nb.ipynb:3:1 TL211"]
    assert committed.found("--since", "HEAD", "nb.ipynb") == []
    committed.write({"nb.ipynb": notebook("import torch", "%env PYTHONHASHSEED=1")})
    assert committed.found("--since", "HEAD", "nb.ipynb") == everything


def test_a_file_that_could_not_be_read_before_is_new(committed: Project) -> None:
    committed.write({"nb.ipynb": "{", "a.py": "x = '"})
    committed.commit()
    committed.write({"nb.ipynb": notebook("import torch", ASSIGNED), "a.py": f"x = 1\nimport torch\n{BENCHMARK}\n"})
    assert committed.found("--since", "HEAD") == ["a.py:3 TL207", "nb.ipynb:3:1 TL201"]


def test_unsaved_text_is_what_is_compared(committed: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    class Stdin:
        class buffer:  # noqa: N801 - as sys.stdin has it
            read = staticmethod(f"{BAD}{BENCHMARK}\n".encode)

    monkeypatch.setattr(sys, "stdin", Stdin)
    assert committed.found("--since", "HEAD", "-", "--stdin-filename", "a.py") == ["a.py:5 TL207"]


def test_together_with_a_baseline_and_a_selection(committed: Project) -> None:
    committed.torchlint("baseline")
    committed.write({"a.py": f"{BAD}{BENCHMARK}\n", "new.py": BAD})
    committed.git("add", "--all")
    assert committed.found() == ["a.py:5 TL207", "new.py:3 TL201", "new.py:4 TL207"]
    committed.git("commit", "--quiet", "-m", "more")
    assert committed.found("--since", "HEAD") == []
    assert committed.found("--since", "HEAD~1", "--select", "TL201") == ["new.py:3 TL201"]


@pytest.mark.parametrize("revision", ["nope", "HEAD~7", "HEAD:a.py", "start..HEAD"])
def test_a_revision_that_does_not_exist(revision: str, committed: Project) -> None:
    code, out, err = committed.torchlint("check", "--since", revision)
    assert (code, out) == (2, "")
    assert err.startswith(f"error: --since: `{revision}` is not a commit of the repository {committed.root}")
    assert err.count("\n") == 1


def test_an_option_is_no_revision(committed: Project) -> None:
    assert committed.torchlint("check", "--since", "--output=x")[0::2] == (
        2,
        "error: --since: `--output=x` is not a revision\n",
    )
    assert not (committed.root / "x").exists()


def test_outside_of_a_repository(project: Project) -> None:
    project.write({"a.py": CLEAN})
    code, _, err = project.torchlint("check", "--since", "HEAD")
    assert (code, err) == (2, f"error: --since: {project.root} is not in a git repository\n")


def test_without_git(committed: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(committed.root))
    assert committed.torchlint("check", "--since", "HEAD")[0::2] == (2, "error: --since: git is not installed\n")


def test_nothing_that_the_repository_names_is_run(committed: Project) -> None:
    """No diff driver, text conversion, filter or monitor, wherever git would run one."""
    touched = committed.root.parent / "touched"
    program = committed.root.parent / "program"
    program.write_text(f'#!/bin/sh\ntouch {touched}\ncat "$@"\n')
    program.chmod(0o755)
    for key in (
        "diff.external",
        "diff.x.command",
        "diff.x.textconv",
        "filter.x.clean",
        "filter.x.smudge",
        "core.fsmonitor",
    ):
        committed.git("config", key, str(program))
    committed.write({".gitattributes": "* diff=x filter=x\n", "a.py": BAD + BENCHMARK + "\n"})
    (committed.root / "sub/b.py").rename(committed.root / "sub/c.py")
    touched.unlink(missing_ok=True)
    assert committed.found("--since", "HEAD", "a.py", "nb.ipynb") == ["a.py:5 TL207"]
    assert not touched.exists()
    committed.git("status")
    assert touched.exists()


def test_in_a_hook_the_variables_of_git_lead_nowhere_else(committed: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    committed.write({"a.py": BAD + BENCHMARK + "\n"})
    monkeypatch.setenv("GIT_DIR", ".git")
    monkeypatch.setenv("GIT_INDEX_FILE", ".git/elsewhere")
    assert committed.found("--since", "HEAD", "sub", "a.py") == ["a.py:5 TL207"]


def test_each_repository_is_asked_about_its_own_files(project: Project) -> None:
    for name in ("one", "two"):
        project.write({f"{name}/a.py": BAD})
        for command in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "-m", "state"]):
            project.git("-C", name, *command)
        project.write({f"{name}/a.py": BAD + BENCHMARK + "\n"})
    assert project.found("--since", "HEAD") == ["one/a.py:5 TL207", "two/a.py:5 TL207"]


def test_a_long_file_of_equal_lines_is_compared_quickly(committed: Project) -> None:
    lines = ["import torch", *(BENCHMARK if number % 2 else "x = 1" for number in range(1_000))]
    committed.write({"a.py": "\n".join(lines)})
    committed.commit()
    lines[100] = f"{BENCHMARK}  # here"
    lines[-100] = f"{BENCHMARK}  # and there"
    committed.write({"a.py": "\n".join(lines)})
    assert committed.found("--since", "HEAD", "a.py") == ["a.py:101 TL207", "a.py:902 TL207"]


def test_a_file_that_a_cell_writes_is_compared_as_well(committed: Project) -> None:
    written = f"%%writefile net.py\nimport torch\n{BENCHMARK}\n"
    committed.write({"nb.ipynb": notebook("import torch\n" * 9, written, BENCHMARK)})
    committed.commit()
    assert committed.found("nb.ipynb") == ["nb.ipynb:3:3 TL207", "nb.ipynb:4:1 TL207"]
    assert committed.found("--since", "HEAD", "nb.ipynb") == []
    committed.write({"nb.ipynb": notebook("import torch\n" * 9, f"{written}{BENCHMARK}; x = 1\n", BENCHMARK)})
    assert committed.found("--since", "HEAD", "nb.ipynb") == ["nb.ipynb:3:4 TL207"]
