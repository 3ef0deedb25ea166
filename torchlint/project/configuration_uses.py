"""What becomes of a configuration in a whole project: it is followed from file to file, as it is handed on."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from torchlint.facts.flow.tracker import follow
from torchlint.facts.flow.values import Exit, Value
from torchlint.facts.options.configurations import Configuration, configurations, loaded_values, values_in_loader
from torchlint.facts.options.settings import Keys, SettingsAnalysis

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts
    from torchlint.project.index import Project


def is_ignored(configuration: Configuration, entry: Keys, path: str, project: Project) -> bool:
    """Whether no code reads an entry of the file that `path` loads, wherever that is, but what stands beside it."""
    found = _followed(configuration, entry, path, project)
    if found is None or not any(one.is_section_used for one in found):
        return False
    others = [(other, one) for other, one in _loads(configuration, project) if one != configuration]
    return all(_followed(one, entry, other, project) is not None for other, one in others)


def _followed(
    configuration: Configuration, entry: Keys, path: str, project: Project
) -> Sequence[SettingsAnalysis] | None:
    """What follows a configuration in all files; None where one reads the entry, or it gets out of sight."""
    found, exits = list[SettingsAnalysis](), dict[Exit, None]()
    for facts, starts in _loaded(configuration, path, project):
        found.append(SettingsAnalysis(facts, entry))
        flow = follow(found[-1], *starts)
        if not starts or not flow.is_contained:
            return None
        exits |= dict.fromkeys(flow.exits)
    if configuration.loader is not None:
        given_back = Exit(configuration.loader.symbol, None, (), "")
        if given_back not in exits:
            return None
        del exits[given_back]
    beyond = project.flows.contained(exits, lambda facts: SettingsAnalysis(facts, entry))
    return None if beyond is None else [*found, *beyond]


def _loaded(configuration: Configuration, path: str, project: Project) -> Iterator[tuple[FileFacts, list[Value]]]:
    """Where a configuration begins: in the file that asks for it, and in one whose function loads it."""
    facts = project.load_facts(path)
    if facts is not None:
        found = facts.cached(configurations).items()
        calls = [call for call, one in found if one == configuration]
        yield facts, [value for call in calls for value in loaded_values(facts, call)]
    if configuration.loader is not None:
        home = project.load_facts(configuration.loader.symbol.partition("::")[0])
        if home is not None:
            yield home, values_in_loader(home, configuration.loader)


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
