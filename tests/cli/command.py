"""Runs the real command in a clean environment."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.counting import counted_calls
from tests.forking import CONTEXT
from torchlint.cli import main

SCRUBBED = ("CI", "NO_COLOR", "FORCE_COLOR", "PYTHONPATH", "COLUMNS", "TORCHLINT_DEBUG", "_TORCHLINT_COMPLETE")
_COUNTED = "TORCHLINT_TESTS_COUNT"
"""The file to write the number of calls into."""
PATIENT = ("--timeout", "600")
"""For a target of `torchlint verify`, which a busy machine may slow by as much as it likes."""
_SECONDS = 600
"""After them it hangs, on the busiest machine."""


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
    words = [str(argument) for argument in arguments]
    surroundings = clean_environment(PYTHONPATH=str(Path(__file__).parents[2]), HOME=str(cwd), **(environment or {}))
    is_for_python = any(name.startswith("PYTHON") for name in environment or {})  # read when a Python starts
    run = _in_new_python if is_for_python else _forked
    returncode, out, err = run(words, cwd, surroundings, stdin)
    stdout, stderr = out.decode(errors="replace"), err.decode(errors="replace")
    assert "Traceback" not in stderr, stderr
    return subprocess.CompletedProcess(["torchlint", *words], returncode, stdout, stderr)


def counted_torchlint(*arguments: str | Path, cwd: Path) -> tuple[subprocess.CompletedProcess[str], int]:
    """The same, and how many functions of Python it called."""
    with tempfile.TemporaryDirectory() as name:
        counted = Path(name, "calls")
        done = run_torchlint(*arguments, cwd=cwd, environment={_COUNTED: str(counted)})
        return done, int(counted.read_text(encoding="ascii"))


def _in_new_python(words: list[str], cwd: Path, environment: dict[str, str], stdin: bytes) -> tuple[int, bytes, bytes]:
    command = [sys.executable, "-m", "torchlint", *words]
    done = subprocess.run(
        command, cwd=cwd, input=stdin, capture_output=True, check=False, timeout=_SECONDS, env=environment
    )
    return done.returncode, done.stdout, done.stderr


def _forked(words: list[str], cwd: Path, environment: dict[str, str], stdin: bytes) -> tuple[int, bytes, bytes]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "stdin").write_bytes(stdin)
        process = CONTEXT.Process(target=_run, args=(words, cwd, environment, folder))
        process.start()
        process.join(_SECONDS)
        if process.exitcode is None:
            process.kill()
            raise TimeoutError(words)
        return process.exitcode, (folder / "stdout").read_bytes(), (folder / "stderr").read_bytes()


def _run(arguments: list[str], cwd: Path, environment: dict[str, str], folder: Path) -> None:
    """In the new process: what the shell and Python's start would do, then the command."""
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(cwd)
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        opened = os.open(folder / name, os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(opened, number)
    sys.stdin, sys.stdout = open(0, encoding="utf-8"), open(1, "w", encoding="utf-8")  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace")  # noqa: SIM115
    sys.argv = ["torchlint", *arguments]
    counted = os.environ.pop(_COUNTED, "")
    if not counted:
        runpy.run_module("torchlint", run_name="__main__", alter_sys=True)
    with counted_calls() as calls:
        code = main(arguments)  # with arguments it returns, where the command would end the process
    Path(counted).write_text(str(calls()), encoding="ascii")
    sys.exit(code)
