"""What the probes need of the registry, for the torch that runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from torchlint.catalogue.registry import Operator, Row
from torchlint.catalogue.versions import Minor
from torchlint.recording.messages import OperatorFacts

_DEVICES = ("cpu", "cuda", "mps", "xpu")


def operator_facts(
    operators: Iterable[Operator], torch: Minor, *, is_refused: bool = False
) -> tuple[OperatorFacts, ...]:
    """The entries in the form that travels to the process, with the rows of the torch that runs there.

    `is_refused`: the program turns the determinism mode on, and the question is which calls torch refuses.
    """
    return tuple(_facts(operator, torch, is_refused=is_refused) for operator in operators)


def _facts(operator: Operator, torch: Minor, *, is_refused: bool) -> OperatorFacts:
    condition = operator.condition
    refusing = dict(_rows(operator, torch, "raises"))
    varies_on = tuple(refusing) if is_refused else tuple(_where_it_varies(operator, torch))
    any_type = is_refused and any(row.any_type for row in refusing.values())
    return OperatorFacts(
        id=operator.id,
        aten=operator.aten,
        direction=operator.direction,
        varies_on=varies_on,
        raises_on=tuple(refusing),
        alerts=operator.alerts,
        dtype=() if any_type else condition.dtype,
        rank=condition.rank,
        repeated_indices=bool(condition.repeated_indices),
        overlapping_windows=condition.overlapping_windows,
        ties=condition.result == "indices",
        sums_entries=condition.sums_entries,
        exact_below=condition.exact_below,
        steady_if={device: words for device in varies_on if (words := _what_makes_steady(operator, device, torch))},
        when=condition.text if operator.is_context else "",
        is_context=operator.is_context,
        is_refused=is_refused,
        any_input=is_refused and any(row.any_input for row in refusing.values()),
    )


def _rows(operator: Operator, torch: Minor, under_mode: str) -> Iterator[tuple[str, Row]]:
    for device in _DEVICES:
        row = operator.row_for(device, torch)
        if row is not None and row.under_mode == under_mode:
            yield device, row


def _where_it_varies(operator: Operator, torch: Minor) -> Iterator[str]:
    if operator.condition.only_refused:
        return
    for device in _DEVICES:
        row = operator.row_for(device, torch)
        if row is not None and row.under_mode != "always_deterministic" and not _is_vague(operator, row):
            yield device


def _is_vague(operator: Operator, row: Row) -> bool:
    """Whether a row claims too little to be told of a call: of context, a guess or the refusal of special tensors."""
    return operator.is_context and (row.confidence == "low" or row.under_mode == "raises")


def _what_makes_steady(operator: Operator, device: str, torch: Minor) -> str:
    """`torch.backends.cudnn.deterministic is True or the determinism mode is on`; nothing where no switch does."""
    ways = [
        f"`{name}` is {value}"
        for name, value in operator.unless_switched.items()
        if device == "cuda" or ".cudnn." not in name
    ]
    row = operator.row_for(device, torch)
    if row is not None and row.under_mode == "deterministic_alternative":
        ways.append("the determinism mode is on")
    return " or ".join(filter(None, [", ".join(ways[:-1]), *ways[-1:]]))
