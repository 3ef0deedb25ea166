"""How two trainings drift apart, step by step: a line for all, and thin ones for the modules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from torchlint.report.scales import LogScale, finite, log_scale, numbers, whole_ticks
from torchlint.report.svg import WIDTH, Figure, Key, label, shortened, text, upright
from torchlint.report.verify_words import short_number

_LEFT, _RIGHT, _TOP, _BOTTOM = 50.0, WIDTH - 10.0, 10.0, 214.0
_ZERO = 230.0
"""Where equal values lie: zero is on no logarithmic axis."""
_HEIGHT = 274
_NAMED = 4
"""Modules that have a colour of their own: the furthest apart at the end."""

_Point = tuple[float, float]


@dataclass(frozen=True)
class _Curve:
    axis: str
    pair: str
    steps: tuple[int, ...]
    total: tuple[float | None, ...]
    modules: dict[str, tuple[float | None, ...]]

    @property
    def all_values(self) -> list[float | None]:
        return [*self.total, *(value for line in self.modules.values() for value in line)]

    @property
    def furthest(self) -> list[str]:
        return sorted(self.modules, key=lambda name: (-_last(self.modules[name]), name))


def curve_plot(value: object, axis: str = "greatest difference of parameters") -> Figure | None:
    """The figure, or nothing where there is no value to draw."""
    curve = _read(value, axis)
    known = [abs(value) for value in curve.all_values if value is not None]
    if not known:
        return None
    pair = f" ({curve.pair})" if curve.pair else ""
    return Figure(
        f"How far two trainings are apart{pair}",
        _words(curve),
        _HEIGHT,
        tuple(_drawn(curve, log_scale(known))),
        tuple(_legend(curve)),
        _note(curve),
    )


def _read(value: object, axis: str) -> _Curve:
    found: Mapping[str, object] = value if isinstance(value, dict) else {}
    modules = found.get("modules")
    lines = {str(name): tuple(numbers(line)) for name, line in modules.items()} if isinstance(modules, dict) else {}
    total = tuple(numbers(found.get("total")))
    length = max([len(total), *map(len, lines.values())])
    given = [int(step) for step in numbers(found.get("steps")) if step is not None]
    steps = tuple(given) if len(given) >= length else tuple(range(1, length + 1))
    pair = found.get("pair")
    return _Curve(axis, pair if isinstance(pair, str) else "", steps[:length], total, lines)


def _drawn(curve: _Curve, scale: LogScale | None) -> Iterator[str]:
    low, high = min(curve.steps), max(curve.steps)

    def across(step: int) -> float:
        return _LEFT + (0.5 if high == low else (step - low) / (high - low)) * (_RIGHT - _LEFT)

    def height(value: float) -> float:
        return _BOTTOM - scale.share(value) * (_BOTTOM - _TOP) if value > 0 and scale else _ZERO

    def line(values: Sequence[float | None]) -> str:
        points = [
            None if value is None else (across(step), height(abs(value)))
            for step, value in zip(curve.steps, values, strict=False)
        ]
        return _path(points)

    yield from _axes(scale, [(across(step), step) for step in whole_ticks(low, high)], 0 in curve.all_values)
    yield upright((_TOP + _BOTTOM) / 2, curve.axis)
    for number, name in reversed(list(enumerate(curve.furthest, 1))):
        kind = f"series s{number}" if number <= _NAMED else "series"
        title = text(name or "the model itself")
        yield f'<path class="{kind}" d="{line(curve.modules[name])}"><title>{title}</title></path>'
    if curve.total:
        yield f'<path class="series total" d="{line(curve.total)}"><title>in total</title></path>'


def _axes(scale: LogScale | None, steps: Iterable[tuple[float, int]], has_zero: bool) -> Iterator[str]:  # noqa: FBT001 - a plain fact
    for share, words in scale.ticks if scale else ():
        y = _BOTTOM - share * (_BOTTOM - _TOP)
        yield f'<line class="grid" x1="{_LEFT}" y1="{y:.1f}" x2="{_RIGHT}" y2="{y:.1f}"/>'
        yield label(_LEFT - 6, y + 4, words, "end")
    if has_zero:
        yield f'<line class="grid zero" x1="{_LEFT}" y1="{_ZERO}" x2="{_RIGHT}" y2="{_ZERO}"/>'
        yield label(_LEFT - 6, _ZERO + 4, "0", "end")
    yield f'<line class="axis" x1="{_LEFT}" y1="{_TOP}" x2="{_LEFT}" y2="{_ZERO if has_zero else _BOTTOM}"/>'
    for x, step in steps:
        yield label(x, _ZERO + 18, str(step), "middle")
    yield label((_LEFT + _RIGHT) / 2, _ZERO + 36, "optimiser step", "middle")


def _path(points: Iterable[_Point | None]) -> str:
    """Lines between neighbours; a point that stands alone is a line to itself, which round ends make a dot."""
    parts: list[str] = []
    run: list[_Point] = []
    for point in (*points, None):
        if point is not None:
            run.append(point)
        elif run:
            parts.append("M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in (run if len(run) > 1 else run * 2)))
            run = []
    return "".join(parts)


def _legend(curve: _Curve) -> Iterator[Key]:
    named = curve.furthest[:_NAMED]
    if curve.total:
        yield Key("total", "in total")
    for number, name in enumerate(named, 1):
        yield Key(f"s{number}", shortened(name or "the model itself", 60))
    if len(curve.modules) > len(named):
        yield Key("", f"{len(curve.modules) - len(named)} more modules")


def _words(curve: _Curve) -> str:
    lines = {"in total": curve.total} if any(value is not None for value in curve.total) else curve.modules
    known = [value for line in lines.values() for value in line if value is not None]
    return f"{len(curve.steps)} steps, between {short_number(min(known))} and {short_number(max(known))}"


def _note(curve: _Curve) -> str:
    """What the axis cannot show."""
    broken = [
        step
        for line in (curve.total, *curve.modules.values())
        for step, value in zip(curve.steps, line, strict=False)
        if value is None
    ]
    return f"from step {min(broken)} on, not every value is a finite number" if broken else ""


def _last(line: Sequence[float | None]) -> float:
    """The last value; a line that ends in no number is the furthest of all."""
    if not line:
        return 0.0
    value = finite(line[-1])
    return float("inf") if value is None else abs(value)
