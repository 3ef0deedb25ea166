"""The files of one root, each judged as if it lay alone in an empty folder (`--isolated-facts`)."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from torchlint.catalogue import Catalogue
from torchlint.config import Settings
from torchlint.diagnostics import InternalError, Report
from torchlint.engine.hearing import Hearing, Outcome
from torchlint.engine.narrowing import EVERYTHING, Narrowing
from torchlint.engine.path_ignores import unused_ignores
from torchlint.engine.projects import Execution, ProjectRun
from torchlint.engine.reporting import reported
from torchlint.engine.workers import Workers
from torchlint.project.shown import shown_path


class IsolatedRun:
    """Checks files of one root, of which none knows another."""

    def __init__(
        self,
        settings: Settings,
        catalogue: Catalogue,
        files: Sequence[Path],
        contents: Mapping[Path, bytes],
        *,
        execution: Execution,
        is_whole: bool = False,
    ) -> None:
        self.settings = settings
        self._alone = _Alone(settings, catalogue, dict(contents))
        self._files = tuple(dict.fromkeys(files))
        self._execution = execution
        self._is_whole = is_whole

    def report(self, narrowing: Narrowing = EVERYTHING) -> Report:
        """Hear each file alone, then narrow down and sort."""
        hearings = []
        for hearing in Workers(self._alone.hear, self._alone.on_death, jobs=self._execution.jobs).map(self._files):
            hearings.append(hearing)
            self._execution.progress()
        hearings.sort(key=lambda hearing: sorted(hearing.targets))
        catalogue = self._alone.catalogue
        if self._is_whole:
            paths = [os.path.relpath(path, self.settings.root).replace(os.sep, "/") for path in self._files]
            hearings.append(Hearing(Outcome(unused_ignores(self.settings, catalogue, paths))))
        return reported(hearings, self.settings, catalogue, narrowing)


class _Alone(msgspec.Struct, frozen=True):
    """What a worker process needs to hear one file; plain data, so that it travels."""

    settings: Settings
    catalogue: Catalogue
    contents: Mapping[Path, bytes]
    """Unsaved text, by path."""

    def hear(self, path: Path) -> Hearing:
        own = {path: self.contents[path]} if path in self.contents else {}
        folder = Path(os.path.abspath(path)).parent  # noqa: PTH100 - links stay as the user gave them
        run = ProjectRun(self.settings, self.catalogue, [path], own, execution=Execution(jobs=1), alone_in=folder)
        results = run.results(run.files)
        return run.heard(results, run.project(results))

    def on_death(self, path: Path) -> Hearing:
        """The process that read this file died."""
        shown = shown_path(Path(), str(path))
        error = InternalError("parser", shown, "the process died while reading this file")
        return Hearing(Outcome(internal_errors=[error]))
