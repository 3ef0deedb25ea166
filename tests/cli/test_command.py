"""The real command, in a process of its own."""

from __future__ import annotations

import itertools
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import IO

import pytest

from tests.cli.command import clean_environment, run_torchlint
from torchlint import __version__

REPOSITORY = Path(__file__).parents[2]
BAD = "import torch\n\ntorch.use_deterministic_algorithms = True\n"
HEAVY = ("msgspec", "tomli", "libcst", "pathspec", "torch", "packaging", "jinja2")


def test_version(tmp_path: Path) -> None:
    done = run_torchlint("--version", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"torchlint {__version__}\n", "")


@pytest.mark.parametrize(
    "arguments", [["--version"], ["--help"], ["audit", "--help"], ["check", "--help"], ["check", "--jobs=x"]]
)
def test_help_imports_nothing_heavy(arguments: list[str], tmp_path: Path) -> None:
    assert heavy_imports(arguments, tmp_path) == []


@pytest.mark.parametrize(
    ("command", "output_format"),
    [("check", "text"), *itertools.product(["audit", "verify"], ["json", "html"])],
)
def test_only_pages_load_what_lays_them_out(command: str, output_format: str, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("import torch\n")
    imported = heavy_imports([command, "--output-format", output_format], tmp_path)
    assert "msgspec" in imported
    assert ("jinja2" in imported) == (output_format == "html")


def heavy_imports(arguments: list[str], folder: Path) -> list[str]:
    """What a command in that folder imports of what is slow to import."""
    program = (
        "import sys; from torchlint.cli import main; main(sys.argv[1:]); "
        f"print(*[name for name in {HEAVY} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=folder,
        env=clean_environment(PYTHONPATH=str(REPOSITORY)),
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stderr.splitlines()[-1].split()


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["-h"], ["audit", "-h"], ["check", "--help"], ["rule", "--help"], ["rules", "-h"], ["verify", "-h"]],
)
def test_help_advertises_only_what_exists(arguments: list[str], tmp_path: Path) -> None:
    done = run_torchlint(*arguments, cwd=tmp_path)
    assert done.returncode == 0
    assert "Usage: " in done.stdout
    assert ("--fix" in done.stdout) is (arguments[0] == "check")


def test_no_arguments_show_the_help(tmp_path: Path) -> None:
    done = run_torchlint(cwd=tmp_path)
    assert done.returncode == 2
    assert "check" in done.stdout + done.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(shell: str, tmp_path: Path) -> None:
    done = run_torchlint("completion", shell, cwd=tmp_path)
    assert done.returncode == 0
    assert "_TORCHLINT_COMPLETE" in done.stdout


def test_completion_answers(tmp_path: Path) -> None:
    environment = {"_TORCHLINT_COMPLETE": "bash_complete", "COMP_WORDS": "torchlint check --out", "COMP_CWORD": "2"}
    done = run_torchlint(cwd=tmp_path, environment=environment)
    assert done.stdout == "plain,--output-format\nplain,--output\n"


def test_a_bad_program_is_found(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(BAD)
    done = run_torchlint("check", "train.py", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("train.py:3:1: TL2")


def test_unsaved_text_is_checked_under_its_name(tmp_path: Path) -> None:
    done = run_torchlint("check", "-", "--stdin-filename", "lib/x.py", cwd=tmp_path, stdin=BAD.encode())
    assert done.stdout.startswith("lib/x.py:3:1: ")
    done = run_torchlint("check", "-", cwd=tmp_path, stdin=BAD.encode())
    assert done.stdout.startswith("<stdin>:3:1: ")
    assert done.stderr == ""


def test_json_is_nothing_but_json(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(BAD)
    done = run_torchlint("check", "--output-format", "json", "gone", ".", cwd=tmp_path)
    assert done.returncode == 2
    assert json.loads(done.stdout)[0]["path"] == "train.py"


def test_an_empty_folder(tmp_path: Path) -> None:
    done = run_torchlint("check", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.startswith("note: nothing to check")


def test_a_terminal_that_knows_few_letters(tmp_path: Path) -> None:
    (tmp_path / "trаin.py").write_text(BAD)  # the a is Cyrillic
    done = run_torchlint("check", cwd=tmp_path, environment={"PYTHONIOENCODING": "latin-1"})
    assert done.returncode == 1
    assert done.stdout.startswith(r"tr\u0430in.py:3:1: ")


@pytest.mark.skipif(os.name != "posix", reason="pipes and signals of POSIX")
def test_a_closed_pipe_ends_quietly(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(BAD)
    environment = clean_environment(PYTHONPATH=str(REPOSITORY))
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "torchlint", "check"],
        cwd=tmp_path,
        env=environment,
        stdout=writer,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device that is always full")
@pytest.mark.parametrize("output_format", ["text", "json"])
def test_what_cannot_be_printed_is_one_clear_line(output_format: str, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(BAD)
    done = _in_shell(f"check --output-format {output_format} > /dev/full", tmp_path)
    assert (done.returncode, done.stderr) == (2, "error: No space left on device\n")


@pytest.mark.skipif(os.name != "posix", reason="a POSIX shell")
@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_a_stream_that_was_closed_shows_nothing(closed: str, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(BAD)
    done = _in_shell(f"check {closed}", tmp_path)
    assert (done.returncode, done.stderr) == (1, "")
    assert bool(done.stdout) is (closed == "2>&-")


def _in_shell(arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["/bin/sh", "-c", f"{shlex.quote(sys.executable)} -m torchlint {arguments}"],
        cwd=folder,
        env=clean_environment(PYTHONPATH=str(REPOSITORY)),
        capture_output=True,
        text=True,
        check=False,
    )


def _is_unread(pipe: IO[bytes]) -> bool:
    """Whether the reader of a pipe has left something in it."""
    import fcntl
    import termios

    return any(fcntl.ioctl(pipe.fileno(), termios.FIONREAD, bytes(4)))


@pytest.mark.skipif(os.name != "posix", reason="pipes and signals of POSIX")
def test_control_c_while_it_waits_for_input(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "torchlint", "check", "-"],
        cwd=tmp_path,
        env=clean_environment(PYTHONPATH=str(REPOSITORY)),
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        # What a shell starts in the background ignores the signal, and so would all that the tests start.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509 - no thread of ours holds a lock
    ) as process:
        assert process.stdin is not None
        process.stdin.write(b"#")
        process.stdin.flush()
        while _is_unread(process.stdin) and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=300)
    assert (process.returncode, stderr) == (130, b"interrupted\n")
