"""What a project is given: its files and settings, what each file says by itself, and for which torch it is judged."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from msgspec.structs import replace

from torchlint.catalogue import Catalogue
from torchlint.catalogue.libraries import Library
from torchlint.catalogue.versions import TorchTarget, VersionRange
from torchlint.config import Settings
from torchlint.facts.file import FileFacts
from torchlint.facts.summary import FileSummary
from torchlint.project.answers import Answering, Interview, KeptAnswers
from torchlint.project.outside import Outside
from torchlint.project.programs import Program
from torchlint.project.requirements.manifests import Manifests
from torchlint.project.target import Targets, admitted
from torchlint.project.texts import Contents, Texts


@dataclass
class ProjectInputs(Answering):
    """The files of a project, of which each is asked by itself."""

    root: Path
    settings: Settings
    catalogue: Catalogue
    requirement_files: Sequence[Path]
    environment_files: Sequence[Path]
    known: Mapping[str, FileSummary]
    """The summaries of the files being checked; the rest is loaded when a judge asks."""
    sources: tuple[str, ...]
    """The paths of all files."""
    load_summaries: Callable[[], Mapping[str, FileSummary]]
    contents: Contents
    read: Callable[[str], bytes]
    """One source; nothing for one that cannot be read, or is too large to be checked."""
    load_facts: Callable[[str], FileFacts | None]
    """The whole facts of one file: for the few questions that no summary answers."""
    is_alone: bool = False
    """It is one file, and nothing that lies beside it counts."""
    kept_answers: KeptAnswers | None = None
    """What files answered in earlier runs."""
    outside: Outside = field(default_factory=Outside)
    program: Program | None = None
    """The one program that counts, for a project seen by it alone."""
    views: dict[object, object] = field(default_factory=dict)
    """Answers to the questions of `cached`; the other ones are about single programs, and all copies share them."""

    @functools.cached_property
    def summaries(self) -> Mapping[str, FileSummary]:
        """The summaries of all the project's files, by path, without switches that the target torch lacks."""
        return {path: self._in_force(path, summary) for path, summary in self.load_summaries().items()}

    def _in_force(self, path: str, summary: FileSummary) -> FileSummary:
        if not summary.modes:
            return summary
        newest = self.target_for(path).newest
        kept = tuple(call for call in summary.modes if newest in VersionRange.parse(call.torch))
        return summary if len(kept) == len(summary.modes) else replace(summary, modes=kept)

    @functools.cached_property
    def manifests(self) -> Manifests:
        """What the project's files say of the packages they need."""
        images = self.catalogue.images
        return Manifests(self.root, self.requirement_files, self.sources, self.read, images, self.outside)

    @functools.cached_property
    def targets(self) -> Targets:
        """The torch releases that each file may run on."""
        root = None if self.is_alone else self.root
        return Targets(root, self.manifests, self.settings.torch, tuple(self.catalogue.releases), self.outside)

    def target_for(self, path: str) -> TorchTarget:
        """The torch releases that a file may run on: those of the nearest manifest, unless the configuration says."""
        return self.targets.of(path)

    def releases_of(self, library: Library, path: str) -> frozenset[str]:
        """The known releases of a library that a file may run on: all, where no manifest says."""
        if any(self.manifests.pins(path, package) is not None for package in library.replaced_by):
            return frozenset()
        packages = (library.package, *library.also_packaged_as)
        pins = next((pins for one in packages if (pins := self.manifests.pins(path, one)) is not None), None)
        return frozenset(library.releases) if pins is None else admitted(pins.specifiers, library.releases)

    @functools.cached_property
    def interview(self) -> Interview:
        """What single files answer, from their whole facts."""
        return Interview(self.load_facts, self.kept_answers)

    @functools.cached_property
    def texts(self) -> Texts:
        return Texts(self.contents, self.read, self.interview)
