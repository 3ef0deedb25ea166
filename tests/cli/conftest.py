from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import torchlint
from tests.config.stub_catalogue import make_catalogue
from torchlint.config import Overrides, settings
from torchlint.diagnostics import Report


@dataclass(frozen=True)
class FakeOptions:
    overrides: Overrides
    config: Path | None
    isolated: bool
    jobs: int | None
    kept_verdicts: bool
    baseline: bool
    since: str | None
    progress: Callable[[int, int], None] | None
    cache: object


@dataclass
class FakeApi:
    """Stands for torchlint.api: answers with `report` and keeps what it was asked."""

    report: Report = field(default_factory=lambda: Report((), files=("a.py",)))
    failure: BaseException | None = None
    asked: list[tuple[tuple[Path, ...], FakeOptions, dict[Path, bytes]]] = field(default_factory=list)

    def check_paths(
        self, paths: Sequence[Path], options: FakeOptions, contents: Mapping[Path, bytes] | None = None
    ) -> Report:
        settings.load_settings(Path(), options.overrides, config=options.config, isolated=options.isolated)
        self.asked.append((tuple(paths), options, dict(contents or {})))
        if self.failure:
            raise self.failure
        return self.report

    def with_edits(self, report: Report, _options: FakeOptions, _contents: Mapping[Path, bytes]) -> Report:
        return report

    def list_files(self, paths: Sequence[Path], _options: FakeOptions) -> tuple[Path, ...]:
        return tuple(sorted(found for path in paths for found in ([path] if path.is_file() else path.rglob("*.py"))))

    @property
    def overrides(self) -> Overrides:
        return self.asked[-1][1].overrides


@pytest.fixture
def api(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeApi]:
    """A fake API, a stub catalogue, and an empty folder to work in."""
    fake = FakeApi()
    module: Any = ModuleType("torchlint.api")
    module.check_paths, module.list_files, module.CheckOptions = fake.check_paths, fake.list_files, FakeOptions
    module.with_edits = fake.with_edits
    monkeypatch.setitem(sys.modules, "torchlint.api", module)
    monkeypatch.setattr(torchlint, "api", module, raising=False)
    catalogue = make_catalogue()
    monkeypatch.setattr(settings, "load_catalogue", lambda _extensions=None: catalogue)
    monkeypatch.setattr("torchlint.catalogue.load_catalogue", lambda _extensions=None: catalogue)
    settings._combine.cache_clear()
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HOME", str(tmp_path))
    for variable in ("NO_COLOR", "FORCE_COLOR", "TORCHLINT_DEBUG", "_TORCHLINT_COMPLETE"):
        monkeypatch.delenv(variable, raising=False)
    yield fake
    settings._combine.cache_clear()
