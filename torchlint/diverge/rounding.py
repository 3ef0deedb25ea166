"""Results held against each other within rounding, for recordings of two devices or two releases of torch.

Digests of two kinds of devices cannot be compared; a few elements of each tensor are written beside them. An operator
is named where its results are further apart than rounding explains although its operands are not. How far rounding may
bring them apart in the depth of a network is not known beforehand, so results are held against operands: an operator
has to add much to what it was given.
"""

from __future__ import annotations

import functools
import math
import operator
import re
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from torchlint.diverge.first_operator import Comparing, FirstOperator, Kind, Way, makes_parameters
from torchlint.diverge.recordings import Detail, Operator
from torchlint.recording.journal.records import Step, Tensor

DEFAULTS = {"float64": 2e-7, "float32": 1.13e-5, "float16": 1.01e-3, "bfloat16": 1.601e-2}
"""What `torch.testing.assert_close` allows an element of size one (`rtol` and `atol` together). It is taken as a share
of the largest sampled element here, so that small gradients are compared as large activations are."""
_GROWTH = 10.0
"""Results so many times as far apart as the operands are not explained by these."""
_FROM_OUTSIDE = "aten.lift"
_MANY, _REST = 64, 0.01
_STEPS_BEFORE = 20
"""Steps whose results are known again when a later step takes them."""
_MOST_MADE = 1_000_000
_MOST_DIGITS = 20
_KIND = re.compile(r"(?P<dtype>\w+)\[(?P<shape>[^]]*)\] (?P<device>\w+)")


def apart(ours: Sequence[float], theirs: Sequence[float], tolerance: float) -> float:
    """The largest distance of two elements, as a multiple of what is allowed: a share of the largest element."""
    if ours == theirs:
        return 0.0
    distances = [*map(abs, map(operator.sub, ours, theirs))]
    if not math.isfinite(sum(distances)):
        alike = [one == two or (math.isnan(one) and math.isnan(two)) for one, two in zip(ours, theirs, strict=True)]
        distances = [0.0 if same else far for same, far in zip(alike, distances, strict=True)]
        if not all(map(math.isfinite, distances)):
            return math.inf
    allowed = tolerance * max(_scale(ours), _scale(theirs))
    return max(distances) / allowed if allowed else math.inf


def _scale(sample: Sequence[float]) -> float:
    """The size of the largest element that is a number."""
    largest = max(map(abs, sample), default=0.0)
    return largest if math.isfinite(largest) else _scale([*filter(math.isfinite, sample)])


@functools.lru_cache(maxsize=10_000)
def _parts(kind: str) -> tuple[str, str, str]:
    """`float32[4,8] cpu` as type, shape and device."""
    found = _KIND.fullmatch(kind)
    return (found["dtype"], found["shape"], found["device"]) if found else (kind, "", "")


@functools.lru_cache(maxsize=10_000)
def _count(kind: str) -> int:
    """The elements of a tensor of this kind."""
    sizes = _parts(kind)[1].split(",")
    return math.prod(int(each) for each in sizes if each.isdecimal() and len(each) < _MOST_DIGITS)


