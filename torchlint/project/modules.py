"""The project's modules: from an import to the file it loads, and to that file's facts."""

from __future__ import annotations

import functools
import math
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from torchlint.facts.exports import interface_of
from torchlint.facts.file import FileFacts
from torchlint.facts.full_names import UNKNOWN, Names
from torchlint.facts.graphs import reached
from torchlint.facts.scopes import ImportTarget
from torchlint.project.configured_classes import ConfiguredClasses
from torchlint.project.search_path import Folders, Hints, folders_of, hints_in
from torchlint.project.shelf import Shelf
from torchlint.source.text import is_notebook

_ALL = math.inf
_MOST_OF_TREES, _MOST_OF_INTERFACES = 8_000_000, 300_000
"""Characters of files whose trees stay at hand: each takes about 35 bytes, in a tree that judges ask up to 200."""
_FEWER_A_FILE, _LEAST_OF_TREES = 3_500, 250_000
"""Characters that each file of a project takes from that, for what it says; and how many are left in any case."""


class ModuleIndex:
    """Finds project modules among `paths` (POSIX, relative to the root) and loads their facts on demand.

    `load` reads the facts of a path, or of its interface, or returns None for a file that cannot be read. `root_name`
    is the name of the root folder, needed when the root itself is a package. `sources` are the texts, read only for an
    import that leads nowhere else, and `configurations` the files that may name classes.
    """

    def __init__(
        self,
        paths: Iterable[str],
        root_name: str,
        load: Callable[[str, str | None, ModuleIndex], FileFacts | None],
        sources: Callable[[], Iterable[tuple[str, bytes]]] = tuple,
        configurations: Sequence[Path] = (),
    ) -> None:
        self.paths = frozenset(path for path in paths if path.endswith(".py"))
        self._root_package = root_name if "__init__.py" in self.paths else None
        self._load = load
        self._sources = sources
        self._configured = ConfiguredClasses(configurations)
        self.kept_interface: Callable[[str], bytes | None] = lambda _: None
        """What an earlier run knows."""
        self.interfaces: dict[str, bytes] = {}
        """Of the files that were read."""
        self._own: FileFacts | None = None
        self._unreadable: set[str] = set()
        most = max(_MOST_OF_TREES - _FEWER_A_FILE * len(self.paths), _LEAST_OF_TREES)
        self._trees, self._faces = Shelf(most), Shelf(_MOST_OF_INTERFACES)
        """The whole facts of files, and those of interfaces."""
        self._exported: dict[tuple[str, str], Names] = {}
        self._bound: dict[str, frozenset[str]] = {}
        """All names of a module without star imports: what more it is asked for, it does not have."""
        self.asked: dict[tuple[str, str], int] = {}
        """Modules and the names that they are asked for, each by the one before, with how many these are."""
        self._whole_up_to: float = _ALL
        """What is asked at this level is cut short by a circle."""
        self._consulted: dict[str, set[str]] = {}
        self._gone_through: dict[str, set[str]] = {}
        self._located: dict[tuple[str, str, bool], tuple[str, ...]] = {}
        self._matched: dict[tuple[str, str], tuple[str, ...]] = {}
        self._first_names = {part.removesuffix(".py") for path in self.paths for part in path.split("/")}
        self._first_names |= {self._root_package} if self._root_package else set()

    def asked_by(self, path: str) -> AskedModules:
        """The same modules, where it is remembered which of them a file reads."""
        read, gone_through = self._consulted.setdefault(path, set()), self._gone_through.setdefault(path, set())
        return AskedModules(self, read, gone_through)

    def consulted_by(self, path: str) -> tuple[str, ...]:
        """The files whose text what a file says hangs on, beside its own: those it read, and those that these read."""
        return tuple(sorted(reached([path], lambda one: self._consulted.get(one, ()))[1:]))

    def gone_through_by(self, path: str) -> tuple[str, ...]:
        """Those of them that were asked for all their names."""
        asking = (path, *self.consulted_by(path))
        return tuple(sorted({one for each in asking for one in self._gone_through.get(each, ())}))

    def at(self, path: str) -> FileFacts | None:
        """The facts of a project file as other files may ask them: of its interface, or of more than that."""
        is_own = self._own is not None and self._own.path == path
        facts = self._own if is_own else self._trees.get(path) or self._faces.get(path)
        return self._opened(path) if facts is None and path not in self._unreadable else facts

    def _opened(self, path: str) -> FileFacts | None:
        interface = self.interfaces[path] if path in self.interfaces else self.kept_interface(path)
        if interface is None:
            return self.read(path)
        facts = self._load(path, interface.decode(), self)
        if facts is not None:
            for old in self._faces.put(facts):
                old.forget()
        return facts

    def read(self, path: str) -> FileFacts | None:
        """The whole facts of a file."""
        facts = self._trees.get(path)
        if facts is None:
            facts = self._load(path, None, self)
            if facts is None:
                self._unreadable.add(path)
            else:
                self._keep(facts)
        return facts

    @property
    def has_room(self) -> bool:
        """Whether what is read now stays at hand: no facts had to go yet."""
        return not self._trees.is_full

    def at_hand(self, path: str) -> FileFacts | None:
        """The whole facts of a file, if it was read before."""
        return self._trees.get(path)

    def own(self, path: str, read: Callable[[], FileFacts]) -> FileFacts:
        """The whole facts of a file for its own check, until `put_back`."""
        self._own = facts = self._trees.take(path) or read()
        return facts

    def put_back(self, path: str) -> FileFacts | None:
        """Done with a file that `own` gave: from now on others ask for it. None for one that could not be read."""
        facts, self._own = self._own, None
        if facts is None or facts.path != path:
            return None  # a check before may have broken
        facts.forget()
        self._keep(facts, is_spare=True)
        return facts

    def _keep(self, facts: FileFacts, *, is_spare: bool = False) -> None:
        """What was checked goes first: of that, an interface is enough for most that others ask."""
        for old in self._trees.put(facts, is_spare=is_spare):
            self.interface_of(old)
            old.forget()

    def interface_of(self, facts: FileFacts) -> bytes:
        """What others read of a file, from now on without its tree."""
        if facts.path not in self.interfaces:
            self.interfaces[facts.path] = interface_of(facts.source.text, facts.tree).encode()
        return self.interfaces[facts.path]

    def close(self) -> None:
        """Nothing more is asked: trees and modules hold each other, and no collector runs."""
        for shelf in (self._trees, self._faces):
            shelf.clear()

    def exported(self, path: str, name: str) -> Names:
        """What other files get when they import a name from a project file.

        Where modules import from each other in a circle, what is asked for on the way round is told without the rest,
        and not remembered: it would hang on who asked first.
        """
        key = path, name
        if key in self._exported:
            return self._exported[key]
        bound = self._bound.get(path)
        if bound is not None and name not in bound:
            return UNKNOWN
        if key in self.asked:
            self.cut_short(self.asked[key] + 1)
            return UNKNOWN
        level, whole = len(self.asked), self._whole_up_to
        self.asked[key], self._whole_up_to = level, _ALL
        try:
            facts = self.at(path)
            found = UNKNOWN if facts is None else facts.resolver.exported(name)
            if facts is not None and not facts.symbols.scopes[0].stars:
                self._bound.setdefault(path, frozenset(facts.symbols.scopes[0].bindings))
        finally:
            del self.asked[key]
            is_whole = self._whole_up_to > level
            self._whole_up_to = whole if is_whole else min(whole, self._whole_up_to)
        if is_whole:
            self._exported[key] = found
        return found

    def cut_short(self, level: int) -> None:
        """What was asked at this level or later is not answered in full."""
        self._whole_up_to = min(self._whole_up_to, level)

    def locate_submodule(self, package: str, name: str) -> str | None:
        """The path of that module, without reading it."""
        folder, _, file = package.rpartition("/")
        return self._module_file(folder, name) if file == "__init__.py" else None

    def locate(self, target: ImportTarget, importer: str) -> str | None:
        """The path of the module that an import names, without reading it."""
        if target.level:
            folder = importer
            for _ in range(target.level):
                folder = folder.rpartition("/")[0]
            return self._module_file(folder, target.module)
        if target.module.partition(".")[0] not in self._first_names:
            return None
        key = (importer.rpartition("/")[0], target.module, is_notebook(importer))
        if key not in self._located:
            self._located[key] = tuple(dict.fromkeys(self._search(*key)))
        return next((path for path in self._located[key] if path != importer), None)  # nothing imports itself so

    def matching(self, pattern: str, importer: str) -> tuple[str, ...]:
        """The modules whose dotted names match, as `importer` would write them; after a dot, from its folder."""
        folder = importer.rpartition("/")[0]
        key = (folder, pattern)
        if key not in self._matched:
            is_own = pattern.startswith(r"\.")
            bases = [folder] if is_own else dict.fromkeys((*self._search_path(folder), folder))
            matches = re.compile(pattern.removeprefix(r"\.")).fullmatch
            found = (path for base in bases for path in self._below(base) if matches(_dotted(path, base)))
            self._matched[key] = tuple(sorted(dict.fromkeys(found)))
        return self._matched[key]

    def configured(self, section: str, *, inside: bool) -> tuple[str, ...]:
        """The full names of the classes that configurations name in sections of this name, or inside of them."""
        return self._configured.within(section) if inside else self._configured.of(section)

    def _below(self, folder: str) -> Iterator[str]:
        prefix = f"{folder}/" if folder else ""
        return (path for path in self.paths if path.startswith(prefix))

    def _search(self, folder: str, module: str, from_notebook: bool) -> Iterator[str]:  # noqa: FBT001 - see `_located`
        first, _, rest = module.partition(".")
        if first == self._root_package:
            found = [self._module_file("", rest)]
        else:
            bases = [*([folder] if from_notebook else []), *self._search_path(folder)]
            # A script in a package is run from its own folder, too; elsewhere a bare name is mostly a library's.
            is_own = first not in sys.stdlib_module_names and ("." in module or folder in self.folders.scripts)
            found = [self._module_file(base, module) for base in [*bases, *([folder] if is_own else [])]]
        yield from (path for path in found if path is not None)

    def _search_path(self, folder: str) -> Iterator[str]:
        """The folders Python would look in: the script's or its package's parent, the root, `src`, and added ones."""
        top = folder
        while top and f"{top}/__init__.py" in self.paths:
            top = top.rpartition("/")[0]
        yield top
        yield ""
        yield "src"
        yield from (added.folder for added in self.folders.added if added.is_seen_from(folder))

    @functools.cached_property
    def folders(self) -> Folders:
        """Where programs start, and which folders they add to the search path."""
        return self.folders_said_by((path, hints_in(path, data)) for path, data in self._sources())

    def folders_said_by(self, hints: Iterable[tuple[str, Hints]]) -> Folders:
        """These, of what each source says; whoever knows that already says it."""
        self.folders = folders_of(hints, self.paths)
        return self.folders

    def _module_file(self, folder: str, module: str) -> str | None:
        parts = [part for part in (folder, module.replace(".", "/")) if part]
        base = "/".join(parts)
        for candidate in (f"{base}/__init__.py" if base else "__init__.py", f"{base}.py"):
            if candidate in self.paths:
                return candidate
        return None


class AskedModules:
    """The modules of a project as one file asks for them: each file that is read for it goes into `read`."""

    def __init__(self, index: ModuleIndex, read: set[str], gone_through: set[str]) -> None:
        self._index = index
        self._read = read
        self._gone_through = gone_through
        self.locate, self.locate_submodule = index.locate, index.locate_submodule
        self.matching, self.configured = index.matching, index.configured
        self.cut_short = index.cut_short

    @property
    def level(self) -> int:
        return len(self._index.asked)

    def at(self, path: str) -> FileFacts | None:
        self._read.add(path)
        return self._index.at(path)

    def whole(self, path: str) -> FileFacts | None:
        self._gone_through.add(path)
        return self.at(path)

    def find(self, target: ImportTarget, importer: str) -> FileFacts | None:
        located = self.locate(target, importer)
        return None if located is None else self.at(located)

    def exported(self, path: str, name: str) -> Names:
        self._read.add(path)
        return self._index.exported(path, name)


def _dotted(path: str, base: str) -> str:
    """What an import calls a file that lies below a folder of the search path."""
    inner = path[len(base) + 1 :] if base else path
    return inner.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
