"""What becomes of a configuration in a whole project: it is followed from file to file, as it is handed on."""

from __future__ import annotations

import posixpath
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from torchlint.facts.options.configuration_uses import Uses, uses_of_handed
from torchlint.facts.options.configurations import Configuration, uses_in_loader

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
    names = {posixpath.basename(path) for path in configuration.paths}
    known = [
        one
        for summary in project.summaries.values()
        for one in summary.configurations
        if one.is_beside == configuration.is_beside and names & {posixpath.basename(path) for path in one.paths}
    ]
    return sum(project.count_of(_spelled(name, configuration)) for name in names) > len(known)


def _spelled(name: str, configuration: Configuration) -> re.Pattern[bytes]:
    """How sources name a file: as the end of a string, or, for Hydra, as its name without a suffix."""
    if configuration.is_beside:
        stem = re.escape(name.removesuffix(".yaml").encode())
        return re.compile(rb"config_name\s*=\s*[\"']%s(?:\.yaml)?[\"']" % stem)
    return re.compile(rb"[\"'/\\]%s[\"']" % re.escape(name.encode()))


def _is_seen(uses: Uses, path: str, project: Project) -> bool:
    """Whether no file that imports this one gets at the configuration by itself."""
    if not project.is_imported(path):
        return True
    if uses.is_shared:
        return False
    bases = {base for summary in project.summaries.values() for _, base in summary.bases}
    if any(f"{path}::{owner}" in bases for owner, _ in uses.attributes):
        return False
    return not any(project.reads_from_outside(attribute, path) for _, attribute in uses.attributes)
