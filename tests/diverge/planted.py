"""The programs of `programs/`, compared by the real command, and what is found held against `expected.toml`."""

from __future__ import annotations

import dataclasses
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import msgspec
import tomli

from tests.cli.command import clean_environment

PROGRAMS = Path(__file__).parent / "programs"
STEPS = 20
_TOP = Path(__file__).parents[2]


@dataclass(frozen=True)
class Planted:
    """A program with one cause, or none."""

    name: str
    file: str
    about: str = ""
    kinds: tuple[str, ...] = ()
    factors: tuple[str, ...] = ()
    place: dict[str, Any] = dataclasses.field(default_factory=dict)
    command: tuple[str, ...] = ()
    vary: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    clean: bool = False

    @property
    def missing(self) -> list[str]:
        """What it needs and is not installed here."""
        return [name for name in self.needs if find_spec(name) is None]

    @property
    def arguments(self) -> list[str]:
        """What `torchlint diverge` is called with."""
        vary = [f"--vary={','.join(self.vary)}"] if self.vary else []
        options = ["--output-format=json", f"--steps={STEPS}", *vary]
        if self.file.endswith(".ipynb"):
            return [*options, self.file]
        command = self.command or ("python", self.file)
        return [*options, "--", *(sys.executable if word == "python" else word for word in command)]

    def faults(self, found: dict[str, Any]) -> list[str]:
        """What is not as expected."""
        if self.clean:
            return [] if found["verdict"] == "EQUAL" else [f"verdict {found['verdict']}"]
        if found["verdict"] != "DIFFERENT":
            return [f"verdict {found['verdict']}"]
        first, factors = found["first"], found["smallest_set"]
        place = first["place"] or {}
        lines = self.place.get("lines", [self.place.get("line")])
        where = (self.place["file"], self.place.get("cell"))
        told = {
            f"kind {first['kind']}": first["kind"] in self.kinds,
            f"place {place}": (place.get("path"), place.get("cell")) == where and place.get("line") in lines,
            f"factors {factors}": len(factors) == 1 and factors[0] in self.factors,
        }
        return [words for words, is_right in told.items() if not is_right]


def planted() -> list[Planted]:
    """All of them."""
    read = tomli.loads((PROGRAMS / "expected.toml").read_text(encoding="utf-8"))
    return [msgspec.convert({"name": name, **own}, Planted) for name, own in read.items()]


def compared(program: Planted) -> tuple[dict[str, Any], list[str]]:
    """What the command found on a copy of the programs, and the files that it left."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, "programs")
        shutil.copytree(PROGRAMS, folder)
        command = [sys.executable, "-m", "torchlint", "diverge", *program.arguments]
        environment = clean_environment(PYTHONPATH=str(_TOP), PYTHONDONTWRITEBYTECODE="1")
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment, check=False)
        if not done.stdout.startswith("{"):
            raise AssertionError(f"{program.name}: exit {done.returncode}: {done.stderr[-2000:]}")
        return json.loads(done.stdout), list(_new_files(folder))


def _new_files(folder: Path) -> Sequence[str]:
    paths = [path.relative_to(folder) for path in folder.rglob("*") if path.is_file()]
    return [str(path) for path in paths if not (PROGRAMS / path).exists() and "__pycache__" not in path.parts]
