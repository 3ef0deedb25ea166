"""A difference with its lines, and with what entered from outside torch before it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from torchlint.diverge.data import Cause, Entered
from torchlint.diverge.recordings import Event, Recorded
from torchlint.diverge.sources import Sources
from torchlint.diverge.stepping import StepDifference
from torchlint.diverge.timeline import timeline_of
from torchlint.diverge.tracing import EventPair, Origin, is_entropy
from torchlint.project.shown import shown_path

_MOST_ENTERED = 3


def bare_cause(difference: StepDifference) -> Cause:
    """One of which no operator is known."""
    return Cause(difference.process, difference.number, difference.differing, None, None)


def cause_of(
    difference: StepDifference,
    origin: Origin | None,
    sources: Sources,
    pair: tuple[Recorded, Recorded],
    *,
    moves: bool = False,
) -> Cause:
    """All that the recordings tell. `moves` says that other runs differed elsewhere."""
    if origin is None:
        return Cause(difference.process, difference.number, difference.differing, None, None, moves=moves)
    stack = sources.of(origin.found.operator.stack)
    return Cause(
        process=origin.process,
        step=origin.step,
        differing=difference.differing,
        origin=origin,
        source=stack[0] if stack else None,
        stack=stack,
        moves=moves,
        entered=tuple(_entered(origin.events, sources))[:_MOST_ENTERED],
        timeline=timeline_of(*pair, origin, sources),
    )


def _entered(events: Sequence[EventPair], sources: Sources) -> Iterator[Entered]:
    for ours, theirs in sorted(events, key=is_entropy):
        event = ours or theirs
        if event is None or event.kind == "sample":
            continue
        stack = sources.of(event.stack)
        yield Entered(_words(event, ours, theirs, sources), stack[0] if stack else None)


def _words(event: Event, ours: Event | None, theirs: Event | None, sources: Sources) -> str:
    """`listing of data: other names or another order`."""
    shown = event.what
    if event.kind in ("listing", "read"):
        shown = shown_path(sources.folder, event.what)
    if ours is None or theirs is None:
        return f"{event.kind} {shown}: only in {'the second' if ours is None else 'the first'} run"
    if event.kind == "entropy":
        return f"{shown} gives other bytes in each run"
    differs = {
        "listing": "other names, or another order",
        "read": "another file" if ours.what != theirs.what else "other content",
        "draw": "the generator was in another state",
    }
    if event.kind == "seed":
        return f"{ours.what} in the first run, {theirs.what} in the second"
    if event.kind == "read" and ours.what != theirs.what:
        return f"read {shown} in the first run, {shown_path(sources.folder, theirs.what)} in the second"
    return f"{event.kind} {shown}: {differs.get(event.kind, 'not the same')}"
