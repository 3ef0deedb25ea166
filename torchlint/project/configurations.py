"""The YAML files that programs are configured by: which of them a call loads, and whether a seed in one is read."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from torchlint.diagnostics import Location
from torchlint.facts.flow.tracker import follow
from torchlint.facts.flow.values import Exit, Value
from torchlint.facts.notation import symbol_of
from torchlint.facts.options.configurations import (
    Configuration,
    ConfiguredValue,
    configurations,
    loaded_values,
    values_in_loader,
)
from torchlint.facts.options.declared import KEPT, SEED
from torchlint.facts.options.settings import Keys, SettingsAnalysis
from torchlint.facts.values import Constant
from torchlint.project.outside import Outside
from torchlint.project.search_path import folders_above
from torchlint.project.shown import shown_path

if TYPE_CHECKING:
    import yaml

    from torchlint.facts.file import FileFacts
    from torchlint.project.index import Project

SUFFIXES = (".yaml", ".yml")
_JSON = ".json"
_LARGEST = 100_000
"""Bytes. What is larger is data, not a configuration, and PyYAML takes a second for five times as much."""
_INTEGER = "tag:yaml.org,2002:int"
_TEXT = "tag:yaml.org,2002:str"
_BOOLEAN = "tag:yaml.org,2002:bool"
_NULL = "tag:yaml.org,2002:null"


class ConfiguredSeed(msgspec.Struct, frozen=True):
    """A seed that a configuration sets, and where."""

    keys: Keys
    location: Location

    @property
    def name(self) -> str:
        return self.keys[-1]


class ConfigurationFiles:
    """The YAML files among `files`, and the JSON files that code names; all below `root`."""

    def __init__(self, root: Path, files: Sequence[Path], outside: Outside) -> None:
        self._root, self._outside = root, outside
        self._paths = {file.relative_to(root).as_posix() for file in files if file.suffix in SUFFIXES}
        self._texts: dict[str, str] = {}

    def seeds_for(self, configuration: Configuration, path: str) -> Iterator[ConfiguredSeed]:
        """The seeds in the files that `path` loads as this configuration."""
        for given in sorted(configuration.paths):
            file = self._file(given, path, is_beside=configuration.is_beside)
            if file is not None:
                yield from seeds_in(self._text(file), shown_path(self._root, file))

    def values_of(self, value: ConfiguredValue, path: str) -> list[Constant]:
        """The text or the truth value that an entry is in each of the files that `path` may load it from."""
        files = (self._file(given, path, is_beside=False) for given in value.paths)
        found = (entry_in(file, self._text(file), value.keys) for file in files if file is not None)
        return [one for one in found if one is not None]

    def defaults_of(self, name: str, configuration: Configuration, path: str) -> Iterator[Constant]:
        """What the files that `path` loads as this configuration give a key of this name, at whatever depth."""
        for given in sorted(configuration.paths):
            file = self._file(given, path, is_beside=configuration.is_beside)
            document = document_of(self._text(file)) if file is not None and name in self._text(file) else None
            for _, key, value in section_entries(document, ""):
                if key == name and value.id == "scalar":
                    yield _constant(value)

    def say(self, word: str) -> bool:
        """Whether one of the files holds a word: `_target_: data.Pictures`."""
        return any(re.search(rf"\b{re.escape(word)}\b", self._text(path)) for path in self._paths)

    def interpolates(self, name: str) -> bool:
        """Whether any file takes the value of a key of this name: `${seed}`, `{{ run.seed }}`."""
        pattern = re.compile(rf"(?:\$\{{|\{{\{{)[^}}\n]*\b{re.escape(name)}\b")
        return any(pattern.search(self._text(path)) for path in sorted(self._paths))

    def _file(self, given: str, path: str, *, is_beside: bool) -> str | None:
        """The only file that a path may mean: nobody knows in which folder the program is started."""
        folders = [posixpath.dirname(path)] if is_beside else folders_above(path)
        meant = {posixpath.normpath(posixpath.join(one, given)) for one in folders}
        # Most JSON files hold data: none is looked for.
        below = {one for one in meant if one.endswith(_JSON) and not one.startswith(("/", "../"))}
        found = meant & self._paths | {one for one in below if self._outside.is_file(self._root / one)}
        return found.pop() if len(found) == 1 else None

    def _text(self, path: str) -> str:
        if path not in self._texts:
            file = self._root / path
            self._texts[path] = text_in(file) if path in self._paths else _decoded(self._outside.data(file))
        return self._texts[path]


def text_in(file: Path) -> str:
    """What a file holds; nothing where it is too large to configure anything, or cannot be read."""
    try:
        return _decoded(file.read_bytes()) if file.stat().st_size <= _LARGEST else ""
    except OSError:
        return ""


def _decoded(data: bytes) -> str:
    try:
        return data.decode() if len(data) <= _LARGEST else ""
    except UnicodeDecodeError:
        return ""


def document_of(text: str) -> yaml.Node | None:
    """What a YAML text holds; None for text that is no single plain document."""
    import yaml  # noqa: PLC0415 - only programs that load a configuration need it

    try:
        # Nodes, not objects: nothing that the text names is made or called.
        return yaml.compose(text, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError):  # PyYAML lets out what odd escapes raise
        return None


def section_entries(document: yaml.Node | None, name: str) -> Iterator[tuple[str, str, yaml.Node]]:
    """The entries of all sections of a document that is called so, by the section and the key."""
    waiting, seen = [(document, name)], set[int]()
    while waiting:
        node, section = waiting.pop()
        if node is None or node.id != "mapping" or id(node) in seen:
            continue
        seen.add(id(node))
        for key, value in node.value:
            waiting.append((value, str(key.value)))
            yield section, str(key.value), value


def _constant(node: yaml.Node) -> Constant:
    if node.tag == _BOOLEAN:
        return node.value.lower() in ("true", "yes", "on")
    return None if node.tag == _NULL else str(node.value)


def entry_in(path: str, text: str, keys: Sequence[str]) -> str | bool | None:
    """The text or the truth value under some keys of a YAML or JSON document; None for all else, such as a number."""
    if path.endswith(_JSON):
        try:
            entry = json.loads(text)
        except (ValueError, RecursionError):
            return None
        for key in keys:
            entry = entry.get(key) if isinstance(entry, dict) else None
        return entry if isinstance(entry, (str, bool)) else None
    node = document_of(text)
    for key in keys:
        entries = node.value if node is not None and node.id == "mapping" else ()
        node = next((value for name, value in entries if name.value == key), None)
    return _constant(node) if node is not None and node.tag in (_TEXT, _BOOLEAN) else None  # type: ignore[return-value]


def seeds_in(text: str, shown: str) -> tuple[ConfiguredSeed, ...]:
    """The seeds that a YAML text sets to a number. Text that is no single plain document sets none."""
    document = document_of(text) if SEED.search(text) else None
    if document is None:
        return ()
    import yaml  # noqa: PLC0415 - only programs that load a configuration with a seed need it

    lines = text.splitlines()
    found, seen = [], set()
    waiting: list[tuple[yaml.Node | None, Keys | None]] = [(document, ())]
    while waiting:
        node, keys = waiting.pop()
        if id(node) in seen:
            return ()  # an alias: what stands under one key is read under another
        seen.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            waiting += [(item, None) for item in node.value]
        for key, value in node.value if isinstance(node, yaml.MappingNode) else ():
            path = None if keys is None or not isinstance(key, yaml.ScalarNode) else (*keys, key.value)
            waiting.append((value, path))
            is_chosen = value.tag == _INTEGER and not value.value.startswith("-")
            if path is not None and SEED.fullmatch(path[-1]) and is_chosen and not _is_kept(lines, key):
                start, end = key.start_mark, value.end_mark
                place = Location(shown, None, start.line + 1, start.column + 1, end.line + 1, end.column + 1)
                found.append(ConfiguredSeed(path, place))
    return tuple(sorted(found, key=lambda seed: seed.location))


def _is_kept(lines: Sequence[str], key: yaml.Node) -> bool:
    """Whether a comment on the line, or on the one above, says that the seed does nothing."""
    line = key.start_mark.line
    above = lines[line - 1].strip() if line else ""
    return KEPT.search(f"{lines[line]}\n{above if above.startswith('#') else ''}") is not None


def is_ignored(configuration: Configuration, entry: Keys, path: str, project: Project) -> bool:
    """Whether no code reads an entry of the file that `path` loads, wherever that is, but what stands beside it."""
    found = _followed(configuration, entry, path, project)
    if found is None or not any(one.is_section_used for one in found):
        return False
    others = [(other, one) for other, one in _loads(configuration, project) if one != configuration]
    return all(_followed(one, entry, other, project) is not None for other, one in others)


def _followed(loaded: Configuration, entry: Keys, path: str, project: Project) -> list[SettingsAnalysis] | None:
    """What follows a configuration in all files; None where one reads the entry, or it gets out of sight."""
    found, exits = list[SettingsAnalysis](), dict[Exit, None]()
    for facts, starts in _loaded(loaded, path, project):
        found.append(SettingsAnalysis(facts, entry))
        flow = follow(found[-1], *starts)
        if not starts or not flow.is_contained:
            return None
        exits |= dict.fromkeys(flow.exits)
    if loaded.loader is not None:
        given_back = Exit(loaded.loader.symbol, None, (), "")
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
        home = project.load_facts(symbol_of(configuration.loader.symbol)[0])
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
        yield from ((path, one) for one in summary.configurations if names & _names(one))


def _names(configuration: Configuration) -> frozenset[str]:
    return frozenset(posixpath.basename(path) for path in configuration.paths)


def _spelled(name: str) -> re.Pattern[bytes]:
    """How sources name a file: as the end of a string, or, for Hydra, as its name without a suffix."""
    file, stem = re.escape(name.encode()), re.escape(name.removesuffix(".yaml").encode())
    return re.compile(rb"config_name\s*=\s*[\"']%s(?:\.yaml)?[\"']|[\"'/\\]%s[\"']" % (stem, file))
