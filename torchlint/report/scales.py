"""Where a value lies along an axis, and which values are written beside it. Takes what JSON may hold, and worse."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_MOST_TICKS = 7


@dataclass(frozen=True, slots=True)
class LogScale:
    """Whole decades, from 10**low to 10**high."""

    low: int
    high: int

    def share(self, value: float) -> float:
        """From 0 at the low end to 1 at the high one; what lies outside is at the end."""
        place = (math.log10(value) - self.low) / (self.high - self.low)
        return min(max(place, 0.0), 1.0)

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """Shares of the length, each with what is written there; 1 is among them where it is on the axis."""
        step = -(-(self.high - self.low) // _MOST_TICKS)
        decades = range(-(-self.low // step) * step, self.high + 1, step)
        return [((decade - self.low) / (self.high - self.low), _decade(decade)) for decade in decades]


def log_scale(values: Iterable[float]) -> LogScale | None:
    """The decades that hold all values above zero; None where there is none."""
    logs = [math.log10(value) for value in values if value > 0 and math.isfinite(value)]
    if not logs:
        return None
    low, high = math.floor(min(logs)), math.ceil(max(logs))
    return LogScale(low, max(high, low + 1))


def whole_ticks(low: int, high: int, most: int = _MOST_TICKS) -> list[int]:
    """Round whole numbers between two, at most so many."""
    step = 1
    for factor in _growing():
        step = factor
        if (high - low) // step < most:
            break
    return list(range(-(-low // step) * step, high + 1, step))


def _growing() -> Iterable[int]:
    power = 1
    while True:
        yield from (power, 2 * power, 5 * power)
        power *= 10


def finite(value: object) -> float | None:
    """A number that can be drawn; None for NaN, infinities, and what is no number at all."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def numbers(values: object) -> list[float | None]:
    return [finite(value) for value in values] if isinstance(values, Sequence) and not isinstance(values, str) else []


def _decade(decade: int) -> str:
    """`0.01`, `100` or `1e-8`."""
    return f"{10.0**decade:g}" if -2 <= decade <= 3 else f"1e{decade}"
