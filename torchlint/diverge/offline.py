"""`torchlint diverge a.tlrec b.tlrec`: two recordings, or folders of them, compared without running anything.

They may come from two machines, devices, commits or releases of torch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from torchlint.diverge.causes import cause_of
from torchlint.diverge.data import Cause, Divergence, Ran
from torchlint.diverge.explaining import explanations
from torchlint.diverge.first_operator import Kind
from torchlint.diverge.growth import growth_of
from torchlint.diverge.headers import RecordingPair, notes_of
from torchlint.diverge.recordings import Recorded, Recording, read_recorded
from torchlint.diverge.rounding import DEFAULTS, Rounding
from torchlint.diverge.sources import Sources
from torchlint.diverge.stepping import StepDifference, difference_of
from torchlint.diverge.tracing import Origin, first_origin, origin_of
from torchlint.errors import TorchlintError

_OPERATORS = "operator"


def compared(
    first: Path,
    other: Path,
    *,
    tolerance: float | None = None,
    paths: Sequence[Path] = (),
    sources: Sources,
    max_causes: int = 3,
) -> Divergence:
    """Compare the ranks that both have, each in its own order. Raises TorchlintError for what cannot be read.

    Bit by bit, unless a tolerance is given, or devices or releases of torch differ.
    """
    ours, theirs = _alike(read_recorded(first), read_recorded(other))
    shared = sorted(ours.principals.keys() & theirs.principals.keys(), key=_in_order)
    if not shared:
        raise TorchlintError(f"{first} and {other}: no process that computes with torch is in both")
    pairs = [(name, ours.processes[name], theirs.processes[name]) for name in shared]
    comparison = _Comparison(ours, theirs, tolerance, is_rounded=tolerance is not None or _is_apart(pairs))
    found = sorted(filter(None, (comparison.located(*pair) for pair in pairs)), key=lambda each: each.order)
    if not found and not any(_has_steps(one) and _has_steps(two) for _, one, two in pairs):
        raise TorchlintError(f"{first} and {other}: there is no step that both have")
    comparison.refuse_nothing(first, other)
    earliest = [comparison.cause(each, sources) for each in found]
    further = comparison.further(found[0], max_causes) if found else ()
    causes = [*earliest[:1], *(comparison.cause(each, sources) for each in further)]
    return Divergence(
        verdict="DIFFERENT" if found else "EQUAL",
        command=pairs[0][1].header.argv,
        runs=(_ran(ours), _ran(theirs)),
        causes=tuple(replace(each, explained_by=explanations(each, paths, sources)) for each in causes),
        growth=growth_of(ours, theirs) if found else (),
        notes=tuple(dict.fromkeys((*comparison.notes(found), *notes_of(pairs), *_one_sided(ours, theirs)))),
        elsewhere=tuple(earliest[1:]),
    )


@dataclass(frozen=True)
class _Located:
    """The first difference of one rank."""

    difference: StepDifference
    origin: Origin | None

    @property
    def number(self) -> int:
        return self.difference.number

    @property
    def order(self) -> tuple[int, bool]:
        """The earliest first, and at one step what did not come from another rank."""
        return self.number, self.origin is not None and bool(self.origin.found.collective)


class _Comparison:
    """Two runs that were recorded."""

    def __init__(self, ours: Recorded, theirs: Recorded, tolerance: float | None, *, is_rounded: bool) -> None:
        self._ours = ours
        self._theirs = theirs
        self._tolerance = tolerance
        self._is_rounded = is_rounded
        self._held = self._unknown = 0

    def located(self, name: str, first: Recording, other: Recording) -> _Located | None:
        """The earliest difference of a rank, with its operator where both have written operators."""
        has_operators = first.header.level == other.header.level == _OPERATORS
        if self._is_rounded:
            return self._within_rounding(name, first, other, has_operators=has_operators)
        difference = difference_of(name, first, other, may_be_cut=True)
        if difference is None:
            return None
        origin = None
        if has_operators:
            origin = origin_of(self._ours, self._theirs, name, difference.number, may_have_moved=True)
        return _Located(difference, origin)

    def _within_rounding(
        self, name: str, first: Recording, other: Recording, *, has_operators: bool
    ) -> _Located | None:
        rounding = Rounding(self._tolerance)
        difference = difference_of(name, first, other, rounding.steps, may_be_cut=True)
        origin = None
        if has_operators:
            last = None if difference is None else difference.number
            origin = first_origin(self._ours, self._theirs, name, last, rounding.begin)
        self._held += rounding.compared
        self._unknown += rounding.unknown
        if origin is not None and (difference is None or origin.step != difference.number):
            difference = StepDifference(name, origin.step, (), "")
        return None if difference is None else _Located(difference, origin)

    def further(self, earliest: _Located, most: int) -> Iterator[_Located]:
        """Yield the first differences of other kinds in the same step: a draw, a batch, an operator."""
        origin, kinds = earliest.origin, set[Kind]()
        while self._is_rounded and origin is not None and len(kinds) + 1 < most:
            kinds.add(origin.found.kind)
            begin = Rounding(self._tolerance, frozenset(kinds)).begin
            origin = first_origin(self._ours, self._theirs, earliest.difference.process, earliest.number, begin)
            if origin is not None:
                yield replace(earliest, origin=origin)

    def refuse_nothing(self, first: Path, other: Path) -> None:
        """Two recordings without a number in common are not equal."""
        if self._is_rounded and not self._held:
            raise TorchlintError(
                f"{first} and {other}: devices or releases differ, and there are no losses, parameters or operators "
                "that could be held against each other within rounding"
            )

    def cause(self, located: _Located, sources: Sources) -> Cause:
        return cause_of(located.difference, located.origin, sources, (self._ours, self._theirs))

    def notes(self, found: Sequence[_Located]) -> Iterator[str]:
        """Yield how it was compared, and why no operator is named."""
        if self._is_rounded:
            share = f"{DEFAULTS['float32']:g} for float32, as torch.testing.assert_close"
            share = f"{self._tolerance:g}" if self._tolerance is not None else share
            yield (
                "held against each other by up to 8 sampled elements of each tensor, with a tolerance relative to the "
                f"largest of them: {share}"
            )
        else:
            yield "compared bit by bit"
        if self._unknown:
            yield f"tensors of two devices not compared, for none of their elements were recorded: {self._unknown:,}"
        for each in found[:1]:
            name = each.difference.process
            levels = {run.processes[name].header.level for run in (self._ours, self._theirs)}
            if each.origin is None and levels != {_OPERATORS}:
                yield (
                    f"no operator is named, for operators were not recorded: torchlint record --level operator "
                    f"--steps {each.number} names it"
                )
            elif each.origin is None and self._is_rounded:
                yield "no operator adds much to what its operands differ by: this grew from rounding, step by step"
            elif each.origin is None:
                yield f"the operators of step {each.number} are alike in both, or were not written"


def _alike(ours: Recorded, theirs: Recorded) -> tuple[Recorded, Recorded]:
    """Where each side has one process that trains, these are held against each other whatever their names are."""
    mine, yours = [*ours.principals], [*theirs.principals]
    if len(mine) != 1 or len(yours) != 1 or mine == yours:
        return ours, theirs
    renamed = {name.replace(yours[0], mine[0]): each for name, each in theirs.processes.items()}
    return ours, Recorded(renamed)


def _has_steps(recording: Recording) -> bool:
    return next(recording.steps(), None) is not None


def _in_order(name: str) -> tuple[int, str]:
    """Rank 10 comes after rank 9."""
    return len(name), name


def _is_apart(pairs: Sequence[RecordingPair]) -> bool:
    """Whether other bits are to be expected: on another kind of device, or with another release of torch."""
    return any(_sort_of(one) != _sort_of(two) for _, one, two in pairs)


def _sort_of(recording: Recording) -> tuple[frozenset[str], str]:
    return recording.summary.devices, recording.header.software.get("torch", "")


def _one_sided(ours: Recorded, theirs: Recorded) -> Iterator[str]:
    for which, own, others in (("first", ours, theirs), ("second", theirs, ours)):
        names = sorted(own.principals.keys() - others.principals.keys(), key=_in_order)
        if names:
            yield f"only the {which} has {', '.join(names)}: not compared"
        yield from (f"the recorder, in the {which}: {each}" for each in own.troubles)


def _ran(recorded: Recorded) -> Ran:
    ends = [each.summary.end for each in recorded.processes.values()]
    return Ran(recorded, 0, max((end.seconds for end in ends if end is not None), default=0.0))
