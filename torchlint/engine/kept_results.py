"""What files said in an earlier run of this process, for a run that goes on after each save."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import xxhash

from torchlint.engine.analysis import FileResult
from torchlint.engine.project_context import Job, ProjectContext, bytes_of, process_state_of


@dataclass(frozen=True, slots=True)
class _Kept:
    result: FileResult
    read: Mapping[str, str]
    """The checksums of the file and of those that it consulted, by path."""


@dataclass(slots=True)
class KeptResults:
    """The results of the last run of each root.

    A result holds while the file, the files that it consulted and the surroundings are the same: the settings, the set
    of paths, the folders that are searched for modules, and the files beside the sources.
    """

    _of_root: dict[Path, tuple[tuple[object, ...], dict[Job, _Kept]]] = field(default_factory=dict)

    def of(self, context: ProjectContext) -> Keeper:
        """What still may hold in a project as it is now."""
        sums = {path: _checksum(context, path) for path in context.paths}
        surroundings = _surroundings(context)
        known, results = self._of_root.get(context.root, ((), {}))
        kept = results if known == surroundings else {}
        self._of_root[context.root] = surroundings, kept
        return Keeper(kept, sums)


def _checksum(context: ProjectContext, path: str) -> str:
    """Tells whether what a file says may have changed: what a notebook writes hangs on the whole notebook."""
    if path in context.written:
        return f"{_sum(context.read(path))} {_checksum(context, context.written[path].notebook)}"
    return _sum(context.contents[path] if path in context.contents else bytes_of(context.root / path))


def _surroundings(context: ProjectContext) -> tuple[object, ...]:
    """What the results of all files hang on."""
    state = process_state_of(context)
    beside = tuple((path, _sum(bytes_of(path))) for path in context.beside)
    is_concerned = bool(context.paths) and state.concerns(context.paths[0])
    return context.settings, context.catalogue, context.paths, beside, state.modules.folders, is_concerned


def _sum(data: bytes) -> str:
    return xxhash.xxh3_128_hexdigest(data)


@dataclass(frozen=True, slots=True)
class Keeper:
    """The kept results of one project; `sums` are the checksums of its sources as they are now."""

    kept: dict[Job, _Kept]
    sums: Mapping[str, str]

    def known(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, FileResult]]:
        """The jobs whose results hold."""
        for job in jobs:
            one = self.kept.get(job)
            if one is not None and all(self.sums.get(path) == known for path, known in one.read.items()):
                yield job, one.result

    def keep(self, job: Job, result: FileResult) -> None:
        """Keep a result of this run, unless something went wrong."""
        paths = (result.path, *result.consulted)
        if not result.internal_errors and all(path in self.sums for path in paths):
            self.kept[job] = _Kept(result, {path: self.sums[path] for path in paths})
