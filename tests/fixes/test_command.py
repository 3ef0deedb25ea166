"""`torchlint check --fix`, `--diff` and what belongs to them."""

from __future__ import annotations

import io
import json
import os
import stat
import sys
from pathlib import Path

import pytest

from tests.adoption.projects import Project
from torchlint.cli import fixing, writing
from torchlint.engine.fixing import FixedFile
from torchlint.fixes.table import FIXES

BOTH = "import torch\n\ntorch.manual_seed = 42\ntorch.use_deterministic_algorithms = True\n"
SAFE = BOTH.replace("seed = 42", "seed(42)")
_BLANK = " "
BOLD = SAFE.replace("algorithms = True", "algorithms(True)")
DIFF = f"""--- a.py
+++ a.py
@@ -1,4 +1,4 @@
 import torch
{_BLANK}
-torch.manual_seed = 42
+torch.manual_seed(42)
 torch.use_deterministic_algorithms = True
"""


@pytest.fixture
def both(project: Project) -> Path:
    project.write({"a.py": BOTH, "torchlint.toml": 'torch = "2.8"\nselect = ["TL201"]\n'})
    return project.root / "a.py"


def test_safe_fixes_are_written_and_the_rest_is_reported(both: Path, project: Project) -> None:
    code, out, err = project.torchlint("check", "--fix")
    assert both.read_text() == SAFE
    assert code == 1
    assert out.startswith("a.py:4:1: TL201 error")
    assert "1 finding can be fixed with --fix --unsafe-fixes\n" in out
    assert err == "fixed 1 finding in 1 file\n"


def test_unsafe_fixes_count_in_and_a_second_run_changes_nothing(both: Path, project: Project) -> None:
    assert project.torchlint("check", "--fix", "--unsafe-fixes", "--show-fixes") == (
        0,
        "No findings in 1 file.\n",
        "fixed 2 findings in 1 file\n  a.py:\n    2 × TL201 (overwritten-function)\n",
    )
    assert both.read_text() == BOLD
    looks = both.stat()
    assert project.torchlint("check", "--fix", "--unsafe-fixes") == (0, "No findings in 1 file.\n", "")
    assert both.stat().st_mtime_ns == looks.st_mtime_ns
    assert both.stat().st_ino == looks.st_ino


def test_fix_only_reports_nothing_of_what_remains(both: Path, project: Project) -> None:
    assert project.torchlint("check", "--fix-only") == (0, "", "fixed 1 finding in 1 file\n")
    assert both.read_text() == SAFE


@pytest.mark.parametrize("options", [("--diff",), ("--fix", "--diff"), ("--diff", "--fix-only")])
def test_a_diff_writes_nothing(options: tuple[str, ...], both: Path, project: Project) -> None:
    assert project.torchlint("check", *options) == (1, DIFF, "would fix 1 finding in 1 file\n")
    assert both.read_text() == BOTH
    both.write_text(SAFE)
    assert project.torchlint("check", *options) == (0, "", "nothing can be fixed safely; 1 with --unsafe-fixes\n")


def test_a_diff_of_a_file_without_a_last_line_end(project: Project) -> None:
    project.write({"a.py": "import torch\ntorch.manual_seed = 42"})
    _, out, _ = project.torchlint("check", "--diff")
    assert out.endswith(
        "-torch.manual_seed = 42\n\\ No newline at end of file\n+torch.manual_seed(42)\n\\ No newline at end of file\n"
    )


@pytest.mark.usefixtures("both")
def test_the_closing_line_says_how_many_can_be_fixed(project: Project) -> None:
    _, out, _ = project.torchlint("check")
    assert "up to 2 findings can be fixed with --fix; add --diff to see how\n" in out
    _, out, _ = project.torchlint("check", "--output-format", "full")
    assert "1 finding can be fixed with --fix (1 more with --unsafe-fixes)\n" in out


def test_standard_input_is_printed_fixed(both: Path, project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(BOTH.replace("\n", "\r\n").encode())))
    code, out, err = project.torchlint("check", "-", "--stdin-filename", "b.py", "--fix")
    assert (code, out) == (1, SAFE.replace("\n", "\r\n"))
    assert "b.py:4:1: TL201 error" in err
    assert both.read_text() == BOTH
    assert not (project.root / "b.py").exists()


def test_standard_input_without_findings_is_printed_as_it_is(
    both: Path, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(BOLD.encode())))
    assert project.torchlint("check", "-", "--fix-only")[:2] == (0, BOLD)
    assert both.read_text() == BOTH


