"""Settings that cannot be read, or that force files out, in one part of what is checked."""

from __future__ import annotations

import io
import json
import sys
from types import SimpleNamespace

import pytest

from tests.adoption.projects import BAD, Project

BROKEN = "[tool.torchlint]\nselect = [\n"


@pytest.fixture
def parts(project: Project) -> Project:
    """`gen` is forced out, and its own settings are no TOML."""
    project.write(
        {
            "torchlint.toml": 'exclude = ["gen"]\nforce-exclude = true\n',
            "a.py": BAD,
            "gen/a.py": BAD,
            "gen/pyproject.toml": BROKEN,
            "gen/deep/b.py": BAD,
        }
    )
    return project


@pytest.mark.parametrize(
    "paths", [["gen/a.py"], ["gen"], ["gen/deep/b.py", "gen/a.py"], ["--isolated-facts", "gen/a.py"], ["./gen/deep"]]
)
def test_what_is_forced_out_is_not_asked_for_settings(parts: Project, paths: list[str]) -> None:
    code, out, err = parts.torchlint("check", *paths)
    assert (code, out) == (0, "")
    assert err == "note: nothing to check: no Python file or notebook found\n"
    code, out, err = parts.torchlint("check", "a.py", *paths)
    assert (code, err) == (1, "")
    assert "a.py:3:1: TL201" in out


def test_settings_inside_of_what_is_forced_out_change_nothing(parts: Project) -> None:
    parts.write({"gen/pyproject.toml": "[tool.torchlint]\nforce-exclude = false\n"})
    assert parts.found("gen/a.py", "gen/deep") == []


@pytest.mark.parametrize("name", ["gen/a.py", "gen/new.py", "gen/deep/b.py"])
@pytest.mark.parametrize("text", [b"import torch\n", BAD.encode(), b"x = ("])
def test_standard_input_is_forced_out_as_its_file_is(
    parts: Project, monkeypatch: pytest.MonkeyPatch, name: str, text: bytes
) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(text), isatty=lambda: False))
    assert parts.torchlint("check", "-", "--stdin-filename", name)[:2] == (0, "")


def test_standard_input_is_checked_where_nothing_forces_it_out(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.write({"torchlint.toml": 'exclude = ["gen"]\n'})
    for arguments, code in ([], 1), (["--force-exclude"], 0), (["--force-exclude", "--exclude", "other"], 1):
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(BAD.encode()), isatty=lambda: False))
        assert project.torchlint("check", "-", "--stdin-filename", "gen/a.py", *arguments)[0] == code


@pytest.mark.parametrize("options", [[], ["--isolated"], ["--config", "../../settings/other.toml"]])
@pytest.mark.parametrize("config", ["force-exclude = true\n", None])
def test_folders_above_the_root_force_nothing_out(
    project: Project, monkeypatch: pytest.MonkeyPatch, config: str | None, options: list[str]
) -> None:
    (project.root / "torchlint.toml").unlink()
    project.write({"build/p/a.py": BAD, "build/p/gen/b.py": BAD, "settings/other.toml": "", "build/p/.git/HEAD": ""})
    project.write({} if config is None else {"build/p/torchlint.toml": config})
    monkeypatch.chdir(project.root / "build" / "p")
    given = ["--force-exclude", "--extend-exclude", "gen", *options]
    assert {found.partition(":")[0] for found in project.found(*given, "a.py", "gen/b.py")} == {"a.py"}
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(BAD.encode()), isatty=lambda: False))
    assert project.torchlint("check", "-", "--stdin-filename", "a.py", *given)[0] == 1
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(BAD.encode()), isatty=lambda: False))
    assert project.torchlint("check", "-", "--stdin-filename", "gen/b.py", *given)[0] == 0


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"b/pyproject.toml": BROKEN}, "b/pyproject.toml:2: is not TOML"),
        ({"b/torchlint.toml": "selct = []"}, "b/torchlint.toml: `selct`: unknown key"),
        ({"b/torchlint.toml": 'extend-rules = ["own.toml"]'}, "own.toml does not exist"),
        ({"b/torchlint.toml": 'extend-rules = ["own.toml"]', "b/own.toml": "code = 1"}, "own.toml: "),
        ({"b/torchlint.toml": "", "b/torchlint-baseline.json": "{"}, "torchlint-baseline.json"),
        ({"b/torchlint.toml": 'baseline = "gone.json"'}, "gone.json: there is no such baseline"),
    ],
)
@pytest.mark.parametrize("paths", [["."], ["a.py", "b/c.py"], ["b", "a.py"]])
def test_a_part_whose_settings_are_wrong_costs_no_other_its_findings(
    project: Project, settings: dict[str, str], said: str, paths: list[str]
) -> None:
    project.write({"a.py": BAD, "b/c.py": BAD, "b/d.py": BAD, **settings})
    code, out, err = project.torchlint("check", "--also", "sarif:out.sarif", *paths)
    assert code == 2
    assert "a.py:3:1: TL201" in out
    assert "b/c.py" not in out
    assert err.startswith("wrote out.sarif (2 findings)\nerror: ")
    assert said in err
    assert err.count("error: ") == 1
    invocation = json.loads((project.root / "out.sarif").read_text())["runs"][0]["invocations"][0]
    assert not invocation["executionSuccessful"]
    assert said in invocation["toolConfigurationNotifications"][0]["message"]["text"]


