"""What runs in CI: the steps of the action, of GitLab's template and of the container file, as scripts."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.command import clean_environment
from tests.packaging.environments import BAD, REPOSITORY, copy_repository, make_environment
from torchlint import __version__

ACTION = yaml.safe_load((REPOSITORY / "action.yml").read_text(encoding="utf-8"))
STEPS = {step["name"]: step for step in ACTION["runs"]["steps"]}
SPEC, JOBS = yaml.safe_load_all((REPOSITORY / "ci" / "gitlab.yml").read_text(encoding="utf-8"))
INSTRUCTIONS = re.sub(r"\\\n", " ", (REPOSITORY / "Dockerfile").read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of programs into which the action has installed torchlint."""
    base = tmp_path_factory.mktemp("runner")
    source = copy_repository(base / "action")
    paths = base / "path"
    run_step("Install torchlint", base, PACKAGE="", ACTION=str(source), RUNNER_TEMP=str(base), GITHUB_PATH=str(paths))
    return Path(paths.read_text(encoding="utf-8").strip())


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "train.py").write_text(BAD, encoding="utf-8")
    (tmp_path / "a folder").mkdir()
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "clean.py").write_text("print('clean')\n", encoding="utf-8")
    return tmp_path


def run_script(script: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """As a runner does: `bash -e`, with pipefail."""
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
        cwd=folder, env=clean_environment(**environment), capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip


def run_step(name: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """One of the action; it may read what its `env` names, and what every runner sets."""
    step = STEPS[name]
    known = {*step["env"], "RUNNER_TEMP", "GITHUB_PATH", "GITHUB_OUTPUT", "PATH"}
    assert environment.keys() <= known
    assert "${{" not in step["run"], "an input in the text of a script would be code"
    return run_script(step["run"], folder, **environment)


def check(project: Path, installed: Path, **inputs: str) -> tuple[subprocess.CompletedProcess[str], str]:
    """The step that checks, and what it gives out."""
    given = {"PATHS": ".", "ARGS": "", "SARIF": "", **inputs}
    output = project.parent / f"{project.name}.output"
    path = f"{installed}{os.pathsep}{os.environ['PATH']}"
    done = run_step("Check", project, PATH=path, GITHUB_OUTPUT=str(output), **given)
    return done, output.read_text(encoding="utf-8")


def test_inputs_have_defaults_and_are_described() -> None:
    for inputs in (ACTION["inputs"], ACTION["outputs"]):
        assert all(told["description"].endswith(".") for told in inputs.values())
    read = set(re.findall(r"inputs\.([\w-]+)", (REPOSITORY / "action.yml").read_text(encoding="utf-8")))
    assert read == ACTION["inputs"].keys()
    assert all("default" in told for told in ACTION["inputs"].values())


@pytest.mark.slow
def test_the_action_installs_what_it_comes_with(installed: Path) -> None:
    version = subprocess.run([installed / "torchlint", "--version"], capture_output=True, text=True, check=True)
    assert version.stdout == f"torchlint {__version__}\n"


@pytest.mark.slow
def test_the_action_annotates_and_fails(project: Path, installed: Path) -> None:
    done, output = check(project, installed)
    assert done.returncode == 1
    assert output == "exit-code=1\n"
    assert re.match(
        rf"::error title=TL201 [\w-]+,file={re.escape(str(project.resolve()))}/train\.py,line=3,", done.stdout
    )
    assert done.stderr == ""


@pytest.mark.slow
def test_the_action_takes_paths_and_options(project: Path, installed: Path) -> None:
    assert check(project, installed, PATHS="src\n'a", ARGS="--torch 2.6")[0].returncode == 2, (
        "quotes are no quotes here"
    )
    assert check(project, installed, PATHS="src\n")[0].returncode == 0
    assert check(project, installed, PATHS="src train.py")[0].returncode == 1
    assert check(project, installed, ARGS="--ignore TL201  --exit-zero")[0].returncode == 0
    assert check(project, installed, PATHS="--help")[0].returncode == 2, "a path is never an option"


@pytest.mark.slow
def test_no_input_is_run(project: Path, installed: Path) -> None:
    for text in ("$(touch run)", "`touch run`", "; touch run", "'; touch run; '"):
        check(project, installed, PATHS=text, ARGS=text, SARIF=text)
        assert not (project / "run").exists()


@pytest.mark.slow
def test_the_action_writes_what_it_uploads(project: Path, installed: Path) -> None:
    check(project, installed, SARIF="out.sarif")
    log = json.loads((project / "out.sarif").read_text(encoding="utf-8"))
    assert [result["ruleId"] for result in log["runs"][0]["results"]] == ["TL201"]
    upload = STEPS["Upload to code scanning"]
    assert upload["if"].startswith("always() && inputs.sarif != ''")
    assert upload["with"]["sarif_file"] == "${{ inputs.sarif }}"


def _filled(text: str, inputs: Mapping[str, Any]) -> str:
    return re.sub(r"\$\[\[ inputs\.(\w+) \]\]", lambda match: str(inputs[match[1]]), text)


@pytest.mark.slow
def test_gitlabs_template_writes_what_gitlab_reads(project: Path, installed: Path) -> None:
    inputs = {name: told.get("default") for name, told in SPEC["spec"]["inputs"].items()} | {"package": "a name"}
    job = JOBS["torchlint"]
    install, run = (_filled(line, inputs) for line in job["script"])
    assert shlex.split(install)[-1] == "a name"
    done = run_script(run, project, PATH=f"{installed}{os.pathsep}{os.environ['PATH']}")
    assert done.returncode == 1
    report = json.loads((project / job["artifacts"]["reports"]["codequality"]).read_text(encoding="utf-8"))
    assert [one["location"]["path"] for one in report] == ["train.py"]
    assert (project / job["cache"]["paths"][0]).is_dir()


@pytest.mark.slow
def test_the_container_checks_a_mounted_folder(project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Its instructions in two environments: COPY copies, RUN runs, but for what Debian's packages bring."""
    root = tmp_path_factory.mktemp("container")
    python = make_environment(root / "build")
    entry: list[str] = []
    environment: dict[str, str] = {}
    for line in filter(None, map(str.strip, INSTRUCTIONS.splitlines())):
        word, _, rest = line.partition(" ")
        if word == "FROM" and " AS " not in rest:
            python = make_environment(root / "final")
        elif word == "COPY" and not rest.startswith("--from"):
            *sources, target = rest.split()
            for source in sources:
                _copy(REPOSITORY / source, root / target.lstrip("/"), is_folder=target.endswith("/"))
        elif word == "RUN" and not rest.startswith("apt-get"):
            script = re.sub(r"(?<=\s)/(?=source|wheels)", f"{root}/", rest).replace("python ", f"{python} ")
            done = run_script(script, root)
            assert done.returncode == 0, done.stderr
        elif word == "ENV":
            name, _, value = rest.partition("=")
            environment[name] = f"{root}{value}"
        elif word in ("ENTRYPOINT", "CMD"):
            entry += json.loads(rest)
    done = run_script(shlex.join([str(python.with_name(entry[0])), *entry[1:]]), project, **environment)
    assert done.returncode == 1
    assert "train.py:3:1: TL201" in done.stdout
    assert not (project / ".torchlint_cache").exists()


def _copy(source: Path, target: Path, *, is_folder: bool) -> None:
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", "*.msgpack"))
    else:
        (target if is_folder else target.parent).mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)
