"""What becomes of a configuration in a whole project: it is followed from file to file, as it is handed on."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from torchlint.facts.options.configuration_uses import Uses, uses_of_handed
from torchlint.facts.options.configurations import Configuration, uses_in_loader
from torchlint.project.imports import is_reached, names_imported

if TYPE_CHECKING:
    from torchlint.project.index import Project

_MOST = 60
"""Functions of other files: a configuration that goes through more is one that everything may read."""


def uses_in_project(configuration: Configuration, path: str, project: Project) -> Uses | None:
    """What becomes of a configuration that `path` loads; None where it gets out of sight anywhere."""
    whole = configuration.uses
    if not _is_seen(whole, path, project):
        return None
    if configuration.loader is not None:
        home = configuration.loader.function.partition("::")[0]
        facts = project.load_facts(home)
        loading = None if facts is None else uses_in_loader(facts, configuration.loader)
        if loading is None or not _is_seen(loading, home, project):
            return None
        whole = replace(whole, used=whole.used | loading.used, handed=whole.handed | loading.handed)
    waiting, seen = list(whole.handed), set()
    while waiting:
        handed = waiting.pop()
        if handed in seen:
            continue
        seen.add(handed)
        other = handed.function.partition("::")[0]
        facts = project.load_facts(other) if len(seen) <= _MOST else None
        uses = None if facts is None else uses_of_handed(facts, handed)
        if uses is None or not _is_seen(uses, other, project):
            return None
        waiting += uses.handed
        whole = replace(whole, used=whole.used | uses.used)
    return whole


def is_loaded_elsewhere(configuration: Configuration, project: Project) -> bool:
    """Whether the sources name the file more often than they load it in sight: another program may hand it on."""
    spelled = sum(project.texts.count_of(_spelled(name)) for name in _names(configuration))
    return spelled > sum(1 for _ in _loads(configuration, project))


def loading_files(configuration: Configuration, project: Project) -> frozenset[str]:
    """The sources that load the file, or another of its name."""
    return frozenset(path for path, _ in _loads(configuration, project))


def _loads(configuration: Configuration, project: Project) -> Iterator[tuple[str, Configuration]]:
    """Each load of a file of this name, with the source that does it."""
    names = _names(configuration)
    for path, summary in project.summaries.items():
        for one in summary.configurations:
            if names & _names(one):
                yield path, one


def _names(configuration: Configuration) -> frozenset[str]:
    return frozenset(posixpath.basename(path) for path in configuration.paths)


def _spelled(name: str) -> re.Pattern[bytes]:
    """How sources name a file: as the end of a string, or, for Hydra, as its name without a suffix."""
    file, stem = re.escape(name.encode()), re.escape(name.removesuffix(".yaml").encode())
    return re.compile(rb"config_name\s*=\s*[\"']%s(?:\.yaml)?[\"']|[\"'/\\]%s[\"']" % (stem, file))


def _is_seen(uses: Uses, path: str, project: Project) -> bool:
    """Whether no file that imports this one gets at the configuration by itself."""
    if not names_imported(project, path):
        return True
    if is_reached(project, path, uses.shared):
        return False
    bases = {base for summary in project.summaries.values() for _, base in summary.bases}
    if any(f"{path}::{owner}" in bases for owner, _ in uses.attributes):
        return False
    return not any(project.texts.read_from_outside(attribute, path) for _, attribute in uses.attributes)
