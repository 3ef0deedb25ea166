"""What the probes need of the registry, for the torch that runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from torchlint.catalogue.registry import Operator
from torchlint.catalogue.versions import Minor
from torchlint.recording.messages import OperatorFacts

_DEVICES = ("cpu", "cuda", "mps", "xpu")


def operator_facts(operators: Iterable[Operator], torch: Minor) -> tuple[OperatorFacts, ...]:
    """The entries in the form that travels to the process, with the rows of the torch that runs there."""
    return tuple(_facts(operator, torch) for operator in operators)


def _facts(operator: Operator, torch: Minor) -> OperatorFacts:
    condition = operator.condition
    return OperatorFacts(
        id=operator.id,
        aten=operator.aten,
        direction=operator.direction,
        varies_on=tuple(_where_it_varies(operator, torch)),
        raises_on=tuple(_where_it_raises(operator, torch)),
        alerts=operator.alerts,
        dtype=condition.dtype,
        rank=condition.rank,
        repeated_indices=bool(condition.repeated_indices),
        overlapping_windows=condition.overlapping_windows,
        ties=condition.result == "indices",
        sums_entries=condition.sums_entries,
        exact_below=condition.exact_below,
    )


def _where_it_varies(operator: Operator, torch: Minor) -> Iterator[str]:
    if operator.condition.only_refused:
        return
    for device in _DEVICES:
        row = operator.row_for(device, torch)
        if row is not None and row.under_mode != "always_deterministic":
            yield device


def _where_it_raises(operator: Operator, torch: Minor) -> Iterator[str]:
    for device in _DEVICES:
        row = operator.row_for(device, torch)
        if row is not None and row.under_mode == "raises":
            yield device
