from __future__ import annotations

import pytest

from torchlint.cli import progress


def test_a_short_run_shows_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    counter = progress.Progress()
    for done in range(100):
        counter(done, 100)
    counter.close()
    assert capsys.readouterr() == ("", "")


def test_a_long_run_counts_and_wipes_its_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0
    monkeypatch.setattr("torchlint.cli.progress.time.monotonic", lambda: now)
    counter = progress.Progress()
    counter(1, 20)
    now = 1.1
    counter(10, 20)
    counter(11, 20)
    counter.close()
    text = "checked 10 of 20 files"
    assert capsys.readouterr() == ("", f"\r{text}\r{' ' * len(text)}\r")
