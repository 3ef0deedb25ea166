"""What two runs did around their first difference, side by side in the order of execution."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import islice, zip_longest
from operator import itemgetter

from torchlint.diverge.alignment import Pair, aligned
from torchlint.diverge.data import Moment, MomentKind, MomentState
from torchlint.diverge.first_operator import FirstOperator
from torchlint.diverge.recordings import Detail, Event, Operator, Recorded, Recording
from torchlint.diverge.sources import Sources
from torchlint.diverge.tracing import EventPair, Origin, compared_events, is_differing, paired_events
from torchlint.project.shown import shown_path

_MOST = 25
"""Rows before the first difference, and after it."""

_Row = Pair | EventPair
_IsFirst = Callable[[_Row], bool]


def timeline_of(first: Recorded, other: Recorded, origin: Origin, sources: Sources) -> tuple[Moment, ...]:
    """The rows of the step and of the thread in which a difference began; nothing where they were not written."""
    mine, yours = (_detail(each.processes.get(origin.process), origin.step) for each in (first, other))
    return () if mine is None or yours is None else moments(mine, yours, origin.found, sources)


def _detail(recording: Recording | None, step: int) -> Detail | None:
    details = () if recording is None else recording.details(step)
    return next((each for each in details if each.step.number == step), None)


def moments(mine: Detail, yours: Detail, found: FirstOperator, sources: Sources) -> tuple[Moment, ...]:
    """The rows around an operator, or around the first thing that entered and differs where the step lacks it."""
    threads = list(zip_longest(mine.threads, yours.threads, fillvalue=())) or [((), ())]
    events = tuple(paired_events(compared_events(mine.events), compared_events(yours.events)))

    def is_it(row: _Row) -> bool:
        return row == (found.ours, found.theirs)

    def has_entered(row: _Row) -> bool:
        return isinstance(row[0] or row[1], Event) and _state(row) != "same"

    for is_first in (is_it, has_entered):
        for own in threads:
            around = _around(_merged(aligned(*own), events), is_first)
            if around:
                return tuple(_moment(row, sources, is_first=is_first(row)) for row in around)
    return ()


def _around(rows: Iterator[_Row], is_first: _IsFirst) -> list[_Row]:
    """Some rows before the first difference, that one, and some after it; nothing where it is not among them."""
    before: deque[_Row] = deque(maxlen=_MOST)
    for row in rows:
        if is_first(row):
            return [*before, row, *islice(rows, _MOST)]
        before.append(row)
    return []


def _merged(operators: Iterator[Pair], events: Sequence[EventPair]) -> Iterator[_Row]:
    """Yield operators, and before each what entered before it ran."""
    ours = deque((event.row, pair) for pair in events for event in pair[:1] if event is not None)
    only_theirs = [(event.row, pair) for pair in events for event in pair[1:] if pair[0] is None and event is not None]
    theirs = deque(sorted(only_theirs, key=itemgetter(0)))
    for row in operators:
        for operator, waiting in zip(row, (ours, theirs), strict=True):
            while operator is not None and waiting and waiting[0][0] <= operator.number:
                yield waiting.popleft()[1]
        yield row
    yield from (pair for waiting in (ours, theirs) for _, pair in waiting)


def _moment(row: _Row, sources: Sources, *, is_first: bool) -> Moment:
    one, two = row
    known = one or two
    assert known is not None
    stack = sources.of(known.stack)
    return Moment(
        kind=_kind(known),
        ours=_words(one, sources),
        theirs=_words(two, sources),
        source=stack[0] if stack else None,
        state="first" if is_first else _state(row),
    )


def _kind(known: Operator | Event) -> MomentKind:
    if isinstance(known, Operator):
        return "operator"
    return "draw" if known.kind in ("seed", "draw") else "data"


def _state(row: _Row) -> MomentState:
    one, two = row
    if one is None or two is None:
        return "only-second" if one is None else "only-first"
    return "same" if _is_same(one, two) else "differs"


def _is_same(one: Operator | Event, two: Operator | Event) -> bool:
    """Whether both runs did this, from the same and with the same result."""
    if isinstance(one, Operator) or isinstance(two, Operator):
        return isinstance(one, Operator) and isinstance(two, Operator) and _content(one) == _content(two)
    return not is_differing((one, two))


def _content(operator: Operator) -> tuple[object, ...]:
    row = operator.row
    digests = tuple(each.digest for each in (*row.operands, *row.results))
    return digests, row.arguments, row.generator, operator.taken, operator.given


def _words(known: Operator | Event | None, sources: Sources) -> str:
    """`aten.mm.default`, `listing data`, `torch.manual_seed(0)`; empty for nothing."""
    if known is None:
        return ""
    if isinstance(known, Operator):
        return known.name if known.row.direction == "forward" else f"{known.name} ({known.row.direction})"
    shown = shown_path(sources.folder, known.what) if known.kind in ("listing", "read") else known.what
    return shown if known.kind == "seed" else f"{known.kind} {shown}"