def test_standard_input_for_a_file_by_its_full_path(
    both: Path, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(f"{BOTH}# unsaved\n".encode())))
    code, out, _ = project.torchlint("check", "-", "--stdin-filename", str(both), "--fix-only")
    assert (code, out) == (0, f"{SAFE}# unsaved\n")
    assert both.read_text() == BOTH


def test_two_links_lead_to_one_file(both: Path, project: Project) -> None:
    (project.root / "b.py").symlink_to("a.py")
    code, _, err = project.torchlint("check", "--fix", "--unsafe-fixes", "a.py", "b.py")
    assert (code, both.read_text()) == (0, BOLD)
    assert "error" not in err


def test_what_is_ignored_or_known_or_unchanged_stays(both: Path, project: Project) -> None:
    silenced = BOTH.replace("= 42", "= 42  # torchlint: ignore[TL201]")
    both.write_text(silenced)
    assert project.torchlint("check", "--fix")[0] == 1
    assert both.read_text() == silenced
    both.write_text(BOTH)
    project.torchlint("baseline")
    assert project.torchlint("check", "--fix")[0] == 0
    assert both.read_text() == BOTH
    project.commit()
    both.write_text(f"{BOTH}torch.manual_seed = 7\n")
    project.torchlint("check", "--fix", "--no-baseline", "--since", "HEAD")
    assert both.read_text() == f"{BOTH}torch.manual_seed(7)\n"


def test_the_configuration_may_ask_for_fixes(both: Path, project: Project) -> None:
    settings = 'torch = "2.8"\nselect = ["TL201"]\nfix = true\n'
    project.write({"torchlint.toml": settings})
    project.torchlint("check", "--no-fix")
    assert both.read_text() == BOTH
    project.torchlint("check")
    assert both.read_text() == SAFE
    project.write({"torchlint.toml": f"{settings}unsafe-fixes = true\n"})
    project.torchlint("check", "--no-unsafe-fixes")
    assert both.read_text() == SAFE
    project.torchlint("check")
    assert both.read_text() == BOLD


@pytest.mark.parametrize("line", ['unfixable = ["TL2"]', 'fixable = ["TL4"]', "fixable = []"])
def test_some_rules_are_not_to_be_fixed(line: str, both: Path, project: Project) -> None:
    project.write({"torchlint.toml": f'torch = "2.8"\nselect = ["TL201"]\n{line}\n'})
    _, out, _ = project.torchlint("check", "--fix", "--unsafe-fixes")
    assert both.read_text() == BOTH
    assert "can be fixed" not in out


def test_unknown_rules_are_errors(both: Path, project: Project) -> None:
    project.write({"torchlint.toml": 'unfixable = ["TL999"]\n'})
    code, _, err = project.torchlint("check")
    assert (code, both.read_text()) == (2, BOTH)
    assert "`unfixable`: unknown rule `TL999`" in err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--fix", "--add-ignore"), "--add-ignore and --fix exclude each other"),
        (("--diff", "--watch"), "--watch and --diff exclude each other"),
        (("--fix-only", "--watch"), "--watch and --fix-only exclude each other"),
        (("--diff", "--output", "out.json"), "--output needs a report, and --diff and --fix-only print none"),
    ],
)
def test_two_writers_are_refused(options: tuple[str, ...], said: str, both: Path, project: Project) -> None:
    code, _, err = project.torchlint("check", *options)
    assert (code, both.read_text()) == (2, BOTH)
    assert said in err


def test_mode_and_links_stay(both: Path, project: Project) -> None:
    both.chmod(0o751)
    link = project.root / "link.py"
    both.rename(project.root / "kept.txt")
    link.symlink_to("kept.txt")
    project.torchlint("check", "--fix", "link.py")
    assert link.is_symlink()
    assert (project.root / "kept.txt").read_text() == SAFE
    assert stat.S_IMODE((project.root / "kept.txt").stat().st_mode) == 0o751
    left = {path.name for path in project.root.iterdir()} - {".torchlint_cache"}
    assert left == {"kept.txt", "link.py", "torchlint.toml"}


def test_a_read_only_file_is_not_written(both: Path, project: Project) -> None:
    both.chmod(0o444)
    code, out, err = project.torchlint("check", "--fix")
    assert (code, both.read_text()) == (2, BOTH)
    assert "error: a.py: nothing was fixed: the file is read-only" in err
    assert "fixed 1" not in err
    assert out.count("TL201") == 2


