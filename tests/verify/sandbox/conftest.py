from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.verify.sandbox.remains import ENTRY, HERE, Run, digest, remains
from torchlint.verify.sandbox import Confinement, Limits, Outcome, Sandbox


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    pytest.importorskip("torch")
    if sys.platform != "linux":
        pytest.skip("the server forks on Linux only")
    with Sandbox(Limits(seconds=300, memory_bytes=1 << 30), entry=ENTRY, paths=[HERE]) as opened:
        yield opened


@pytest.fixture
def decoy(tmp_path: Path) -> Path:
    """A folder that stands for the user's own: nothing in it may change."""
    (tmp_path / "sub").mkdir()
    (tmp_path / "model.py").write_text("import torch\n")
    (tmp_path / "sub" / "data.txt").write_text("data\n")
    return tmp_path


@pytest.fixture
def run(sandbox: Sandbox, decoy: Path) -> Iterator[Run]:
    """Run code; afterwards nothing of it is left, nothing has changed, and the next request works."""
    before = digest(decoy)

    def run(code: str, **options: object) -> Outcome:
        return sandbox.run(code.replace("DECOY", repr(str(decoy))).encode(), **options)  # type: ignore[arg-type]

    yield run
    assert remains(sandbox) == []
    assert digest(decoy) == before
    assert sandbox.run(b"send(b'alive')").messages == (b"alive",)


@pytest.fixture
def bare(run: Run, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> Run:
    """As on a system without Landlock and seccomp."""
    monkeypatch.setattr(sandbox, "confinement", Confinement.none())
    return run
