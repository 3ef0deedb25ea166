"""What a program does with reinforcement-learning environments: which it makes, and whether anything seeds them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import msgspec

from torchlint.facts.notation import Symbol
from torchlint.facts.randomness.environments import EnvironmentCall, EnvironmentPart, environment_calls
from torchlint.facts.summary import Extract, FileSummary
from torchlint.project.call_graph import CallGraph, is_reached
from torchlint.project.programs import Program

_SEEDING = {EnvironmentPart.SEEDED, EnvironmentPart.MAY_BE_SEEDED}
_SPACE_SEEDING = {EnvironmentPart.SPACE_SEEDED, EnvironmentPart.MAY_BE_SEEDED}
_ENVIRONMENT_CLASSES = frozenset({"gym.Env", "gymnasium.Env", "gym.core.Env", "gymnasium.core.Env"})
ENVIRONMENTS = Extract("environments", tuple[EnvironmentCall, ...], lambda *asked: tuple(environment_calls(*asked)))
"""The first call of each symbol of a file that does one thing to a reinforcement-learning environment."""


class Environments(msgspec.Struct, frozen=True):
    """`made` and `sampled` are in order of path and line."""

    made: tuple[EnvironmentCall, ...]
    sampled: tuple[EnvironmentCall, ...]
    is_reset: bool
    is_seeded: bool
    is_space_seeded: bool
    is_trained: bool
    """Whether an algorithm of a library trains in one."""
    seeded_in: Mapping[Symbol, int]
    """How many of them each function seeds."""
    has_own: bool
    """Whether the program has a class of environments of its own, which may draw nothing."""

    @property
    def unseeded(self) -> EnvironmentCall | None:
        """The first environment, where nothing seeds any."""
        is_used = self.is_reset or self.is_trained
        return self.made[0] if self.made and is_used and not self.is_seeded and not self.has_own else None

    @property
    def doubtful(self) -> tuple[EnvironmentCall, ...]:
        """Those that are not seen to be seeded: none is, or others are where they are made, and these are not."""
        if not self.is_seeded:
            return (*self.made, *self.sampled)
        places = [(call.path, call.symbol) for call in self.made]
        is_beside, made = not self.seeded_in.keys().isdisjoint(places), Counter(places)
        calls = zip(self.made, places, strict=True) if is_beside else ()
        return tuple(call for call, place in calls if made[place] > self.seeded_in.get(place, 0))


def environments_of(program: Program, calls: CallGraph, summaries: Mapping[str, FileSummary]) -> Environments:
    """What a program does with environments: seeds count generously, the rest where it is reached."""
    places = calls.possible(program.reached)
    told = (
        call for path in {path for path, _ in places} & summaries.keys() for call in ENVIRONMENTS.of(summaries[path])
    )
    possible = sorted((one for one in told if (one.path, one.symbol) in places), key=lambda call: call.place.location)
    parts = {call.part for call in possible}
    reached = [call for call in possible if is_reached((call.path, call.symbol), program.reached, summaries)]
    loaded = calls.loaded(program.files)
    bases = {base for path in loaded if path in summaries for _, base in summaries[path].bases}
    return Environments(
        made=tuple(call for call in reached if call.part is EnvironmentPart.MADE),
        sampled=tuple(call for call in reached if call.part is EnvironmentPart.SAMPLED),
        is_reset=EnvironmentPart.RESET in parts,
        is_seeded=bool(parts & _SEEDING),
        is_space_seeded=bool(parts & _SPACE_SEEDING),
        is_trained=any(call.part is EnvironmentPart.TRAINED for call in reached),
        seeded_in=Counter((call.path, call.symbol) for call in possible if call.part in _SEEDING),
        has_own=bool(bases & _ENVIRONMENT_CLASSES),
    )
