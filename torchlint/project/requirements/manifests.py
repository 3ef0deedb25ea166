"""Which file says what a source file needs: the nearest manifest that names the package."""

from __future__ import annotations

import functools
import posixpath
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from torchlint.facts.grouping import grouped
from torchlint.facts.memoizing import memoized
from torchlint.project.answers import Answering
from torchlint.project.outside import Outside
from torchlint.project.requirements import commands, pyproject
from torchlint.project.requirements.specifiers import clean, in_environment, in_requirements, in_setup_py, text_of
from torchlint.project.search_path import folders_above

_ORDER = ("pyproject.toml", "requirements", "setup.cfg", "setup.py", "Pipfile", "lock", "env", "conda", "ocker")
"""Parts of names: of the manifests in one folder the first speaks, and what none of these is part of comes last."""


class Pins(msgspec.Struct, frozen=True):
    """What one manifest says of a package: specifiers that hold together, as far as they do not exclude each other."""

    manifest: str
    """Relative to the root."""
    specifiers: tuple[str, ...]


@dataclass(eq=False)
class Manifests(Answering):
    """The manifests of a project, each for the sources of its folder.

    A manifest in a folder that holds no source, such as `docker/Dockerfile` and `requirements/base.txt`, speaks for
    the folder above. `read` gives the bytes of a source, for what a notebook installs itself.
    """

    root: Path
    files: Sequence[Path]
    sources: Collection[str]
    read: Callable[[str], bytes]
    images: Mapping[str, str]
    outside: Outside

    @functools.cached_property
    def _by_folder(self) -> dict[str, list[str]]:
        known = {folder for path in self.sources for folder in folders_above(path)}
        ranked = sorted((file.relative_to(self.root).as_posix() for file in self.files), key=_rank)
        return grouped((next((f for f in folders_above(file) if f in known), ""), file) for file in ranked)

    def pins(self, path: str, package: str) -> Pins | None:
        """What the nearest manifest of a source that names the package says of it; a notebook may say so itself."""
        if path.endswith(".ipynb"):
            specifiers = _cleaned(commands.in_notebook(self.read(path), package))
            if specifiers:
                return Pins(path, specifiers)
        return self._nearest(posixpath.dirname(path), package)

    @memoized
    def _nearest(self, folder: str, package: str) -> Pins | None:
        for above in (folder, *folders_above(folder)):
            for manifest in self._by_folder.get(above, ()):
                pins = self._in_manifest(manifest, package)
                if pins.specifiers:
                    return pins
        every = sorted((file for files in self._by_folder.values() for file in files), key=lambda f: (f.count("/"), f))
        found = [pins for file in every if (pins := self._in_manifest(file, package)).specifiers]
        return found[0] if len({pins.specifiers for pins in found}) == 1 else None

    @memoized
    def _in_manifest(self, file: str, package: str) -> Pins:
        path = self.root / file
        return Pins(file, _cleaned(self._specifiers(path, text_of(path), package)))

    def _specifiers(self, path: Path, text: str, package: str) -> Iterator[str]:
        name = path.name
        if name in _OF_TEXT:
            return _OF_TEXT[name](text, package)
        if name.endswith(".lock") or name.startswith("pylock"):
            return pyproject.in_lock(text, package)
        if path.suffix in (".yml", ".yaml"):
            return in_environment(path, text, package, self.outside)
        if path.suffix in (".sh", ".bash", ".zsh"):
            return commands.in_commands(text, package)
        if path.suffix in (".txt", ".cfg"):
            return in_requirements(path, text, package, self.outside)
        return commands.in_dockerfile(text, package, self.images)


_OF_TEXT: Mapping[str, Callable[[str, str], Iterator[str]]] = {
    "pyproject.toml": pyproject.in_pyproject,
    "setup.py": in_setup_py,
    "Pipfile": pyproject.in_pipfile,
    "Pipfile.lock": pyproject.in_pipfile_lock,
}


def _cleaned(specifiers: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, map(clean, specifiers))))


def _rank(file: str) -> tuple[int, int, str]:
    name = "/".join(file.split("/")[-2:]) if "requirements/" in file else posixpath.basename(file)
    order = next((index for index, part in enumerate(_ORDER) if part in name), len(_ORDER))
    return order, len(file), file
