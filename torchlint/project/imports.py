"""What the files of a project ask of each other when they import."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torchlint.project.index import Project


def names_imported(project: Project, path: str) -> frozenset[str]:
    """What other files ask of a file by importing it, the empty name where one may ask anything."""
    return project.once(_names_imported).get(path, frozenset())


def is_reached(project: Project, path: str, shared: Collection[str]) -> bool:
    """Whether a file that imports `path` gets at any of these: its names, and `.attributes` of its objects."""
    imported = names_imported(project, path)
    attributes = [name[1:] for name in shared if name.startswith(".")] if imported else []
    is_named = bool(shared) and ("" in imported or not imported.isdisjoint(shared))
    return is_named or any(project.texts.read_from_outside(name, path) for name in attributes)


def _names_imported(project: Project) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for summary in project.summaries.values():
        for one in summary.imports:
            found[one.path].add(one.name)
    return {path: frozenset(names) for path, names in found.items()}
