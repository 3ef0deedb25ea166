"""What a request has left behind, in processes, in folders, in files."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable
from pathlib import Path

from torchlint.recording.confinement import processes
from torchlint.verify.sandbox import Outcome, Sandbox

Run = Callable[..., Outcome]
HERE = Path(__file__).parent
ENTRY = "sandboxed_entry:run"


def patiently(attempt: Callable[[float], Outcome]) -> Outcome:
    """What came of the first attempt in which a message arrived: on a busy machine each has more seconds for it."""
    for seconds in (0.5, 5.0, 50.0):
        outcome = attempt(seconds)
        if outcome.messages:
            break
    return outcome


def remains(sandbox: Sandbox) -> list[object]:
    """Processes and folders of no request. A supervisor that has reported may take a moment to go."""
    deadline = time.monotonic() + 300
    while left := _processes(sandbox) + _folders(sandbox):
        if time.monotonic() > deadline:
            break
        time.sleep(0.01)
    return left


def _processes(sandbox: Sandbox) -> list[object]:
    return [each for server in sandbox._servers.values() for each in processes.descendants(server.pid)]


def _folders(sandbox: Sandbox) -> list[object]:
    assert sandbox._base is not None
    return [entry for entry in sandbox._base.iterdir() if entry.is_dir()]


def digest(folder: Path) -> str:
    """Names, contents, permissions and times of all that is in a folder."""
    seen = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        content = path.read_bytes() if path.is_file() else b""
        seen.update(repr((os.fspath(path), status.st_mode, status.st_mtime_ns, status.st_uid, content)).encode())
    return seen.hexdigest()
