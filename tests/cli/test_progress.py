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


def test_a_run_that_nobody_watches_says_every_ten_seconds_what_is_slow(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0
    monkeypatch.setattr("torchlint.cli.progress.time.monotonic", lambda: now)
    lines = progress.ProgressLines("targets done")
    slow = [("Net of model.py", 9.0), ("Head of model.py", 2.0)]
    for seconds in (5.0, 9.9, 10.1, 15.0, 21.0):
        now = seconds
        lines(3, 9, slow)
    lines(9, 9, [])
    told = capsys.readouterr().err.splitlines()
    assert told == [
        "after 10 s: 3 of 9 targets done; running: Net of model.py for 9 s, Head of model.py for 2 s",
        "after 21 s: 3 of 9 targets done; running: Net of model.py for 9 s, Head of model.py for 2 s",
    ]


def test_a_long_check_before_a_run_is_told_from_the_first_second(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0
    monkeypatch.setattr("torchlint.cli.progress.time.monotonic", lambda: now)
    lines = progress.ProgressLines("files checked", progress.PATIENCE)
    for seconds in (0.5, 1.1, 5.0, 11.2):
        now = seconds
        lines(int(10 * seconds), 500)
    assert capsys.readouterr().err.splitlines() == [
        "after 1 s: 11 of 500 files checked",
        "after 11 s: 112 of 500 files checked",
    ]