@dataclass
class Rounding:
    """Compares the steps and the operators of one process, from the first step on."""

    tolerance: float | None
    """Of all types; None for the defaults."""
    ignored: frozenset[Kind] = frozenset()
    """Kinds of differences that were told already."""
    compared: int = 0
    """Tensors and losses that could be held against each other."""
    unknown: int = 0
    """Tensors of two devices of which no elements were written."""
    _before: Detail | None = None
    _known: dict[tuple[int, int, str, str], float | None] = field(default_factory=dict)
    _made: deque[set[int]] = field(default_factory=lambda: deque(maxlen=_STEPS_BEFORE))

    def steps(self, ours: Step, theirs: Step) -> tuple[str, ...]:
        """What of two steps differs by more than is allowed: `loss`, `parameters`."""
        losses = [((one,), (two,)) for one, two in zip(ours.losses, theirs.losses, strict=False)]
        samples = [(ours.sample, theirs.sample)] if ours.sample and len(ours.sample) == len(theirs.sample) else []
        self.compared += len(losses) + len(samples)
        found = (("loss", losses), ("parameters", samples))
        allowed = self._allowed("float32")
        return tuple(name for name, pairs in found if any(apart(*pair, allowed) > 1 for pair in pairs))

    def begin(self, detail: Detail) -> Comparing:
        """The way to compare the operators of our next step."""
        if self._before is not None:
            rows = (each.row for own in self._before.threads for each in own)
            self._made.append({result.digest for row in rows for result in row.results})
            while sum(map(len, self._made)) > _MOST_MADE:
                self._made.popleft()
        self._before = detail
        self._known.clear()
        return Comparing(self._compared, counts_extras=False, may_have_moved=True)

    def _compared(self, ours: Operator, theirs: Operator, way: Way) -> FirstOperator | None:
        taken = [self._operand(place, ours, theirs, way) for place in range(_shared(ours.taken, theirs.taken))]
        given = [self._result(place, ours, theirs, taken) for place in range(_shared(ours.given, theirs.given))]
        found = self._from_operands(ours, theirs, way, taken)
        found = found or self._drawn(ours, theirs, given) or self._from_results(ours, theirs, taken, given)
        is_told = found is not None and found.kind in self.ignored
        furthest = math.inf if is_told else max((each or 0.0 for each in given), default=0.0)
        way.partners[ours.number], way.apart[ours.number] = theirs.number, furthest
        way.furthest = max(way.furthest, furthest)
        return None if is_told else found

    def _operand(self, place: int, ours: Operator, theirs: Operator, way: Way) -> float | None:
        one, two = ours.row.operands[place], theirs.row.operands[place]
        seen, known = self._apart(one, two, ours.taken[place], theirs.taken[place]), way.apart.get(one.writer)
        return seen if known is None else max(known, seen or 0.0)

    def _result(self, place: int, ours: Operator, theirs: Operator, taken: Sequence[float | None]) -> float | None:
        one, two = ours.row.results[place], theirs.row.results[place]
        is_real = _parts(ours.given[place])[0] in DEFAULTS
        if not is_real and any(each != 0 for each in taken):
            return None  # an index, or a mask, follows from values that are apart
        far = self._apart(one, two, ours.given[place], theirs.given[place])
        if far is None or far <= 1 or not one.sample:
            return far
        is_noise = max(_scale(one.sample), _scale(two.sample)) < self._noise(place, ours)
        return 0.0 if is_noise else far

    def _noise(self, place: int, operator: Operator) -> float:
        """The size of what rounding leaves of terms that cancel, as in the gradient of a bias before a BatchNorm.

        A long sum is taken for such a rest where it is far below the sum of as many terms of random signs.
        """
        sizes = [_scale(each.sample) for each in operator.row.operands if each.sample]
        kind = operator.given[place]
        terms = max(map(_count, operator.taken), default=1) / max(1, _count(kind))
        share = _REST * math.sqrt(terms) if terms >= _MANY else DEFAULTS.get(_parts(kind)[0], 0.0)
        return share * min(sizes, default=0.0)

    def _apart(self, one: Tensor, two: Tensor, ours: str, theirs: str) -> float | None:
        """None for what cannot be compared. Answers are kept for a step: a result is asked for again as an operand."""
        key = (one.digest, two.digest, ours, theirs)
        if key not in self._known:
            self._known[key] = self._measured(one, two, ours, theirs)
        return self._known[key]

    def _measured(self, one: Tensor, two: Tensor, ours: str, theirs: str) -> float | None:
        (mine, size, here), (yours, other_size, there) = _parts(ours), _parts(theirs)
        if size != other_size:
            return math.inf
        if one.sample and len(one.sample) == len(two.sample) and (here != there or one.digest != two.digest):
            self.compared += 1
            return apart(one.sample, two.sample, self._allowed(mine, yours))
        if here != there:
            self.unknown += 1
            return None
        self.compared += 1
        if one.digest == two.digest:
            return 0.0
        return math.inf if mine == yours and mine not in DEFAULTS else None

    def _from_operands(
        self, ours: Operator, theirs: Operator, way: Way, taken: Sequence[float | None]
    ) -> FirstOperator | None:
        """An operand that is apart although no operator that was compared wrote it."""
        for place, far in enumerate(taken):
            one, two = ours.row.operands[place], theirs.row.operands[place]
            if far is None or far <= 1 or self._is_carried(one):
                continue
            if one.writer >= 0 and way.partners.get(one.writer) == two.writer:
                continue
            extra = way.extra_that_wrote(one.writer, two.writer)
            if any(each is not None and each.row.generator for each in extra):
                return FirstOperator("draw", *extra, extras=way.extras)
            if any(extra) and not all(extra):
                return FirstOperator("control-flow", *extra, extras=way.extras)
            if way.furthest > 1 and not ours.name.startswith(_FROM_OUTSIDE):
                continue  # what reads it may have written it unseen, as a BatchNorm does its running mean
            is_made = all(extra)  # by an operator of its own on each side
            kind: Kind = "parameters" if one.is_parameter or makes_parameters(ours) else "data"
            before = way.last if is_made else None
            return FirstOperator("kernel" if is_made else kind, ours, theirs, -1 - place, before, way.extras)
        return None

    def _is_carried(self, operand: Tensor) -> bool:
        """Whether an earlier step made it: what grew there from rounding is no news."""
        is_known = any(operand.digest in made for made in self._made)
        return operand.writer < 0 and (is_known or (operand.is_parameter and bool(self._made)))

    def _drawn(self, ours: Operator, theirs: Operator, given: Sequence[float | None]) -> FirstOperator | None:
        """A draw from another state, or on another device, unless it gave the same."""
        one, two = ours.row.generator, theirs.row.generator
        is_elsewhere = [_parts(each)[2] for each in ours.given] != [_parts(each)[2] for each in theirs.given]
        if not one or not two or (one == two and not is_elsewhere):
            return None
        known = [each for each in given if each is not None]
        if known and max(known) <= 1:
            return None
        return FirstOperator("draw", ours, theirs, 0 if given else None)

    def _from_results(
        self, ours: Operator, theirs: Operator, taken: Sequence[float | None], given: Sequence[float | None]
    ) -> FirstOperator | None:
        """A result that is much further apart than the operands are."""
        before = max((math.inf if each is None else each for each in taken), default=0.0)
        if before > 1:
            return None
        for place, far in enumerate(given):
            if far is not None and far > max(1.0, _GROWTH * before):
                made = ours.row.arguments != theirs.row.arguments and not ours.row.operands
                kind: Kind = "parameters" if made and makes_parameters(ours) else "data" if made else "kernel"
                return FirstOperator(kind, ours, theirs, place)
        return None

    def _allowed(self, *dtypes: str) -> float:
        if self.tolerance is not None:
            return self.tolerance
        return max([DEFAULTS.get(each, DEFAULTS["float32"]) for each in dtypes])


def _shared(ours: Sequence[object], theirs: Sequence[object]) -> int:
    return min(len(ours), len(theirs))
