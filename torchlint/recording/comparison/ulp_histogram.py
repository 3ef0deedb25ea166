"""How many elements of two results are how many units in the last place apart."""

from __future__ import annotations

import torch

from torchlint.recording.comparison.differences import rounding

_AS_INTEGERS = {
    torch.float16: torch.int16,
    torch.bfloat16: torch.int16,
    torch.float32: torch.int32,
    torch.float64: torch.int64,
}
_LAST = 16
"""Bins double: the last one holds everything from 2 to the power of this."""


def ulp_histogram(first: torch.Tensor, other: torch.Tensor) -> dict[str, list[str] | list[int]] | None:
    """`bins` and `counts`: equal elements, those below the floor, and then 1, 2-3, 4-7 and so on.

    The floor is one rounding of the largest value: where values cancel to almost nothing, the last place is noise.
    Elements that are not finite on both sides are left out. None for what has no units in the last place.
    """
    if first.dtype not in _AS_INTEGERS or first.dtype != other.dtype or first.shape != other.shape:
        return None
    if first.layout != torch.strided or other.layout != torch.strided or not first.numel():
        return None
    one, two = (each.detach().cpu().contiguous().reshape(-1) for each in (first, other))
    finite = one.isfinite() & two.isfinite()
    one, two = one[finite], two[finite]
    if not one.numel():
        return None
    apart = (one.double() - two.double()).abs()
    floor = rounding(first.dtype) * float(two.double().abs().max())
    ulps = (_in_order(one) - _in_order(two)).abs()
    counted = ulps[apart > floor]
    bins, counts = ["0", "below the floor"], [int((apart == 0).sum()), int(((apart > 0) & (apart <= floor)).sum())]
    for power in range(_LAST + 1):
        low, high = 1 << power, (1 << (power + 1)) - 1
        inside = counted >= low if power == _LAST else (counted >= low) & (counted <= high)
        bins.append(f"{low}+" if power == _LAST else str(low) if low == high else f"{low}-{high}")
        counts.append(int(inside.sum()))
    while len(counts) > 3 and not counts[-1]:
        bins.pop()
        counts.pop()
    return {"bins": bins, "counts": counts}


def _in_order(values: torch.Tensor) -> torch.Tensor:
    """Whole numbers in the order of the values, one apart where the values are neighbours."""
    kind = _AS_INTEGERS[values.dtype]
    raw = values.view(kind).to(torch.int64)
    lowest = torch.iinfo(kind).min
    return torch.where(raw < 0, lowest - raw, raw)
