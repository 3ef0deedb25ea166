"""Fetches the pinned packages and unpacks their sources: no package is installed, none of their code runs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name, parse_wheel_filename

PINS = Path(__file__).with_name("packages.txt")
_SUFFIXES = (".py", ".ipynb")


@dataclass(frozen=True, slots=True)
class Package:
    """A pinned package."""

    name: str
    version: str

    @property
    def requirement(self) -> str:
        return f"{self.name}=={self.version}"


class FetchError(Exception):
    """A package cannot be had."""


def read_pins(text: str) -> list[Package]:
    """The packages of a requirements file that holds `name==version` lines and comments only."""
    packages = []
    for line in text.splitlines():
        words = line.partition("#")[0].strip()
        if words:
            requirement = Requirement(words)
            (pin,) = requirement.specifier
            packages.append(Package(requirement.name, pin.version))
    return packages


def default_cache() -> Path:
    """The user's cache folder, so that a clean checkout stays clean."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "torchlint-ecosystem"


def fetch(packages: Sequence[Package], wheels: Path) -> dict[Package, Path]:
    """The wheel of each package, downloaded unless it lies in `wheels`. Raises FetchError."""
    wheels.mkdir(parents=True, exist_ok=True)
    missing = [package for package in packages if package not in _wheels_in(wheels, packages)]
    if missing:
        requirements = [package.requirement for package in missing]
        print(f"downloading {', '.join(requirements)}", file=sys.stderr)
        options = ["--no-deps", "--only-binary=:all:", "--quiet", "--dest", str(wheels)]
        done = subprocess.run([sys.executable, "-m", "pip", "download", *options, *requirements], check=False)
        if done.returncode:
            raise FetchError(f"pip could not download {', '.join(requirements)}")
    found = _wheels_in(wheels, packages)
    absent = [package.requirement for package in packages if package not in found]
    if absent:
        raise FetchError(f"no wheel in {wheels} for {', '.join(absent)}")
    return found


def _wheels_in(folder: Path, packages: Iterable[Package]) -> dict[Package, Path]:
    wheels = {}
    for path in sorted(folder.glob("*.whl")):
        name, version, _, _ = parse_wheel_filename(path.name)
        wheels[name, str(version)] = path
    keys = {package: (canonicalize_name(package.name), package.version) for package in packages}
    return {package: wheels[key] for package, key in keys.items() if key in wheels}


def unpack(package: Package, wheel: Path, cache: Path) -> Path:
    """The folder with the package's sources: a project of its own, whatever lies around it."""
    folder = cache / f"{package.name}-{package.version}"
    if folder.is_dir():
        return folder
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as made:
        scratch = Path(made) / "package"
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(scratch, [name for name in archive.namelist() if name.endswith(_SUFFIXES)])
        (scratch / "torchlint.toml").write_text("# marks the root of the project\n", encoding="utf-8")
        shutil.move(scratch, folder)
    return folder
