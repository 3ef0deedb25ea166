"""What an audit leaves out: the files it could not read, the packages it did not open, and what only a run can show."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import PurePosixPath

from torchlint.audit.material import Material, counted, listed
from torchlint.diagnostics import Diagnostic
from torchlint.facts.entries import EntryKind

_MOST_PACKAGES = 12
_BESIDE = frozenset({"torch", "numpy", "__main__"})
"""Packages that torchlint knows without opening them."""


def unseen(material: Material) -> tuple[str, ...]:
    return tuple(_cuts(material))


def _cuts(material: Material) -> Iterator[str]:
    unreadable = sorted({path for found in material.findings({"TL001"}) for path in _places_of(found)})
    if unreadable:
        yield f"Not read, or read only in part, because it does not parse: {listed(unreadable)}."
    packages = sorted(packages_of(material))
    if packages:
        yield f"The code of installed packages is not read: {listed(packages, _MOST_PACKAGES)}."
    files = counted(len(material.program.files), "file")
    yield (
        f"Calls are followed by name, through {files}. What is built at run time "
        "(`getattr`, registries, configuration files, models of libraries that were not measured) is not followed."
    )
    yield "A device, element type or shape that is decided at run time is assumed to be the usual one."
    if material.program.entry.kind is EntryKind.NOTEBOOK:
        yield "Cells are read in the order of the file, which may not be the order in which they ran."
    if material.report.suppressed:
        yield f"{counted(material.report.suppressed, 'finding')} silenced by comments or by the configuration."
    if material.report.hidden:
        yield f"{counted(material.report.hidden, 'finding')} hidden by settings because of low confidence or severity."
    yield "Nothing on this page promises equal numbers on other hardware, drivers, releases or batch sizes."


def _places_of(found: Diagnostic) -> Iterator[str]:
    yield found.location.path
    yield from (related.location.path for related in found.related)


def packages_of(material: Material) -> set[str]:
    """Packages from outside that the program's files import."""
    own = {PurePosixPath(part).stem for path in material.project.sources for part in path.split("/")}
    own |= {material.project.root.name}
    imported = {name for summary in material.summaries for name in summary.libraries if name}
    return imported - own - sys.stdlib_module_names - _BESIDE
