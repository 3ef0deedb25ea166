"""The benchmark of `verify` runs, also where some of its targets have no finding. What it measures is not looked at."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")
pytestmark = pytest.mark.torch

from tests.benchmarks import verify_cost  # noqa: E402


@pytest.mark.parametrize("targets", [0, 2])
def test_the_benchmark_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str], targets: int) -> None:
    verify_cost._write(tmp_path, targets)
    verify_cost._show_targets(tmp_path, jobs=1, imported=1.0)
    printed = capsys.readouterr().out
    assert printed.count("nothing found") == len(verify_cost.KINDS) - targets
