"""The classes of the objects that the functions of a project give: whose method `build(config).fit()` runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from torchlint.facts.grouping import grouped
from torchlint.facts.objects import EVERY, OWN
from torchlint.facts.summary import FileSummary
from torchlint.project.answers import remembered

_DEPTH = 6
"""Functions that give what others give, followed one after another."""


class Objects:
    """What the functions of all files give, told by names as facts/objects.py writes them."""

    def __init__(
        self, summaries: Mapping[str, FileSummary], defining: Callable[[tuple[str, str]], tuple[str, str]]
    ) -> None:
        self._summaries = summaries
        self._defining = defining
        """The function that a class has, or inherits."""
        self.memory: dict[Any, Any] = {}
        told = ((path, one) for path, summary in summaries.items() for one in summary.results)
        self._results = grouped(((path, one.function, one.place), one.name) for path, one in told)

    def callees(self, name: str) -> list[str]:
        """The methods that a call of a method of an object may run, by their classes; a class that is called itself."""
        owner, _, method = name.rpartition(".")
        if "()" not in owner:
            return [name]
        classes = self.classes(owner)
        found = [
            callee for one in classes for callee in ([f"{one}.{method}"] if method != EVERY else self._public(one))
        ]
        return [*found, *self.classes(f"{owner}()"), *self._functions(owner)] if method == "__call__" else found

    def _functions(self, name: str) -> list[str]:
        """The functions that a function gives, which run where what it gives is called."""
        owner, _, method = name.removesuffix("()").rpartition(".")
        makers = [f"{one}.{method}" for one in self.classes(owner)] if "()" in owner else [name.removesuffix("()")]
        places = (self._defining((path, qualname)) for path, _, qualname in (one.partition("::") for one in makers))
        found = (result.partition("::") for place in places for result in self._results.get((*place, None), ()))
        own = ((path, name) for path, _, name in found if path in self._summaries)
        return sorted(f"{path}::{name}" for path, name in own if name in self._summaries[path].functions)

    def _public(self, owner: str) -> list[str]:
        """The methods of a class that others may call by any name."""
        path, _, qualname = owner.partition("::")
        functions = self._summaries[path].functions if path in self._summaries else frozenset()
        methods = [name.removeprefix(f"{qualname}.") for name in functions if name.startswith(f"{qualname}.")]
        return sorted(f"{owner}.{name}" for name in methods if not name.startswith("_") and "." not in name)

    @remembered
    def classes(self, name: str) -> list[str]:
        """The classes that an object may be of."""
        return sorted(set(self._classes(name, _DEPTH)))

    def _classes(self, name: str, depth: int) -> Iterator[str]:
        called, _, part = name.rpartition("()")
        number = part[1:-1]
        if not called or not depth or (part and not number.isdigit()):
            return  # of an attribute of an object, and of a part of a part, nothing is known
        place = int(number) if part else None
        if called.endswith("()"):
            path, _, qualname = called.removesuffix("()").partition("::")
            for given in self._results.get((*self._defining((path, qualname)), None), ()):
                yield from self._classes(f"{given}()", depth - 1) if not given.endswith("()") else ()
            return
        owner, _, method = called.rpartition(".")
        if "()" not in owner:
            yield from self._given(called, place, depth)
            return
        for one in self._classes(owner, depth - 1):
            yield from self._given(f"{one}.{method}", place, depth)

    def _given(self, called: str, place: int | None, depth: int) -> Iterator[str]:
        """The classes of what a call of a function gives; of a class, itself."""
        path, _, qualname = called.partition("::")
        home, function = self._defining((path, qualname))
        if home in self._summaries and function not in self._summaries[home].functions:
            yield from [called] if place is None else []
            return
        for name in self._results.get((home, function, place), ()):
            yield from [called.rpartition(".")[0]] if name == OWN else self._classes(name, depth - 1)
