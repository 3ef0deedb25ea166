"""What is shipped works where nothing else is installed."""

from __future__ import annotations

import json
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.packaging.environments import BAD, REPOSITORY, commit_all, copy_repository, make_environment, run
from torchlint import __version__
from torchlint.catalogue.compiled import NAME

pytestmark = pytest.mark.slow

LISTED = 'import os\nimport torch\n\nlabels = {name: index for index, name in enumerate(os.listdir("data"))}\n'
"""TL401, which has a safe fix."""


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy_repository(tmp_path_factory.mktemp("sources"))


@pytest.fixture(scope="module")
def built(sources: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel (made from the sdist) and the sdist."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, sources, cwd=folder)
    return folder


def rule_files() -> set[str]:
    """Of the rules, as they ship: each folder with what it is compiled to."""
    files = [path.relative_to(REPOSITORY / "rules") for path in (REPOSITORY / "rules").rglob("*.toml")]
    return {*map(str, files), *(str(path.parent / NAME) for path in files)}


def templates() -> set[str]:
    """The templates of pages and their style sheets, by their names in the package."""
    folder = REPOSITORY / "torchlint" / "report" / "templates"
    return {path.relative_to(REPOSITORY).as_posix() for path in folder.iterdir()}


def test_the_wheel_holds_the_package_and_the_rules_and_nothing_else(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    shipped = {name.removeprefix("torchlint/_rules/") for name in names if name.startswith("torchlint/_rules/")}
    assert shipped == rule_files()
    assert templates() == {name for name in names if name.startswith("torchlint/report/templates/")}
    assert "torchlint/py.typed" in names
    assert {name.split("/")[0] for name in names} == {"torchlint", f"torchlint-{__version__}.dist-info"}
    assert f"torchlint-{__version__}.dist-info/licenses/LICENSE" in names


def test_the_sdist_holds_rules_and_tests(built: Path) -> None:
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {f"rules/{name}" for name in rule_files() if name.endswith(".toml")} | {"hatch_build.py"} <= names
    assert {"tests/packaging/test_install.py", ".pre-commit-hooks.yaml", "LICENSE", "pyproject.toml"} <= names


def check_installed(python: Path, folder: Path) -> None:
    """The console script and `python -m` find the fault, and the package comes from that environment."""
    (folder / "train.py").write_text(BAD)
    listed = json.loads(run(python, "-m", "torchlint", "rules", "--output-format", "json", cwd=folder))
    assert len(listed) == len([name for name in rule_files() if "/" not in name and name.endswith(".toml")])
    for command in ([python, "-m", "torchlint"], [python.parent / "torchlint"]):
        said = run(*command, "check", "train.py", cwd=folder, expect=1)
        assert said.startswith("train.py:3:1: TL2"), said
    page = run(python, "-m", "torchlint", "audit", "--output-format", "html", cwd=folder)
    assert "<!doctype html>" in page
    assert ".tile {" in page
    assert run(python, "-c", "import sys, torchlint.api; print('torch' in sys.modules)", cwd=folder) == "False\n"


def test_the_wheel_works_in_an_empty_environment(built: Path, tmp_path: Path) -> None:
    python = make_environment(tmp_path / "venv")
    (wheel,) = built.glob("*.whl")
    run(python, "-m", "pip", "install", "--quiet", wheel, cwd=tmp_path)
    check_installed(python, tmp_path)


def test_an_editable_install_reads_the_rules_where_they_lie(sources: Path, tmp_path: Path) -> None:
    python = make_environment(tmp_path / "venv")
    run(python, "-m", "pip", "install", "--quiet", "--editable", sources, cwd=tmp_path)
    check_installed(python, tmp_path)
    program = "from torchlint.catalogue.load import catalogue_root; print(catalogue_root())"
    assert run(python, "-c", program, cwd=tmp_path).strip() == str(sources / "rules")


def test_the_package_works_out_of_a_zip_file(built: Path, tmp_path: Path) -> None:
    (wheel,) = built.glob("*.whl")
    (tmp_path / "train.py").write_text(BAD)
    place = run(
        sys.executable, "-c", "import torchlint; print(torchlint.__file__)", cwd=tmp_path, PYTHONPATH=str(wheel)
    )
    assert place.startswith(str(wheel))
    said = run(sys.executable, "-m", "torchlint", "check", "train.py", cwd=tmp_path, expect=1, PYTHONPATH=str(wheel))
    assert said.startswith("train.py:3:1: TL2"), said


def test_pre_commit_runs_both_hooks_from_a_clone(tmp_path: Path) -> None:
    hooks, user = tmp_path / "torchlint", tmp_path / "user"
    hooks.mkdir()
    user.mkdir()
    commit_all(copy_repository(hooks))
    revision = run("git", "rev-parse", "HEAD", cwd=hooks).strip()
    (user / "train.py").write_text(BAD)
    (user / "old.py").write_text(BAD)
    (user / "Dockerfile").write_text("FROM scratch\n")
    (user / "torchlint.toml").write_text('exclude = ["old.py"]\n')
    (user / ".pre-commit-config.yaml").write_text(
        f"repos:\n- repo: {hooks}\n  rev: {revision}\n  "
        "hooks: [{id: torchlint}, {id: torchlint-project}, {id: torchlint-fix}]\n"
    )
    commit_all(user)

    def hook(name: str, *files: str, expect: int) -> str:
        command = [sys.executable, "-m", "pre_commit", "run", name, "--files", *files]
        return run(*command, cwd=user, expect=expect, PRE_COMMIT_HOME=str(tmp_path / "cache"))

    assert "train.py:3:1: TL2" in hook("torchlint", "train.py", expect=1)
    assert "Passed" in hook("torchlint", "old.py", expect=0)
    assert "Skipped" in hook("torchlint", "Dockerfile", expect=0)
    said = hook("torchlint-project", "Dockerfile", expect=1)
    assert "train.py:3:1: TL2" in said
    assert "old.py" not in said
    assert "train.py:3:1: TL2" in hook("torchlint-project", "notes.txt", expect=1)
    run(sys.executable, "-m", "torchlint", "baseline", cwd=user)
    assert "Passed" in hook("torchlint-project", "notes.txt", expect=0)
    assert "Passed" in hook("torchlint", "train.py", expect=0)
    (user / "train.py").write_text(BAD + "torch.backends.cudnn.benchmark = True\n")
    said = hook("torchlint-project", "notes.txt", expect=1)
    assert "train.py:4:1: TL207" in said
    assert "train.py:3:1" not in said
    (user / "torchlint-baseline.json").unlink()
    (user / "train.py").write_text("import torch\n")
    assert "Passed" in hook("torchlint-project", "Dockerfile", expect=0)
    assert "Passed" in hook("torchlint-fix", "train.py", "Dockerfile", expect=0)
    (user / "train.py").write_text(LISTED)
    (user / "old.py").write_text(LISTED)
    assert "files were modified by this hook" in hook("torchlint-fix", "train.py", "old.py", expect=1)
    assert (user / "train.py").read_text() == LISTED.replace('os.listdir("data")', 'sorted(os.listdir("data"))')
    assert (user / "old.py").read_text() == LISTED, "an excluded file stays"
    assert "Passed" in hook("torchlint-fix", "train.py", expect=0)


def test_the_project_hook_sees_that_a_helper_is_deleted(tmp_path: Path) -> None:
    hooks, user = tmp_path / "torchlint", tmp_path / "user"
    hooks.mkdir()
    user.mkdir()
    commit_all(copy_repository(hooks))
    revision = run("git", "rev-parse", "HEAD", cwd=hooks).strip()
    (user / "setup_run.py").write_text('import os\n\nos.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"\n')
    (user / "train.py").write_text(
        "import setup_run\nimport torch\n\n"
        'if __name__ == "__main__":\n'
        "    torch.use_deterministic_algorithms(True)\n"
        '    print(torch.rand(2, device="cuda") @ torch.rand(2, device="cuda"))\n'
    )
    (user / ".pre-commit-config.yaml").write_text(
        f"repos:\n- repo: {hooks}\n  rev: {revision}\n  hooks: [{{id: torchlint-project}}]\n"
    )
    (user / "torchlint.toml").write_text('torch = "2.6"\n')
    commit_all(user)

    def hook(expect: int) -> str:
        command = [sys.executable, "-m", "pre_commit", "run", "torchlint-project"]
        return run(*command, cwd=user, expect=expect, PRE_COMMIT_HOME=str(tmp_path / "cache"))

    assert "Passed" in hook(expect=0)
    run("git", "rm", "--quiet", "setup_run.py", cwd=user)
    assert "train.py:5:5: TL204" in hook(expect=1)
