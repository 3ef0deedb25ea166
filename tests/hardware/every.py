"""All cases, by the id of the entry."""

from __future__ import annotations

from tests.hardware.case import Case
from tests.hardware.cases import (
    attention,
    elsewhere,
    gather,
    grid_sampling,
    histogram,
    interpolation,
    layers,
    losses,
    memory,
    order_statistics,
    padding,
    pooling,
    scan,
    scatter,
    sparse,
)

FAMILIES = (
    *(attention, elsewhere, gather, grid_sampling, histogram, interpolation, layers, losses, memory),
    *(order_statistics, padding, pooling, scan, scatter, sparse),
)
LISTED: list[Case] = [case for family in FAMILIES for case in family.CASES]
CASES: dict[str, Case] = {case.id: case for case in LISTED}
