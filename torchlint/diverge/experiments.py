"""The factor behind a difference, found by holding factors fixed and running again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from torchlint.diverge.data import Trial
from torchlint.diverge.first_operator import Kind
from torchlint.diverge.tracing import EventPair, Origin
from torchlint.recording.factors.names import FACTORS

_MOST_SINGLE = 5
"""Factors that are tried alone before all are held at once."""

_BY_KIND: dict[Kind, tuple[str, ...]] = {
    "draw": ("torch-random",),
    "kernel": ("determinism-mode", "threads", "compile"),
    "memory": ("memory",),
    "control-flow": ("clock", "python-random", "numpy-random"),
    "parameters": (),
    "data": (),
}
_BY_EVENT = {
    "random": "python-random",
    "numpy": "numpy-random",
    "os": "os-entropy",
}


def suspects(origin: Origin | None, varied: Sequence[str]) -> tuple[str, ...]:
    """The factors in the order in which they are tried: what was varied, what entered differently, the kind's own."""
    found = [*varied]
    if origin is not None:
        own = _BY_KIND[origin.found.kind]
        entered = list(_entered(origin.events))
        found += [*own, *entered] if origin.found.kind in ("kernel", "draw", "memory") else [*entered, *own]
        if any(each.kind == "seed" for pair in origin.events for each in pair if each is not None):
            found += ["clock", "process-id", "os-entropy"]
    rest = ("numpy-random", "python-random", "hash-seed", "clock", "os-entropy", "process-id", *FACTORS)
    return tuple(dict.fromkeys([*found, *rest]))


def _entered(events: Sequence[EventPair]) -> Iterator[str]:
    for pair in events:
        for each in pair:
            if each is None:
                continue
            if each.kind == "listing":
                yield "listing"
            elif each.kind == "read":
                yield "leftover-files"
            elif each.kind in ("draw", "entropy"):
                yield _BY_EVENT.get(each.what.partition(".")[0], "os-entropy")


@dataclass
class Search:
    """Finds as few factors as possible that make two runs equal when they are held."""

    equal_when_held: Callable[[tuple[str, ...]], Trial]
    budget: int
    """Trials that may be made."""
    always: tuple[str, ...] = ()
    """Factors of causes that were found before: held in every trial."""
    trials: list[Trial] = field(default_factory=list)

    def find(self, ordered: Sequence[str]) -> tuple[str, ...]:
        """The smallest set found; nothing where runs stay different with all held, or no trial is left."""
        free = [each for each in ordered if each not in self.always]
        for name in free[:_MOST_SINGLE]:
            if self._is_equal([name]):
                return (name,)
        if not self._is_equal(free):
            return ()
        return tuple(self._smallest(free))

    def _is_equal(self, names: Sequence[str]) -> bool:
        held = tuple(sorted(names, key=FACTORS.index))
        known = next((each for each in self.trials if each.held == held), None)
        if known is None:
            if len(self.trials) >= self.budget:
                return False
            known = replace(self.equal_when_held((*self.always, *held)), held=held)
            self.trials.append(known)
        return bool(known.equal)

    def _smallest(self, names: list[str]) -> list[str]:
        """Delta debugging (Zeller and Hildebrandt, 2002), on sets that make the runs equal."""
        parts = 2
        while len(names) > 1:
            size = -(-len(names) // parts)
            pieces = [names[start : start + size] for start in range(0, len(names), size)]
            complements = [[each for each in names if each not in piece] for piece in pieces]
            smaller = next((each for each in [*pieces, *complements] if each and self._is_equal(each)), None)
            if smaller is not None:
                parts = 2 if len(smaller) <= size else max(parts - 1, 2)
                names = smaller
            elif parts >= len(names):
                break
            else:
                parts = min(len(names), 2 * parts)
        return names
