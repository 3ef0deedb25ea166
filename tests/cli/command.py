"""Runs the real command in a clean environment."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SCRUBBED = ("CI", "NO_COLOR", "FORCE_COLOR", "PYTHONPATH", "COLUMNS", "TORCHLINT_DEBUG", "_TORCHLINT_COMPLETE")


def clean_environment(**changes: str) -> dict[str, str]:
    """The environment without what a CI machine or a user's shell adds."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in SCRUBBED and not name.startswith(("GITHUB_", "PYTEST_", "COV_"))
    }
    return {**kept, **changes}


def run_torchlint(
    *arguments: str | Path, cwd: Path, stdin: bytes = b"", environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """`python -m torchlint` as a user runs it; bytes go in, text comes out."""
    done = subprocess.run(
        [sys.executable, "-m", "torchlint", *map(str, arguments)],
        cwd=cwd,
        input=stdin,
        capture_output=True,
        check=False,
        timeout=120,
        env=clean_environment(PYTHONPATH=str(Path(__file__).parents[2]), HOME=str(cwd), **(environment or {})),
    )
    stdout, stderr = done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
    assert "Traceback" not in stderr, stderr
    return subprocess.CompletedProcess(done.args, done.returncode, stdout, stderr)
