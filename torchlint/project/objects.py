"""The classes of the objects that the functions of a project give: whose method `build(config).fit()` runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from torchlint.facts.grouping import grouped
from torchlint.facts.memoizing import followed
from torchlint.facts.notation import (
    Def,
    Member,
    Part,
    Reference,
    Result,
    Symbol,
    hangs_on_call,
    is_result,
    maker_of,
    name_in,
    reference,
    result_of,
    symbol_of,
)
from torchlint.facts.objects import EVERY, OWN
from torchlint.facts.summary import FileSummary
from torchlint.project.answers import Answering


class Objects(Answering):
    """What the functions of all files give, told by names as facts/objects.py writes them."""

    def __init__(
        self, summaries: Mapping[str, FileSummary], defining: Callable[[tuple[str, str]], tuple[str, str]]
    ) -> None:
        super().__init__()
        self._summaries = summaries
        self._defining = defining
        """The function that a class has, or inherits."""
        told = ((path, one) for path, summary in summaries.items() for one in summary.results)
        self._results = grouped(((path, one.function, one.place), one.name) for path, one in told)

    def callees(self, name: str) -> list[str]:
        """The methods that a call of a method of an object may run, by their classes; a class that is called itself."""
        asked = reference(name)
        if not isinstance(asked, Member):
            return [name]
        owner, method = name.removesuffix(f".{asked.name}"), asked.name
        classes = self.classes(owner)
        found = [
            callee for one in classes for callee in ([f"{one}.{method}"] if method != EVERY else self._public(one))
        ]
        return [*found, *self.classes(result_of(owner)), *self._functions(owner)] if method == "__call__" else found

    def _functions(self, name: str) -> list[str]:
        """The functions that a function gives, which run where what it gives is called."""
        owner, _, method = maker_of(name).rpartition(".")
        makers = [f"{one}.{method}" for one in self.classes(owner)] if hangs_on_call(owner) else [maker_of(name)]
        places = (self._defining(symbol_of(one)) for one in makers)
        found = {symbol_of(result) for place in places for result in self._results.get((*place, None), ())}
        own = ((path, name) for path, name in found if path in self._summaries)
        return sorted(name_in(path, name) for path, name in own if name in self._summaries[path].functions)

    def _public(self, owner: str) -> list[str]:
        """The methods of a class that others may call by any name."""
        path, qualname = symbol_of(owner)
        functions = self._summaries[path].functions if path in self._summaries else frozenset()
        methods = [name.removeprefix(f"{qualname}.") for name in functions if name.startswith(f"{qualname}.")]
        return sorted(f"{owner}.{name}" for name in methods if not name.startswith("_") and "." not in name)

    def classes(self, name: str) -> list[str]:
        """The classes that an object may be of."""
        return sorted(name_in(*one) for one in self._classes(reference(name)))

    @followed(otherwise=frozenset[Symbol]())
    def _classes(self, name: Reference) -> frozenset[Symbol]:
        return frozenset(self._named(name))

    def _named(self, name: Reference) -> Iterator[Symbol]:
        """Of an attribute of an object, and of a part of a part, nothing is known."""
        match name:
            case Result(Result(Def(path, qualname))):
                for given in self._results.get((*self._defining((path, qualname)), None), ()):
                    yield from self._classes(Result(reference(given))) if not is_result(given) else ()
            case Result(called) | Part(Result(called), int()):
                place = name.place if isinstance(name, Part) else None
                match called:
                    case Def(path, qualname):
                        yield from self._given((path, qualname), place)
                    case Member(owner, method):
                        for path, qualname in self._classes(owner):
                            yield from self._given((path, f"{qualname}.{method}"), place)

    def _given(self, called: Symbol, place: int | None) -> Iterator[Symbol]:
        """The classes of what a call of a function gives; of a class, itself."""
        home, function = self._defining(called)
        if home in self._summaries and function not in self._summaries[home].functions:
            yield from [called] if place is None else []
            return
        for name in self._results.get((home, function, place), ()):
            own = called[0], called[1].rpartition(".")[0]
            yield from [own] if name == OWN else self._classes(reference(name))
