"""What of a file a target needs, and what its project has to offer to the imports of that part."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from torchlint.config import Settings
from torchlint.recording.messages import Code, ProbedFinding, TargetKind
from torchlint.verify.hoisting import slice_before
from torchlint.verify.import_roots import import_roots
from torchlint.verify.loading import File, code_of
from torchlint.verify.registries import Registrations
from torchlint.verify.slicing import Slice, slice_around, slice_for

_ABOUT_PROGRAMS = frozenset({"TL301", "TL303"})
"""Rules about what a start of the whole program does."""


class Cutter:
    """Cuts files, and knows the import folders and registries of their projects."""

    def __init__(
        self, settings_of: Callable[[Path], Settings], files_of: Callable[[Path], Sequence[Path]] | None
    ) -> None:
        self._settings_of = settings_of
        self._files_of = files_of
        self._registrations = functools.cache(lambda root: Registrations(self._files(root)))
        self._import_roots = functools.cache(lambda root: import_roots(self._files(root), root))

    def code(self, file: File, cut: Slice) -> Code:
        root = self._settings_of(file.path).root
        folders = self._import_roots(root) if self._files(root) else ()
        return code_of(file, cut, root, folders, self._registrations(root).into_those_of(file, cut.text))

    def cut(self, file: File, kind: TargetKind, names: Iterable[str], probed: Sequence[ProbedFinding]) -> Slice:
        """The part of a file that runs one target for its findings."""
        text, line = file.source.text, probed[0].line
        probes = {probe for each in probed for probe in each.probes}
        if kind != "statement":
            return slice_for(file.tree, text, names)
        if "draws" in probes:
            return slice_before(file.tree, text, line)
        is_about_program = bool(_ABOUT_PROGRAMS & {each.code for each in probed})
        return slice_around(file.tree, text, line, surroundings="config" in probes, program=is_about_program)

    def _files(self, root: Path) -> Sequence[Path]:
        return self._files_of(root) if self._files_of else ()
