"""The README and the guide say what is so: options, keys, rules, and what the tool prints."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from shutil import copytree
from typing import get_args

import click
import pytest

from tests.cli.command import run_torchlint
from tests.documentation.pages import EXAMPLES, WITH_TORCH
from tests.harness.programs import check
from torchlint import __version__
from torchlint.catalogue import load_catalogue
from torchlint.cli.audit import audit
from torchlint.cli.baseline import baseline
from torchlint.cli.check import check as check_command
from torchlint.cli.diverge import diverge
from torchlint.cli.group import _COMMANDS
from torchlint.cli.record import record
from torchlint.cli.verify import verify
from torchlint.diverge.first_operator import MEANINGS
from torchlint.recording.factors.names import ABOUT
from torchlint.recording.journal.records import KINDS
from torchlint.recording.names import ProbeName, VerdictName

REPOSITORY = Path(__file__).parents[2]
DOCS = REPOSITORY / "docs"
PACKAGE = REPOSITORY / "torchlint"
README = REPOSITORY / "README.md"
PAGES = [README, REPOSITORY / "CHANGELOG.md", *sorted(DOCS.glob("*.md"))]
CATALOGUE = load_catalogue()


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def first_column(page: str, heading: str) -> list[str]:
    """The code spans in the first column of the table under a heading."""
    section = re.split(r"^## ", text_of(DOCS / page), flags=re.MULTILINE)
    (table,) = [part for part in section if part.startswith(heading)]
    return [match[1] for match in re.finditer(r"^\| `([^`]+)`", table, re.MULTILINE)]


STATIC = [page for page in EXAMPLES.PAGES if page not in WITH_TORCH]


@pytest.mark.parametrize("page", STATIC, ids=[page.name for page in STATIC])
def test_examples_print_what_the_page_says(page: Path) -> None:
    text = text_of(page)
    assert EXAMPLES.rendered(text) == text, "run python docs/examples.py"


PROGRAMS_OF_THE_README = re.findall(
    r"<!-- file: demo/train.py -->\n```python\n(.*?)^```", text_of(README), re.MULTILINE | re.DOTALL
)


def test_the_readme_shows_the_demo() -> None:
    before, after = PROGRAMS_OF_THE_README
    assert before == text_of(REPOSITORY / "demo" / "train.py")
    assert after != before


def test_the_five_patterns_are_named_by_default(tmp_path: Path) -> None:
    """What torchlint was made for: no option is needed to be told of any of them."""
    copytree(REPOSITORY / "demo", tmp_path / "demo")
    found = {diagnostic.code for diagnostic in check(tmp_path / "demo").diagnostics}
    assert {"TL101", "TL201", "TL204", "TL501", "TL601"} <= found


def test_the_fixed_program_of_the_readme_is_clean(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(PROGRAMS_OF_THE_README[1], encoding="utf-8")
    assert check(tmp_path).diagnostics == ()


@pytest.mark.torch
@pytest.mark.parametrize("program", PROGRAMS_OF_THE_README, ids=["before", "after"])
def test_the_programs_of_the_readme_run(program: str, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    (tmp_path / "pets").mkdir()
    for name in ("cats", "dogs"):
        torch.save(torch.rand(2, 3, 8, 8), tmp_path / "pets" / f"{name}.pt")
    done = subprocess.run(
        [sys.executable, "-c", program, "pets"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


COMMANDS_OF_THE_README = [
    line
    for block in re.findall(r"^```bash\n(.*?)^```", text_of(README), re.MULTILINE | re.DOTALL)
    for line in block.splitlines()
    if line.startswith("torchlint ") and "|" not in line  # other tools are not installed here
]


@pytest.mark.torch
@pytest.mark.parametrize("command", COMMANDS_OF_THE_README)
def test_the_commands_of_the_readme_run_in_a_checkout(command: str, tmp_path: Path) -> None:
    if "verify" in command:
        pytest.importorskip("torch")
    copytree(REPOSITORY / "demo", tmp_path / "demo")
    done = run_torchlint(*command.split()[1:], cwd=tmp_path)
    assert done.returncode in (0, 1)
    assert "demo/train.py" in done.stdout
    assert "error: " not in done.stderr


def test_the_examples_are_there() -> None:
    counts = {page.name: text_of(page).count("$ torchlint ") for page in EXAMPLES.PAGES}
    assert {name for name, count in counts.items() if count} == {
        "README.md",
        "adoption.md",
        "audit.md",
        "configuration.md",
        "diverge.md",
        "extending.md",
        "how-it-works.md",
        "quickstart.md",
        "suppression.md",
        "usage.md",
        "verify.md",
    }
    assert counts["README.md"] >= 3


def test_examples_run_where_their_files_lie() -> None:
    stale = (
        "<!-- file: a.py -->\n```python\nimport torch\n\ntorch.manual_seed = 1\n```\n\n"
        "```console\n$ torchlint check a.py --statistics\nstale output\n```\n"
        "<!-- new folder -->\n```console\n$ torchlint check .\n```\n"
    )
    fresh = EXAMPLES.rendered(stale)
    assert "stale output" not in fresh
    assert "1 TL201 overwritten-function\n" in fresh
    assert "$ torchlint check .\nnote: nothing to check" in fresh
    assert EXAMPLES.rendered(fresh) == fresh


def test_every_option_is_documented_and_no_other() -> None:
    options = {
        option for parameter in check_command.params if isinstance(parameter, click.Option) for option in parameter.opts
    }
    named = first_column("usage.md", "Options of `torchlint check`")
    assert [entry.split()[0] for entry in named] == [
        option for parameter in check_command.params if isinstance(parameter, click.Option) for option in parameter.opts
    ]
    assert {entry.split()[0] for entry in named} == options


def test_every_option_of_the_audit_is_documented_and_no_other() -> None:
    named = first_column("audit.md", "Options of `torchlint audit`")
    assert [entry.split()[0] for entry in named] == [
        option for parameter in audit.params if isinstance(parameter, click.Option) for option in parameter.opts
    ]


def test_every_option_of_the_baseline_is_documented_and_no_other() -> None:
    named = re.findall(r"^\| `(--[\w-]+)", text_of(DOCS / "adoption.md"), re.MULTILINE)
    assert named == [
        option for parameter in baseline.params if isinstance(parameter, click.Option) for option in parameter.opts
    ]


def test_every_option_of_verify_is_documented_and_no_other() -> None:
    named = first_column("verify.md", "Options of `torchlint verify`")
    assert [entry.split()[0] for entry in named] == [
        option for parameter in verify.params if isinstance(parameter, click.Option) for option in parameter.opts
    ]


@pytest.mark.parametrize("command", [diverge, record], ids=["diverge", "record"])
def test_every_option_of_runs_that_are_recorded_is_documented_and_no_other(command: click.Command) -> None:
    named = first_column("diverge.md", f"Options of `torchlint {command.name}`")
    options = [parameter for parameter in command.params if isinstance(parameter, click.Option)]
    assert [entry.split()[0] for entry in named] == [
        option for parameter in options for option in (*parameter.opts, *parameter.secondary_opts)
    ]


def test_every_factor_and_kind_is_explained_in_its_own_words() -> None:
    text = text_of(DOCS / "diverge.md")
    rows = dict(re.findall(r"^\| ([a-z-]+) \| (.*) \|$", text, re.MULTILINE))
    assert {name: f"{about.held} | {about.cure}" for name, about in ABOUT.items()}.items() <= rows.items()
    assert MEANINGS.keys() <= rows.keys()


def test_every_frame_of_a_recording_is_explained() -> None:
    rows = re.findall(r"^\| ([A-Z]) \|", text_of(DOCS / "diverge.md"), re.MULTILINE)
    assert sorted(rows) == sorted(letter.decode() for letter in KINDS)


def test_every_verdict_and_probe_is_explained() -> None:
    text = text_of(DOCS / "verify.md")
    assert re.findall(r"^\| ([A-Z][A-Z -]+[A-Z]) \|", text, re.MULTILINE) == list(get_args(VerdictName))
    assert set(re.findall(r"^\*\*([a-z]+)\*\*", text, re.MULTILINE)) == set(get_args(ProbeName))


def test_what_verify_measures_may_differ_and_nothing_else() -> None:
    page = "```console\n$ torchlint verify missing.py\nerror: missing.py: no such file or folder\n```\n"
    assert EXAMPLES.rendered(page) == page
    assert EXAMPLES.rendered(page.replace("no such", "no")) == page
    same = EXAMPLES._MEASURED.sub
    assert same("#", "x TL601 moves by 4.1e-14, 16 runs at 2 sizes") == same(
        "#", "x TL601 moves by 0.25, 9 runs at 4 sizes"
    )
    assert same("#", "executing your code: 1 target; landlock") == same(
        "#", "executing your code: 2 targets; audit hook"
    )
    assert same("#", "a.py:21:4: TL101 TRACED") != same("#", "a.py:22:4: TL101 TRACED")


def test_numbers_of_diverge_may_differ_and_nothing_else() -> None:
    same = EXAMPLES._DRAWN.sub
    shown = "differently with 1 digit at step 1, parameters 0.077 apart"
    assert same("#", shown) == same("#", "differently with 12 digits at step 3, parameters 1.5e-08 apart")
    assert same("#", shown) != same("#", "differently with 1 digit at step 1, gradients 0.077 apart")


def test_every_command_is_documented() -> None:
    named = {entry.split()[1] for entry in first_column("usage.md", "Other commands")}
    assert named == {*_COMMANDS, "--version"} - {"check"}


@pytest.mark.parametrize("page", PAGES, ids=[page.name for page in PAGES])
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\((?!https?:)([^)#\s]+)", text_of(page)):
        assert (page.parent / link).exists(), link


@pytest.mark.parametrize("page", ["contributing.md", "how-it-works.md"])
def test_files_that_the_guide_names_are_there(page: str) -> None:
    named = set(re.findall(r"`(?:torchlint/)?([\w-]+(?:/[\w-]+)+\.(?:py|toml))`", text_of(DOCS / page)))
    assert len(named) >= 10
    named = {path for path in named if not Path(path).stem.isupper()}  # LIBRARY.toml stands for any
    assert not {path for path in named if not any((root / path).exists() for root in (REPOSITORY, PACKAGE))}


def test_a_finding_is_understood_from_five_files() -> None:
    tables = re.findall(r"^\| file \|.*\n((?:\|.*\n)+)", text_of(DOCS / "how-it-works.md"), re.MULTILINE)
    assert [table.count("\n") - 1 for table in tables] == [5, 5, 5]


def test_pages_name_this_version_and_no_tag_that_is_not_there() -> None:
    named = {page.name: re.findall(r"rev: (\S+)", text_of(page)) for page in PAGES}
    assert {name: revs for name, revs in named.items() if revs} == {
        "README.md": ["FULL_HASH_OF_A_COMMIT"],
        "usage.md": ["FULL_HASH_OF_A_COMMIT"],
    }
    assert f"## Status\n\n{__version__}" in text_of(README)


def test_a_rule_is_as_old_as_the_changelog_says() -> None:
    sections = re.split(r"^## \[([^\]]+)\].*$", text_of(REPOSITORY / "CHANGELOG.md"), flags=re.MULTILINE)[1:]
    since: dict[str, str] = {}
    for version, text in zip(sections[::2], sections[1::2], strict=True):  # the newest first, so that the oldest stays
        since |= dict.fromkeys(re.findall(r"TL\d{3}", text), version)
    assert {code: since[code] for code in CATALOGUE.rules} == {
        code: rule.since for code, rule in CATALOGUE.rules.items()
    }


def test_the_changelog_names_this_version_and_its_rules() -> None:
    changelog = text_of(REPOSITORY / "CHANGELOG.md")
    assert f"## [{__version__}]" in changelog
    built = {code for code, rule in CATALOGUE.rules.items() if rule.status == "stable"}
    assert set(re.findall(r"TL\d{3}", changelog)) == built


def test_the_readme_promises_nothing_that_does_not_exist() -> None:
    for page in EXAMPLES.PAGES:
        assert not re.search(r"--fix\b|--diff\b", text_of(page)), page.name
