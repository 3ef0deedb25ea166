"""How many processes a command starts unless it is told: no more than a container gives it time for."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchlint.engine import workers
from torchlint.engine.workers import default_jobs


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"cpu.max": "200000 100000\n"}, 2),
        ({"cpu.max": "150000 100000\n"}, 2),
        ({"cpu.max": "5000 100000\n"}, 1),
        ({"cpu.max": "max 100000\n"}, 8),
        ({"cpu.max": "6400000 100000\n"}, 8),
        ({"quota": "300000\n", "period": "100000\n"}, 3),
        ({"quota": "-1\n", "period": "100000\n"}, 8),
        ({}, 8),
    ],
)
def test_a_container_gets_as_many_processes_as_it_has_cores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str], expected: int
) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="ascii")
    quotas = ((tmp_path / "cpu.max",), (tmp_path / "quota", tmp_path / "period"))
    monkeypatch.setattr(workers, "_QUOTAS", quotas)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(8)), raising=False)
    assert default_jobs() == expected
