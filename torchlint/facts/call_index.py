"""The calls of a file by what they are of: a question about calls looks at those alone that it may be about."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING

from torchlint.facts.tree import last_word

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts
    from torchlint.facts.scopes import CallSite

Places = dict[str, list[int]]
"""Numbers of calls, in source order."""


class CallIndex:
    """`facts.calls` has the file's own."""

    def __init__(self, facts: FileFacts) -> None:
        self._facts = facts
        self._sites = facts.symbols.calls

    def find(
        self, *, names: Iterable[str] = (), words: Iterable[str] = (), keywords: Iterable[str] = ()
    ) -> list[CallSite]:
        """The calls of what may be one of these, by full name, or is written with one of these words last.

        Those that get one of these keywords count as well. In source order.
        """
        found: set[int] = set()
        for asked, known in ((names, "names"), (words, "words"), (keywords, "keywords")):
            if asked:
                places: Places = getattr(self, known)
                for key in places.keys() & asked:
                    found.update(places[key])
        return [self._sites[place] for place in sorted(found)]

    @functools.cached_property
    def names(self) -> Places:
        """By all that is called, in full."""
        found: Places = defaultdict(list)
        for place, site in enumerate(self._sites):
            for name in self._facts.names(site.node.func, site.scope).names:
                found[name].append(place)
        return found

    @functools.cached_property
    def words(self) -> Places:
        """By the last word of what is called; the empty one stands for what has no name."""
        found: Places = defaultdict(list)
        for place, site in enumerate(self._sites):
            found[last_word(site.node.func)].append(place)
        return found

    @functools.cached_property
    def keywords(self) -> Places:
        """By what arguments are called."""
        found: Places = defaultdict(list)
        for place, site in enumerate(self._sites):
            for keyword in site.node.keywords:
                if keyword.arg is not None:
                    found[keyword.arg].append(place)
        return found
