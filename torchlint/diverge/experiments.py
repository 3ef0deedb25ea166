"""The factor behind a difference, found by holding factors fixed and running again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from torchlint.diverge.data import Trial
from torchlint.diverge.first_operator import Kind
from torchlint.diverge.tracing import EventPair, Origin, is_entropy
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
_BEHIND_SEEDS = ("clock", "hash-seed", "process-id", "os-entropy")
"""Where a seed comes from that is not the same in two runs: the generator itself explains nothing then."""
_BY_EVENT = {
    "random": "python-random",
    "numpy": "numpy-random",
    "os": "os-entropy",
}


def suspects(origin: Origin | None, varied: Sequence[str]) -> tuple[str, ...]:
    """The factors in the order in which they are tried: what was varied, what entered differently, the kind's own."""
    likely: list[str] = []
    if origin is not None:
        own, entered = _BY_KIND[origin.found.kind], [*_entered(origin.events)]
        likely = [*own, *entered] if origin.found.kind in ("kernel", "draw", "memory") else [*entered, *own]
        if any(each.kind == "seed" for pair in origin.events for each in pair if each is not None):
            likely = [*_BEHIND_SEEDS, *likely]
    found = [*sorted(varied, key=lambda name: name not in likely), *likely]
    rest = ("clock", "workers", "hash-seed", "process-id", "os-entropy", "leftover-files", *FACTORS)
    return tuple(dict.fromkeys([*found, *rest]))


def _entered(events: Sequence[EventPair]) -> Iterator[str]:
    for pair in sorted(events, key=is_entropy):
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
        untried = free[_MOST_SINGLE:]
        return tuple(self._smallest(untried if untried and self._is_equal(untried) else free))

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
        """The factors of a set that makes the runs equal without which they are different.

        The shortest equal beginning of the list ends with one of them; then that is held, and the rest of the list is
        searched for the next (QuickXplain: Junker, 2004). Each takes about four trials.
        """
        needed: list[str] = []
        while names and not (needed and self._is_equal(needed)):
            different, equal = 0, len(names)
            while equal - different > 1:
                middle = (different + equal) // 2
                if self._is_equal([*needed, *names[:middle]]):
                    equal = middle
                else:
                    different = middle
            needed, names = [*needed, names[equal - 1]], names[: equal - 1]
            if len(self.trials) >= self.budget:
                return [*needed, *names]
        return needed
