"""Runs the real command on a copy of a fixture of `fixtures/verify`."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.cli.command import PATIENT

FIXTURES = Path(__file__).parents[3] / "fixtures" / "verify"


@dataclass(frozen=True)
class Case:
    """A copy of one fixture."""

    folder: Path

    @classmethod
    def copied(cls, name: str, to: Path) -> Case:
        return cls(Path(shutil.copytree(FIXTURES / name, to / name, ignore=shutil.ignore_patterns(".*", "__py*"))))

    def verify(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "torchlint", "verify", *PATIENT, "--device", "cpu", *arguments]
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=300, check=False)

    def results(self, *arguments: str) -> list[dict[str, Any]]:
        done = self.verify(*arguments, "--output-format", "json")
        assert done.stdout, done.stderr
        found: list[dict[str, Any]] = json.loads(done.stdout)["results"]
        return found

    def line_of(self, file: str, text: str) -> int:
        """The one line of a file that holds the text."""
        lines = (self.folder / file).read_text(encoding="utf-8").splitlines()
        (number,) = [number for number, line in enumerate(lines, 1) if text in line]
        return number
