"""Folders of runs that were killed: the next run removes them, and no others."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from torchlint.verify.sandbox.temporary import OwnFolder

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no locks of this kind")

PACKAGE = Path(__file__).parents[3]
HOLDING = """
import sys, time
from torchlint.verify.sandbox.temporary import OwnFolder
folder = OwnFolder(sys.argv[1])
(folder.path / "deep" / "er").mkdir(parents=True)
(folder.path / "deep" / "file").touch()
print(folder.path, flush=True)
time.sleep(600)
"""


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


def _held(kind: str = "") -> tuple[subprocess.Popen[str], Path]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDING, kind],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(PACKAGE)},
    )
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def _killed(kind: str = "") -> Path:
    process, folder = _held(kind)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert folder.is_dir()
    return folder


@pytest.mark.parametrize("kind", ["", "copies-", "trial-"])
def test_the_folder_of_a_killed_run_is_removed_by_the_next(kind: str) -> None:
    left = _killed(kind)
    with OwnFolder() as own:
        assert own.path.is_dir()
        assert not left.exists()
    assert not own.path.exists()


def test_the_folder_of_a_run_that_goes_on_is_left_alone(place: Path) -> None:
    process, folder = _held()
    try:
        with OwnFolder(), OwnFolder("copies-"):
            assert (folder / "deep" / "file").exists()
        assert list(place.iterdir()) == [folder]
    finally:
        process.kill()
        process.communicate()


def test_a_folder_that_is_inherited_is_in_use_until_its_heir_ends() -> None:
    own = OwnFolder()
    assert own.lock is not None
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, pass_fds=[own.lock]) as heir:
        os.close(own.lock)
        OwnFolder().close()
        assert own.path.is_dir()
        heir.communicate(b"\n")
    OwnFolder().close()
    assert not own.path.exists()


def test_what_no_run_made_is_left_alone(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (place / "torchlint-notes").mkdir()
    (place / "torchlint-file").write_text("mine")
    (place / "other").mkdir()
    (place / "other" / "in-use").touch()
    (place / "torchlint-link").symlink_to(place / "other")
    of_another = place / "torchlint-of-another-user"
    of_another.mkdir()
    (of_another / "in-use").symlink_to(place / "torchlint-file")
    before = sorted(place.rglob("*"))
    OwnFolder().close()
    assert sorted(place.rglob("*")) == before
    left = _killed()
    monkeypatch.setattr(os, "getuid", lambda: 2**20)
    OwnFolder().close()
    assert left.is_dir()