@pytest.mark.parametrize(
    "arguments", [["check"], ["check", "--show-files"], ["check", "--show-settings"], ["baseline"]]
)
def test_settings_that_are_wrong_for_all_are_one_error(project: Project, arguments: list[str]) -> None:
    project.write({"a.py": BAD, "b/c.py": BAD, "torchlint.toml": "selct = []"})
    code, out, err = project.torchlint(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert err.count("\n") == 1


def test_a_mistake_in_an_option_is_said_where_no_file_is_found(project: Project) -> None:
    (project.root / "empty").mkdir()
    code, _, err = project.torchlint("check", "empty", "--select", "TL999")
    assert code == 2
    assert err.startswith("error: --select: unknown rule `TL999`")


@pytest.mark.parametrize(
    ("also", "written"),
    [
        (["text:gone/out.txt", "sarif:out.sarif"], "out.sarif"),
        (["json:out.json", "sarif:a.py"], "out.json"),
        (["gitlab:.", "junit:out.xml"], "out.xml"),
    ],
)
def test_a_file_that_cannot_be_written_costs_neither_the_findings_nor_other_files(
    project: Project, also: list[str], written: str
) -> None:
    project.write({"a.py": BAD})
    given = [word for each in also for word in ("--also", each)]
    code, out, err = project.torchlint("check", *given)
    assert code == 2
    assert out == project.torchlint("check")[1]
    assert (project.root / written).exists()
    assert f"wrote {written} (2 findings)\n" in err
    assert "\nerror: --also: " in f"\n{err}"
    assert (project.root / "a.py").read_text() == BAD


def test_a_report_that_cannot_be_written_costs_no_other_file(project: Project) -> None:
    project.write({"a.py": BAD})
    code, out, err = project.torchlint("check", "--output", "gone/out.txt", "--also", "json:out.json")
    assert (code, out) == (2, "")
    assert err.startswith("wrote out.json (2 findings)\nerror: --output: gone/out.txt cannot be written: ")


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ('"notebooks" = ["TL4"]', "nothing"),
        ('"notebooks/*" = ["TL4", "TL999"]', "unknown"),
        ('"*.py" = ["ALL"]', "nothing"),
        ('"sub/*.py" = ["TL1", "TL2"]', "nothing"),
        ('"c.py" = ["unset-mode", "TL602"]', "nothing"),
        ('"ignored" = ["TL101"]', "nothing"),
        ('"notebook" = ["TL4"]', "idle"),
        ('"sub/*.pyi" = ["TL207"]', "idle"),
        ('"gone.py" = ["ALL"]', "idle"),
    ],
)
def test_a_per_file_ignore_is_idle_where_it_is_for_no_file(project: Project, entry: str, said: str) -> None:
    project.write(
        {
            ".gitignore": "ignored\n",
            "notebooks/a.py": "import torch\n",
            "sub/c.py": BAD,
            "ignored/d.py": BAD,
            "torchlint.toml": f"[per-file-ignores]\n{entry}\n",
        }
    )
    code, out, err = project.torchlint("check", ".", "--output-format", "json-lines")
    if said == "unknown":
        assert (code, "unknown rule `TL999`" in err) == (2, True)
        return
    found = [json.loads(line)["code"] for line in out.splitlines()]
    assert ("TL002" in found) == (said == "idle")
    assert "TL002" not in project.torchlint("check", "sub/c.py")[1]


@pytest.mark.parametrize("arguments", [[], ["--show-settings"], ["sub"], ["sub/b.py", "a.py"]])
def test_a_misspelt_table_is_one_note(project: Project, arguments: list[str]) -> None:
    (project.root / "torchlint.toml").unlink()
    project.write({"pyproject.toml": "[tool.torchlnt]\nselect = []\n", "a.py": BAD, "sub/b.py": BAD})
    note = "note: pyproject.toml: nothing reads the table `tool.torchlnt`; did you mean `tool.torchlint`?\n"
    assert project.torchlint("check", *arguments)[2] == note
    assert project.torchlint("check", "--isolated", *arguments)[2] == ""
