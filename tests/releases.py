"""The quick part of verify's tests on other releases of torch and Python: `python -m tests.releases [2.2 2.6 2.15]`.

Each release gets a fresh environment in a temporary folder, which goes again. Wheels come from where pip is told to
look (`PIP_EXTRA_INDEX_URL`: an index with builds without CUDA; else it takes some 3 GB a release, and 6 GB of disk
while it runs).
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
QUICK = (
    "tests/verify/building",
    "tests/verify/statements",
    "tests/verify/probes",
    "tests/verify/command/test_verdicts.py",
    "tests/verify/sandbox/test_spawning.py",
    "tests/verify/test_run.py",
    "tests/verify/test_walks.py",
)
LONG = ("tests/verify/probes/test_clean.py", "tests/verify/probes/test_repeat.py")
"""Left out: hundreds of modules, each run many times, and waits for races, which torch hardly decides."""
_DISK = 8 << 30


@dataclass(frozen=True)
class Release:
    python: str
    requirements: tuple[str, ...]


RELEASES = {
    "2.2": Release("3.10", ("torch==2.2.*", "numpy<2")),  # the oldest of both that verify claims; built before NumPy 2
    "2.6": Release("3.12", ("torch==2.6.*", "numpy")),
    "2.15": Release("3.13", ("torch==2.15.*", "numpy")),  # the newest that the catalogue knows; a test holds it to that
}


def main(arguments: Sequence[str]) -> int:
    """Run all that were asked for, whatever becomes of the first; the exit code is 1 when anything failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.releases", description=__doc__)
    parser.add_argument("release", nargs="*", help=f"{', '.join(RELEASES)}; all unless named")
    parser.add_argument(
        "--where-installable", action="store_true", help="what cannot be installed is told, and no failure"
    )
    given = parser.parse_args(arguments)
    chosen = given.release or list(RELEASES)
    unknown = set(chosen) - RELEASES.keys()
    if unknown:
        parser.error(f"no release is called {', '.join(sorted(unknown))}")
    failed = [name for name in chosen if not _passes(name, RELEASES[name], must_install=not given.where_installable)]
    if failed:
        print(f"\nfailed: torch {', '.join(failed)}", flush=True)
    return 1 if failed else 0


def _passes(name: str, release: Release, *, must_install: bool) -> bool:
    with tempfile.TemporaryDirectory(prefix="torchlint-release-") as folder:
        if shutil.disk_usage(folder).free < _DISK:
            print(f"== torch {name}: not run, for {_DISK >> 30} GiB of disk are not free here", flush=True)
            return not must_install
        interpreter = _interpreter(release.python)
        print(f"== torch {name} on {interpreter}", flush=True)
        subprocess.run([interpreter, "-m", "venv", folder], check=True)
        if not _installs(Path(folder), release):
            print(f"== torch {name}: not run, for it cannot be installed here", flush=True)
            return not must_install
        tests = [str(Path(folder, "bin", "python")), "-m", "pytest", "-n", "auto", "--quiet", "-m", "torch"]
        left_out = [f"--ignore={path}" for path in LONG]
        path = os.pathsep.join([str(Path(folder, "bin")), os.environ["PATH"]])
        environment = {**os.environ, "PATH": path, "VIRTUAL_ENV": folder}
        command = [*tests, "-p", "no:cacheprovider", *left_out, *QUICK]
        return subprocess.run(command, cwd=REPOSITORY, env=environment, check=False).returncode == 0


def _installs(folder: Path, release: Release) -> bool:
    """pip keeps what it downloads, and these are gigabytes: not here."""
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--no-cache-dir"]
    tools = ["pytest", "pytest-xdist", "hypothesis", "--editable", str(REPOSITORY)]
    return subprocess.run([*pip, *release.requirements, *tools], check=False).returncode == 0


def _interpreter(version: str) -> str:
    """Python of that version, from the path or from pyenv; else the one at hand."""
    for candidate in _candidates(version):
        said = subprocess.run([candidate, "--version"], capture_output=True, text=True, check=False)
        if said.stdout.startswith(f"Python {version}."):  # a shim of pyenv's may stand for nothing
            return candidate
    print(f"no Python {version} here: {sys.version.split()[0]} takes its place", flush=True)
    return sys.executable


def _candidates(version: str) -> Iterator[str]:
    found = shutil.which(f"python{version}")
    if found:
        yield found
    versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
    yield from (str(path) for path in sorted(versions.glob(f"{version}.*/bin/python")))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
