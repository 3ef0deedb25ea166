"""Virtual environments and copies of this repository, for tests of what is shipped."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from tests.cli.command import clean_environment

REPOSITORY = Path(__file__).parents[2]
BAD = "import torch\n\ntorch.use_deterministic_algorithms = True\n"


def run(*command: str | Path, cwd: Path, expect: int | None = 0, **environment: str) -> str:
    """Run a command and return what it said; a different exit code fails the test with all output."""
    done = subprocess.run(
        [*map(str, command)],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
        env=clean_environment(**environment),
    )
    assert expect in (None, done.returncode), f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


def make_environment(folder: Path) -> Path:
    """Make an empty virtual environment and return its Python."""
    run(sys.executable, "-m", "venv", folder, cwd=folder.parent)
    return folder / "bin" / "python"


def copy_repository(target: Path) -> Path:
    """Copy what git would commit, so that no build leaves anything in the working tree."""
    listed = run("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", cwd=REPOSITORY)
    for name in filter(None, listed.split("\0")):
        if (REPOSITORY / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(REPOSITORY / name, target / name)
    return target


def commit_all(repository: Path) -> None:
    """Make the folder a git repository with one commit."""
    run("git", "init", "--quiet", cwd=repository)
    run("git", "add", "--all", cwd=repository)
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
    run("git", *identity, "commit", "--quiet", "--no-verify", "-m", "all", cwd=repository)
