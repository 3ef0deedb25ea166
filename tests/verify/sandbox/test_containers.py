"""Where people run verify: as root without most of its powers, as a user of no name, under security profiles."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.command import PATIENT, clean_environment
from tests.verify.sandbox.refusing import REFUSALS
from torchlint.errors import TorchlintError
from torchlint.verify.sandbox.temporary import temporary_folder

pytest.importorskip("torch")
pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(sys.platform != "linux", reason="powers and filters of Linux"),
]

REPOSITORY = Path(__file__).parents[3]
DOCKER = (
    "-all,+chown,+dac_override,+fowner,+fsetid,+kill,+setgid,+setuid,+setpcap,+net_bind_service,+net_raw,+sys_chroot"
    ",+mknod,+audit_write,+setfcap"
)
"""What Docker and Podman leave to root in a container."""
USER = ("--reuid=54321", "--regid=54321", "--clear-groups")
"""One with no entry in the list of users."""
MAY_READ = ("--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search", "--bounding-set=-all,+dac_read_search")

NORMED = """\
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)
        self.norm = nn.BatchNorm2d(4)

    def forward(self, x):
        return self.norm(self.conv(x))
"""


@pytest.fixture
def project() -> Iterator[Path]:
    """A project that every user can read."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "model.py").write_text(NORMED, encoding="utf-8")
        (folder / "torchlint.toml").touch()
        yield folder


def started(prefix: list[str], *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = clean_environment(PYTHONPATH=str(REPOSITORY))
    del environment["HOME"]
    command = [*prefix, sys.executable, *arguments]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=600, check=False)


def verify(prefix: list[str], project: Path) -> subprocess.CompletedProcess[str]:
    options = ("--select", "TL601", "--device", "cpu", *PATIENT)
    return started(prefix, "-m", "torchlint", "verify", *options, cwd=project)


def with_powers(*options: str) -> list[str]:
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        pytest.skip("setpriv (util-linux) is not installed")
    if os.geteuid() != 0:
        pytest.skip("only root can give up powers")
    return [setpriv, *options]


def as_user(project: Path) -> list[str]:
    """Without any power, or with the right to read where the interpreter lies in a closed folder."""
    without = with_powers(*USER, "--bounding-set=-all")
    starting = "import subprocess, sys; sys.exit(subprocess.call([sys.executable, '-c', 'import torch']))"
    can_start = not started(without, "-c", starting, cwd=project).returncode
    return without if can_start else with_powers(*USER, *MAY_READ)


def refusing(*names: str) -> list[str]:
    return [sys.executable, str(Path(__file__).with_name("refusing.py")), ",".join(names), "--"]


@pytest.mark.parametrize(
    "options",
    [[f"--bounding-set={DOCKER}"], ["--bounding-set=-all"], [f"--bounding-set={DOCKER}", "--no-new-privs"]],
    ids=["docker", "none", "no new privileges"],
)
def test_root_of_a_container_gets_verdicts(project: Path, options: list[str]) -> None:
    done = verify(with_powers(*options), project)
    assert "TL601 CONFIRMED" in done.stdout, done.stdout + done.stderr
    assert done.returncode == 1


def test_a_user_without_name_and_home_gets_verdicts(project: Path) -> None:
    (project / "torchlint.toml").unlink()  # the search for the root goes up
    done = verify(as_user(project), project)
    assert "TL601 CONFIRMED" in done.stdout, done.stdout + done.stderr


def test_root_of_a_container_reads_the_files_of_others(project: Path) -> None:
    for path in (project, *project.iterdir()):
        os.chown(path, 54321, 54321)
        path.chmod(0o700)
    done = verify(with_powers(f"--bounding-set={DOCKER}"), project)
    assert "TL601 CONFIRMED" in done.stdout, done.stdout + done.stderr


def test_where_nothing_can_be_confined_there_is_one_error_and_no_run(project: Path) -> None:
    done = verify(refusing("capset"), project)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: no process can be confined here (capabilities: Operation not permitted), so nothing")
    assert "`torchlint verify -- python train.py`" in line


def test_no_folder_for_temporary_files_is_one_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> str:
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found in ['/tmp', '/work']")

    monkeypatch.setattr(tempfile, "gettempdir", none)
    with pytest.raises(TorchlintError, match=r"'/work'\]: set TMPDIR to a folder that can be written to"):
        temporary_folder()


WALLS = "from torchlint.verify.sandbox import Confinement as C; print(*C.of_this_system().protections, sep='; ')"


@pytest.mark.parametrize(
    ("refused", "missing"),
    [
        (["landlock"], ["landlock"]),
        (["landlock at the last step"], ["landlock"]),
        (["seccomp"], ["seccomp"]),
        (["landlock", "seccomp"], ["landlock", "seccomp"]),
    ],
)
def test_a_wall_that_the_system_refuses_is_not_said_to_stand(
    project: Path, refused: list[str], missing: list[str]
) -> None:
    usual = started([], "-c", WALLS, cwd=project).stdout.strip().split("; ")
    left = started(refusing(*refused), "-c", WALLS, cwd=project).stdout.strip().split("; ")
    assert left == [each for each in usual if not each.startswith(tuple(missing))]
    assert left[-1] == "audit hook"


def test_without_walls_verdicts_come_from_a_copy(project: Path) -> None:
    done = verify(refusing(*REFUSALS.keys() - {"capset"}), project)
    assert "; not sandboxed on this system (audit hook)" in done.stderr
    assert "TL601 CONFIRMED" in done.stdout, done.stdout + done.stderr