def test_a_file_that_changed_meanwhile_is_not_written(
    both: Path, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = writing.replace_source

    def late(path: Path, before: bytes, after: bytes) -> None:
        both.write_text("# somebody's newer work\n")
        kept(path, before, after)

    monkeypatch.setattr(fixing, "replace_source", late)
    code, _, err = project.torchlint("check", "--fix")
    assert (code, both.read_text()) == (2, "# somebody's newer work\n")
    assert "error: a.py: nothing was fixed: it has changed since it was read" in err


def test_a_full_disk_loses_nothing(both: Path, project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_path: Path, data: bytes) -> int:
        assert data == SAFE.encode()
        raise OSError(28, "No space left on device")

    project.write({"b.py": BOTH})
    monkeypatch.setattr(Path, "write_bytes", full)
    code, _, err = project.torchlint("check", "--fix", "--no-cache")
    monkeypatch.undo()
    assert (code, both.read_text()) == (2, BOTH)
    assert err.count("nothing was fixed: No space left on device") == 2
    assert sorted(path.name for path in both.parent.glob("*.py")) == ["a.py", "b.py"]
    assert not list(both.parent.glob(".a.py*"))


def test_an_owner_that_may_not_be_given_is_kept(both: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(_path: Path, user: int, group: int) -> None:
        raise PermissionError(1, f"{user} and {group} are others")

    status = list(both.stat())
    status[stat.ST_UID] += 1
    kept = writing._give
    monkeypatch.setattr(os, "chown", refused, raising=False)
    monkeypatch.setattr(writing, "_give", lambda path, _status: kept(path, os.stat_result(status)))
    assert fixing.write_fixed([FixedFile(both, BOTH.encode(), SAFE.encode(), ())]) == [both]
    assert both.read_text() == BOTH
    assert not list(both.parent.glob(".a.py*"))


def test_what_machines_are_told(both: Path, project: Project) -> None:
    found = json.loads(project.torchlint("check", "--output-format", "json")[1])
    assert found[0]["fix"] == {
        "safety": "safe",
        "message": "call the function instead of replacing it",
        "edits": [
            {
                "cell": None,
                "location": {"line": 3, "column": 18},
                "end_location": {"line": 3, "column": 21},
                "content": "(",
            },
            {
                "cell": None,
                "location": {"line": 3, "column": 23},
                "end_location": {"line": 3, "column": 23},
                "content": ")",
            },
        ],
    }
    assert found[1]["fix"]["safety"] == "unsafe"
    log = json.loads(project.torchlint("check", "--output-format", "sarif")[1])
    results = log["runs"][0]["results"]
    assert ["fixes" in result for result in results] == [True, False]
    assert results[0]["fixes"][0]["artifactChanges"][0]["replacements"][0] == {
        "deletedRegion": {"startLine": 3, "startColumn": 18, "endLine": 3, "endColumn": 21},
        "insertedContent": {"text": "("},
    }
    told = json.loads(project.torchlint("check", "--output-format", "rdjson")[1])
    suggestions = told["diagnostics"][0]["suggestions"]
    assert suggestions[0] == {
        "range": {"start": {"line": 3, "column": 18}, "end": {"line": 3, "column": 21}},
        "text": "(",
    }
    assert both.read_text() == BOTH


def test_a_full_report_shows_the_change(both: Path, project: Project) -> None:
    _, out, _ = project.torchlint("check", "--output-format", "full")
    assert "  --fix:\n    - torch.manual_seed = 42\n    + torch.manual_seed(42)\n" in out
    assert "  --fix --unsafe-fixes:\n    - torch.use_deterministic_algorithms = True\n" in out
    assert both.read_text() == BOTH


def test_a_fix_that_breaks_is_reported_and_the_others_go_on(
    both: Path, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_spot: object) -> None:
        raise KeyError("gone")

    both.write_text(f"{BOTH}torch.backends.cudnn.benchmrk = True\n")
    project.write({"torchlint.toml": 'torch = "2.8"\n'})
    monkeypatch.setitem(FIXES, "TL203", broken)
    code, _, err = project.torchlint("check", "--fix")
    assert code == 2
    assert both.read_text().startswith(SAFE)
    assert err.count("error: internal: check `the fix of TL203` broke on a.py: KeyError: 'gone'") == 1
    assert project.torchlint("check", "--output-format", "json")[0] == 2


def test_a_check_without_an_output_that_tells_fixes_loads_none(both: Path, project: Project) -> None:
    loaded = {name for name in sys.modules if name.startswith("torchlint.fixes") or name == "torchlint.engine.fixing"}
    for name in loaded:
        del sys.modules[name]
    project.torchlint("check", "--no-cache")
    assert not {name for name in sys.modules if name.startswith("torchlint.fixes")}
    assert both.read_text() == BOTH
