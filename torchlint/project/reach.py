"""Which code of the files that a program loads may run in it, as far as names tell."""

from __future__ import annotations

from collections.abc import Mapping

from torchlint.facts.summary import FileSummary
from torchlint.project.programs import Program


class Reach:
    """What the call graph reaches, every method of a class that is reached, and those of its bases."""

    def __init__(self, program: Program, summaries: Mapping[str, FileSummary]) -> None:
        self._reached = program.reached
        bases: dict[tuple[str, str], list[tuple[str, str]]] = {}
        for path, summary in summaries.items():
            for owner, base in summary.bases:
                base_path, separator, name = base.partition("::")
                if separator:
                    bases.setdefault((path, owner), []).append((base_path, name))
        self._owners = set(program.reached)
        waiting = [(path, _owner(symbol)) for path, symbol in program.reached if "." in symbol] + list(program.reached)
        while waiting:
            place = waiting.pop()
            self._owners.add(place)
            waiting += [base for base in bases.get(place, ()) if base not in self._owners]

    def holds(self, path: str, symbol: str) -> bool:
        """Whether a symbol may run: it is reached, or lies in a function or class that is."""
        if not symbol:
            return (path, "") in self._reached
        while symbol:
            if (path, symbol) in self._owners:
                return True
            symbol = _owner(symbol)
        return False


def _owner(symbol: str) -> str:
    return symbol.rpartition(".")[0]
