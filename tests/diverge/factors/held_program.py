"""Runs small programs with factors held or varied, as the driver will."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Collection
from pathlib import Path

from torchlint.recording.factors.names import FACTORS
from torchlint.recording.factors.surroundings import environment_for

ALL = FACTORS
_STARTUP = Path(__file__).parent / "startup"
_TOP = Path(__file__).parents[3]
_REPORTS_TROUBLE = """
import sys
from torchlint.recording.factors.start import troubles
if troubles():
    sys.exit("\\n".join(troubles()))
"""


def output_of(
    program: str,
    folder: Path,
    held: Collection[str] = (),
    varied: Collection[str] = (),
    environ: dict[str, str] | None = None,
) -> str:
    """What it prints; a program that fails, complains or leaves a factor free fails the test."""
    file = folder / "program.py"
    file.write_text(textwrap.dedent(program) + _REPORTS_TROUBLE, encoding="utf-8")
    return output_of_command([sys.executable, str(file)], folder, held, varied, environ)


def output_of_command(
    command: list[str],
    folder: Path,
    held: Collection[str] = (),
    varied: Collection[str] = (),
    environ: dict[str, str] | None = None,
) -> str:
    given = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (_STARTUP, _TOP))), **(environ or {})}
    ended = subprocess.run(
        command,
        cwd=folder,
        env=environment_for(held, varied, given),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr + ended.stdout
    assert ended.stderr == ""
    return ended.stdout
