"""What the recorder sees: one event for each operator of interest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from torchlint.recording.tracing.lines import Line


@dataclass(frozen=True)
class Operand:
    """One tensor argument, as far as conditions ask about it."""

    name: str
    """As torch's schema calls it: `self`, `index`, `grad_output`."""
    dtype: Literal["float", "complex", "integer", "bool"]
    shape: tuple[int, ...]
    is_sparse: bool = False


@dataclass(frozen=True)
class Repetition:
    """How often an operator that writes by indices meets the same place."""

    places: int
    distinct: int
    has_conflicts: bool | None
    """Whether one place gets different values, of which the last stays; None for what adds up."""
    fingerprint: int
    """Of the places in their order: equal ones of two runs on different inputs show that inputs do not decide them."""

    @property
    def share(self) -> float:
        """The part of all writes that meet a place that an earlier one met."""
        return 1 - self.distinct / self.places if self.places else 0.0


@dataclass(frozen=True)
class Event:
    """One operator that was dispatched."""

    name: str
    """In full, as `aten.index_add.default`."""
    is_backward: bool
    is_called: bool = False
    """Whether the backward of a `torch.autograd.Function` calls it itself, as a forward pass would."""
    operands: tuple[Operand, ...] = ()
    forward_lines: tuple[Line, ...] = ()
    """The lines outside torch that led to it (of a backward operator: to the forward call it belongs to), innermost
    first."""
    constructor_lines: tuple[Line, ...] = ()
    """Where the module that called it was constructed: its own constructors, and last the call of its class."""
    module: str = ""
    """That module's name in the model, as `encoder.pad`."""
    repetition: Repetition | None = None
    overlaps: bool | None = None
    """Whether pooling windows share elements; None where that is no question."""
    ties: bool | None = None
    """Whether equal values compete for the index that is returned; None where that is no question."""
    sums_entries: bool | None = None
    """Whether a row of a sparse operand holds several entries; None where that is no question."""
