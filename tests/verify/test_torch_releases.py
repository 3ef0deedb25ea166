"""The releases of torch that verify's tests run on."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests import releases
from torchlint.catalogue.load import load_catalogue


def test_the_oldest_is_what_the_extra_asks_for_and_the_newest_what_the_catalogue_knows() -> None:
    major, minor = load_catalogue().releases[-1]
    asked = (releases.REPOSITORY / "pyproject.toml").read_text(encoding="utf-8")
    oldest, *_, last = releases.RELEASES
    assert f'"torch>={oldest}' in asked
    assert last == f"{major}.{minor}"


@pytest.mark.parametrize(("options", "code"), [([], 1), (["--where-installable"], 0)])
def test_what_cannot_be_installed_is_told(
    options: list[str], code: int, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setitem(releases.RELEASES, "none", releases.Release("3", (str(tmp_path / "no-such-wheel.whl"),)))
    assert releases.main(["none", *options]) == code
    assert "torch none: not run, for it cannot be installed here" in capfd.readouterr().out


def test_an_unknown_release_is_refused() -> None:
    done = subprocess.run([sys.executable, "-m", "tests.releases", "1.0"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "no release is called 1.0" in done.stderr
