"""Folders that Python finds modules in besides the usual: what programs put on `sys.path`, and where they lie."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterable, Iterator

import msgspec

_CHANGED = re.compile(rb"^[ \t]*\"?[ \t]*(?:\w+\.)?path\.(?:append|insert|extend)\((?P<arguments>[^\n]*)", re.MULTILINE)
"""Whatever `sys` is imported as. In a notebook a line of code begins with a quotation mark."""
_JOINED = re.compile(rb"(?:join\(|__file__|\.parent|getcwd)[^\n]*")
"""The rest of a line that makes a path, which the change may ask by a name: `lib = join(here, "..", "lib")`."""
_TEXT = re.compile(rb"[\"']([\w./-]+?)\\?[\"']")
_CHANGES = (b"path.append(", b"path.insert(", b"path.extend(")
_STARTED = re.compile(
    rb"^(?:if[ (]+__name__|(?:\w+(?:, ?\w+)? ?= ?)?(?:\w+\.)?parse_(?:known_)?args\(|main\()", re.MULTILINE
)
"""A main guard, or what only a script does where everybody who imports it would do it too."""
_STARTING = (b"__name__", b"parse_", b"main(")
_FARTHEST = 2
"""How many folders above a file are taken for those it adds by `dirname(dirname(__file__))` and the like."""


class AddedFolder(msgspec.Struct, frozen=True, order=True):
    """A folder that a file in `by` adds."""

    folder: str
    by: str

    def is_seen_from(self, importer: str) -> bool:
        """Whether code in this folder may be loaded after the addition: it lies beside, below, or in what was added."""
        return any(not at or importer == at or importer.startswith(f"{at}/") for at in (self.by, self.folder))


class Folders(msgspec.Struct, frozen=True):
    """What sources say of where Python looks for modules."""

    scripts: frozenset[str]
    """Those with a file that is a script: Python looks there first when such a file is started."""
    added: tuple[AddedFolder, ...]
    """The project's folders that sources add, counted from themselves or from the root, sorted."""


class Hints(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What one source says of it."""

    is_script: bool = False
    named: tuple[str, ...] = ()
    """What it may add to `sys.path`, as folders from the root."""


def hints_in(path: str, data: bytes) -> Hints:
    is_script = any(part in data for part in _STARTING) and _STARTED.search(data) is not None
    return Hints(is_script, tuple(dict.fromkeys(_named(path, data))))


def folders_of(hints: Iterable[tuple[str, Hints]], paths: Collection[str]) -> Folders:
    """What all sources say together, of the folders that there are."""
    folders = {folder for path in paths for folder in folders_above(path)}
    scripts, added = set[str](), set[AddedFolder]()
    for path, said in hints:
        home = posixpath.dirname(path)
        if said.is_script:
            scripts.add(home)
        added |= {AddedFolder(folder, home) for folder in said.named if folder in folders}
    return Folders(frozenset(scripts), tuple(sorted(added)))


def _named(path: str, data: bytes) -> Iterator[str]:
    is_changed = any(change in data for change in _CHANGES)
    changes = [match["arguments"] for match in _CHANGED.finditer(data)] if is_changed else []
    if not changes:
        return
    made = [match[0] for match in _JOINED.finditer(data)]
    above = [*filter(None, folders_above(path))][1 : 1 + _FARTHEST]
    yield from above if any(b"__file__" in line or b"getcwd" in line for line in made) else ()
    for line in (*changes, *made):
        parts = [part.decode() for part in _TEXT.findall(line)]
        if parts:
            yield from (posixpath.normpath(posixpath.join(base, *parts)) for base in (posixpath.dirname(path), ""))


def folders_above(path: str) -> Iterator[str]:
    """The folders around a path, the nearest first; the root is the empty string."""
    while path:
        path = posixpath.dirname(path)
        yield path
