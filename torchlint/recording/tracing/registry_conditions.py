"""Whether the operands of a call are those with which the registry says that it varies."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass

from torchlint.recording.messages import OperatorFacts
from torchlint.recording.tracing.events import Event

_NAMES_ITS_RANK = re.compile(r"\dd")
"""`upsample_bilinear2d`: the public call may have another rank, and made this one of it."""

_ADDS = re.compile(r"aten\.(index|scatter)_add_?\.")
_READS = re.compile(r"aten\.(gather|index|index_select|take)\.")
_PADS = re.compile(r"(?:reflection|replication)_pad\dd_backward")

_INDEX_NAMES = frozenset({"index", "indices", "target", "dim"})


@dataclass(frozen=True)
class Condition:
    """`words` say what was observed; `is_fixed_by_code` that no input could change it."""

    is_met: bool
    words: str = ""
    is_fixed_by_code: bool = False


def condition_of(entry: OperatorFacts, event: Event) -> Condition:
    """Compare every field of the condition with what was observed; the first that fails decides."""
    of_values = () if entry.any_input else _OF_VALUES
    for check in (_element_type, _rank, *of_values):
        found = check(entry, event)
        if found is not None and not found.is_met:
            return found
    met = (check(entry, event) for check in of_values)
    return Condition(is_met=True, words="; ".join(each.words for each in met if each is not None and each.words))


def only_reads(entry: OperatorFacts, event: Event) -> bool:
    """Whether it reads by index, which is steady: the entry lists it beside what adds up in its backward pass.

    A backward pass reads as well, that of `index_add`.
    """
    return event.repetition is None and (entry.repeated_indices or _READS.match(event.name) is not None)


def _element_type(entry: OperatorFacts, event: Event) -> Condition | None:
    types = [operand.dtype for operand in event.operands if operand.name not in _INDEX_NAMES]
    if not entry.dtype or not types or any(each in entry.dtype for each in types):
        return None
    return Condition(is_met=False, words=f"on {types[0]} data, whose sums do not depend on their order")


def _rank(entry: OperatorFacts, event: Event) -> Condition | None:
    wanted = re.fullmatch(r"(>=)?(\d)-D", entry.rank)
    if wanted is None or not event.operands or _NAMES_ITS_RANK.search(event.name):
        return None
    rank, least = len(event.operands[0].shape), int(wanted[2])
    if rank == least or (wanted[1] and rank > least):
        return None
    return Condition(is_met=False, words=f"on a tensor of {rank} dimension{'' if rank == 1 else 's'}")


def _padding(_entry: OperatorFacts, event: Event) -> Condition | None:
    """The backward pass of a padding adds up what was copied: nothing, where sizes stay."""
    shapes = {operand.name: operand.shape for operand in event.operands}
    if not _PADS.search(event.name) or "grad_output" not in shapes or shapes["grad_output"] != shapes.get("self"):
        return None
    return Condition(is_met=False, words="it padded nothing")


def _counts(entry: OperatorFacts, event: Event) -> Condition | None:
    counted = math.prod(event.operands[0].shape) if event.operands else 0
    if counted >= entry.exact_below:
        return None
    return Condition(is_met=False, words=f"on {counted:,} values, and it counts exactly below {entry.exact_below:,}")


def _indices(entry: OperatorFacts, event: Event) -> Condition | None:
    repetition = event.repetition
    # Whatever adds at an index, as packing a sequence does in its backward pass, only places met twice add up.
    if repetition is None or not (entry.repeated_indices or _ADDS.match(event.name)):
        return None
    if repetition.distinct == repetition.places:
        return Condition(is_met=False, words=f"its {repetition.places} indices were all distinct")
    if not entry.repeated_indices:
        return None
    share = f"{repetition.share:.0%}" if repetition.share >= 0.01 else "less than 1%"
    return Condition(
        is_met=True, words=f"{share} of its {repetition.places} writes went to a place that was written before"
    )


def _windows(entry: OperatorFacts, event: Event) -> Condition | None:
    # Whatever takes views, only one that holds an element twice adds up in its backward pass.
    is_asked = entry.overlapping_windows or "as_strided" in event.name
    if not is_asked or event.overlaps is None:
        return None
    if event.overlaps:
        return Condition(is_met=True, words="its windows overlap")
    is_fixed = "pool" in event.name and "adaptive" not in event.name
    return Condition(is_met=False, words="its windows share no element", is_fixed_by_code=is_fixed)


def _ties(entry: OperatorFacts, event: Event) -> Condition | None:
    if not entry.ties or event.ties is None:
        return None
    if event.ties:
        return Condition(is_met=True, words="equal values compete for an index")
    return Condition(is_met=False, words="no equal values competed for an index")


def _entries(entry: OperatorFacts, event: Event) -> Condition | None:
    if not entry.sums_entries:
        return None
    if event.sums_entries is None:
        return Condition(is_met=False, words="none of its operands is sparse")
    if event.sums_entries:
        return Condition(is_met=True, words="a row of the sparse operand holds several entries")
    return Condition(is_met=False, words="no row of the sparse operand holds two entries")


_OF_VALUES: tuple[Callable[[OperatorFacts, Event], Condition | None], ...] = (
    _padding,
    _counts,
    _indices,
    _windows,
    _ties,
    _entries,
)
"""What depends on the values and sizes of the operands."""
