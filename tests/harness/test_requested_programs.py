"""The programs that torchlint was asked for: what default settings say of each, and how the run ends."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.cli.command import run_torchlint
from tests.harness.programs import fixture, hits_as_written

SAID = {
    # Six convolutions pad by replication; the first has no gradient to send back to the pictures.
    "replicate.ipynb": {("TL201", "error"): 1, ("TL204", "warning"): 1, ("TL101", "warning"): 5},
    "replicate_env.ipynb": {("TL201", "error"): 1, ("TL202", "error"): 1, ("TL101", "warning"): 5},
    "products.ipynb": {("TL301", "warning"): 1, ("TL602", "warning"): 1},
    "memo.py": {
        ("TL207", "warning"): 1,
        ("TL210", "warning"): 1,
        ("TL501", "info"): 1,
        ("TL601", "info"): 1,
        ("TL603", "error"): 1,
    },
    # Nothing in these differs from run to run: devices and lengths round differently, which `verify` shows.
    "gan.py": {},
    "lengths.py": {},
}


@pytest.mark.parametrize("name", SAID)
def test_default_settings_say(name: str) -> None:
    found = hits_as_written(fixture(f"requested/{name}"))
    assert Counter((hit.code, hit.severity) for hit in found) == SAID[name]


@pytest.mark.parametrize("name", SAID)
def test_the_run_fails_where_more_than_notes_are_found(name: str, tmp_path: Path) -> None:
    fixture(f"requested/{name}").write(tmp_path)
    fails = any(severity != "info" for _, severity in SAID[name])
    assert run_torchlint("check", "--torch", "2.15", cwd=tmp_path).returncode == fails


def test_notes_never_fail_a_run_and_are_one_option_away_from_silence(tmp_path: Path) -> None:
    fixture("requested/memo.py").write(tmp_path)
    notes = run_torchlint("check", "--select", "TL501,TL601", cwd=tmp_path)
    assert (notes.returncode, notes.stdout.count(" info: ")) == (0, 2)
    silent = run_torchlint("check", "--select", "TL501,TL601", "--min-severity", "warning", cwd=tmp_path)
    assert (silent.returncode, silent.stdout.splitlines()[0]) == (0, "No findings in 1 file.")
