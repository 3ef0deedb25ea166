"""What the sources of a project say in so many words: a cheap look, for the few questions that no summary answers."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Collection, Iterable, Iterator

from torchlint.facts.entries import is_test
from torchlint.facts.file import FileFacts
from torchlint.project.answers import Interview

_DEVICES = (b"mps", b"xpu")
"""Words that say more than that a file is worth a closer look: a comment is not enough."""
_TELLING = {
    b"determinis": re.compile(rb"determinis(?=tic|m)"),
    **{word: re.compile(rb"%s\b(?:(?<=[\"']%s)|(?<=\btorch\.%s))" % (word, word, word)) for word in _DEVICES},
}
"""By what a source has to have for it: that is found sooner."""
_KEPT = 8_000_000
"""Bytes of sources that are kept: one value after another asks all of them. What came last is read again."""


Contents = Callable[[], Iterator[tuple[str, bytes]]]
"""What gives every source of a project, by path."""


class Texts:
    """The sources, by path. A text counts where it stands in code, never in a comment."""

    def __init__(self, contents: Contents, read: Callable[[str], bytes], interview: Interview) -> None:
        self._contents = contents
        self._from_disk, self._interview = read, interview
        self._kept, self._room = dict[str, bytes](), _KEPT

    @functools.cached_property
    def words(self) -> frozenset[str]:
        """Which telling words the code holds."""
        found = set[bytes]()
        for path, data in self._contents():
            for word in [one for one in _TELLING.keys() - found if one in data]:
                text = _TELLING[word]
                if self._found(text, path, data) if word in _DEVICES else text.search(data):
                    found.add(word)
            if len(found) == len(_TELLING):
                break
        return frozenset(word.decode() for word in found)

    def call(self, names: Collection[str]) -> bool:
        """Whether some source calls one of these functions, by their full names."""
        parts = [(name.partition(".")[0].encode(), name.rpartition(".")[2].encode()) for name in names]
        for path, data in self._contents():
            if not any(library in data and function in data for library, function in parts):
                continue
            question = ("calls", sorted(names))
            if self._interview.answer(path, question, bool, lambda facts: _calls(facts, names)):
                return True
        return False

    def speak_of(self, name: str, paths: frozenset[str]) -> bool:
        """Whether one of these sources has an attribute, a key or a string of this name; calls (`.seed()`) are none."""
        spoken = re.compile(rb"[\"'.]%s\b(?!\s*\()" % re.escape(name.encode()))
        return any(self._found(spoken, path, data) for path, data in self._contents() if path in paths)

    def name_attribute(self, name: str, paths: frozenset[str]) -> bool:
        """Whether one of these sources names an attribute, or has it for a text."""
        named = re.compile(rb"[\"'.]%s\b" % re.escape(name.encode()))
        return any(self._found(named, path, self._read(path)) for path in sorted(paths))

    def count_of(self, text: re.Pattern[bytes]) -> int:
        """How often a text stands in the sources, tests left out."""
        return sum(len(self._found(text, path, data)) for path, data in self._contents() if not is_test(path))

    def naming(self, word: str, paths: Iterable[str]) -> list[str]:
        """Those of these sources that have a word, be it in a comment."""
        part, whole = word.encode(), re.compile(rb"\b%s\b" % re.escape(word.encode()))
        return [path for path in sorted(paths) if part in (data := self._read(path)) and whole.search(data)]

    def import_module(self, stem: str, path: str) -> bool:
        """Whether a line of a source imports what is called so."""
        line = rb"^[ \t]*(?:from|import)\b[^\n#]*\b%s\b" % re.escape(stem.encode())
        return re.search(line, self._read(path), re.MULTILINE) is not None

    def say(self, word: str, paths: Iterable[str]) -> bool:
        """Whether the code of one of these sources has a word."""
        whole = re.compile(rb"\b%s\b" % re.escape(word.encode()))
        return any(self._found(whole, path, self._read(path)) for path in self.naming(word, paths))

    def named_outside(self, attribute: str, path: str) -> bool:
        """Whether any other source than `path` names an attribute, be it of its own `self`."""
        named = re.compile(rb"\.%s\b" % re.escape(attribute.encode()))
        return any(self._found(named, other, data) for other, data in self._contents() if other != path)

    def _read(self, path: str) -> bytes:
        data = self._kept.get(path)
        if data is None:
            data = self._from_disk(path)
            if len(data) <= self._room:
                self._kept[path] = data
                self._room -= len(data)
        return data

    def _found(self, text: re.Pattern[bytes], path: str, data: bytes) -> list[bytes]:
        """Where a source's code has a text. Only what has it anywhere, comments included, is parsed for that."""
        return text.findall(self._code_of(path, data)) if text.search(data) else []

    def _code_of(self, path: str, data: bytes) -> bytes:
        """A source without its comments; as it stands where it cannot be parsed."""
        code = self._interview.answer(path, "code", str, lambda facts: facts.code)
        return data if code is None else code.encode()


def _calls(facts: FileFacts, names: Collection[str]) -> bool:
    return any(not facts.names(site.node.func, site.scope).names.isdisjoint(names) for site in facts.symbols.calls)
