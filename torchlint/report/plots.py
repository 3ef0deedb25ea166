"""Plots of the evidence as inline SVG: they have the colours of the page, and say in words what they show."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from torchlint.report.curve_plot import curve_plot
from torchlint.report.scales import LogScale, finite, log_scale, numbers
from torchlint.report.svg import WIDTH, Figure, label, shortened, text, upright
from torchlint.report.verify_words import is_told, short_number, worded

_MOST_BARS = 20
_MOST_TICKED = 12
"""Bins whose names all fit below a histogram."""
_WIDEST = 60.0
"""Of a column."""
_MOST_MARKS = 100
"""Runs of one size that are drawn one by one."""


@dataclass(frozen=True, slots=True)
class Plots:
    """Figures, and the keys of the evidence that they tell whole."""

    figures: tuple[Figure, ...]
    tell: frozenset[str]


def plots_of(evidence: Mapping[str, object]) -> Plots:
    """What of the evidence can be drawn."""
    drawn = {key: draw(evidence[key], evidence) for key, draw in _PLOTS.items() if key in evidence}
    figures = {key: figure for key, figure in drawn.items() if figure}
    return Plots(tuple(figures.values()), frozenset(key for drawn in figures for key in _TELLS[drawn]))


def _curve(value: object, _: Mapping[str, object]) -> Figure | None:
    return curve_plot(value)


# -- histogram ----------------------------------------------------------------------------------------


def _histogram(value: object, _: Mapping[str, object]) -> Figure | None:
    if not isinstance(value, dict) or not isinstance(value.get("bins"), Sequence):
        return None
    counts = [max(count or 0.0, 0.0) for count in numbers(value.get("counts"))]
    bins = [str(name) for name in value["bins"]][: len(counts)]
    counts = counts[: len(bins)]
    scale = log_scale(counts)
    if scale is None:
        return None
    is_wide = max(counts) > 50 * min(count for count in counts if count > 0)
    peak = bins[counts.index(max(counts))]
    words = f"{short_number(sum(counts))} elements in {len(bins)} bins; most are at {peak}"
    caption = "How far the differing elements are apart" + (" (logarithmic)" if is_wide else "")
    return Figure(caption, words, 220, tuple(_columns(bins, counts, scale if is_wide else None)))


def _columns(bins: Sequence[str], counts: Sequence[float], scale: LogScale | None) -> Iterator[str]:
    left, right, top, bottom = 20.0, WIDTH - 8.0, 22.0, 172.0
    width = min((right - left) / len(bins), _WIDEST)
    every = -(-len(bins) // _MOST_TICKED)
    decade = 1.0 if scale is None else (scale.high - scale.low + 1)
    for number, (name, count) in enumerate(zip(bins, counts, strict=True)):
        share = count / max(counts) if scale is None else 0.0
        if scale is not None and count > 0:
            share = (scale.share(count) * (decade - 1) + 1) / decade  # a count in the lowest decade is seen as well
        x, y = left + number * width, bottom - share * (bottom - top)
        said = text(f"{name}: {short_number(count)} elements")
        if count > 0:
            yield (
                f'<rect class="bar" x="{x + width * 0.08:.1f}" y="{y:.1f}" width="{width * 0.84:.1f}" '
                f'height="{max(bottom - y, 1.0):.1f}"><title>{said}</title></rect>'
            )
            if len(bins) <= _MOST_TICKED:
                yield label(x + width / 2, y - 4, short_number(count), "middle")
        if number % every == 0:
            yield label(x + width / 2, bottom + 15, shortened(name, 10), "middle")
    yield f'<line class="axis" x1="{left}" y1="{bottom}" x2="{right}" y2="{bottom}"/>'
    yield upright((top + bottom) / 2, "elements")
    yield label((left + right) / 2, 210, "distance in units in the last place (ULP)", "middle")


# -- bars ---------------------------------------------------------------------------------------------


def _ratios(value: object, _: Mapping[str, object]) -> Figure | None:
    if not isinstance(value, dict):
        return None
    return _bars(
        {str(name): value[name] for name in value},
        "Error against float64, in errors that float32 on the CPU makes itself",
        "times the CPU's own error (1: the same)",
    )


def _parts(value: object, _: Mapping[str, object]) -> Figure | None:
    """What the probe `devices` lists part by part: by ratio where it has one, and otherwise in roundings."""
    if not isinstance(value, list):
        return None
    parts = [part for part in value if isinstance(part, dict) and "place" in part]
    ratios = {str(part["place"]): part["ratio"] for part in parts if "ratio" in part}
    if ratios:
        return _ratios(ratios, {})
    return _bars(
        {str(part["place"]): part["roundings"] for part in parts if "roundings" in part},
        "Difference of the results and gradients, in roundings of their type",
        "roundings (1: half a unit in the last place)",
    )


def _bars(values: Mapping[str, object], caption: str, unit: str) -> Figure | None:
    """Horizontal bars from 1, to the right where a value is larger and to the left where it is smaller."""
    known = {name: finite(value) for name, value in values.items()}
    scale = log_scale([1.0, *(value for value in known.values() if value is not None)])
    if scale is None or not any(value is not None for value in known.values()):
        return None
    furthest = sorted(known.items(), key=lambda item: (-(item[1] if item[1] is not None else math.inf), item[0]))
    shown = furthest[:_MOST_BARS]
    count = f"{len(known)} value{'' if len(known) == 1 else 's'}"
    if len(known) > len(shown):
        caption = f"{caption}, the {len(shown)} largest of {len(known)}"
    name, worst = next((name, value) for name, value in furthest if value is not None)
    words = f"{count}; the largest number is {short_number(worst)} at {name}"
    return Figure(caption, words, 30 * len(shown) + 44, tuple(_bar_rows(shown, scale, unit)))


def _bar_rows(rows: Sequence[tuple[str, float | None]], scale: LogScale, unit: str) -> Iterator[str]:
    left, right = 8.0, WIDTH - 8.0
    bottom = 30.0 * len(rows) + 6

    def across(share: float) -> float:
        return left + share * (right - left)

    for share, words in scale.ticks:
        yield f'<line class="grid" x1="{across(share):.1f}" y1="4" x2="{across(share):.1f}" y2="{bottom}"/>'
        anchor = "start" if share < 0.05 else "end" if share > 0.95 else "middle"
        yield label(across(share), bottom + 14, words, anchor)
    one = across(scale.share(1.0))
    yield f'<line class="axis" x1="{one:.1f}" y1="4" x2="{one:.1f}" y2="{bottom}"/>'
    for number, (name, value) in enumerate(rows):
        y = 6 + 30 * number
        said = "not a finite number" if value is None else short_number(value)
        yield f"<g><title>{text(f'{name}: {said}')}</title>"
        yield label(left, y + 10, shortened(name, 40), "start", "name")
        yield label(right, y + 10, said, "end", "name")
        if value is not None:
            end = across(scale.share(value)) if value > 0 else left
            start, length = min(one, end), max(abs(end - one), 2.0)
            kind = "bar beyond" if value > 1 else "bar"
            yield f'<rect class="{kind}" x="{start:.1f}" y="{y + 14}" width="{length:.1f}" height="9"/>'
        yield "</g>"
    yield label((left + right) / 2, bottom + 32, unit, "middle")


# -- runs ---------------------------------------------------------------------------------------------


def _runs(value: object, evidence: Mapping[str, object]) -> Figure | None:
    """A row for each size of the input, a mark for each run: comparing ends with the first run that differs."""
    if not isinstance(value, dict):
        return None
    counts = {str(scale): int(finite(runs) or 0) for scale, runs in value.items()}
    differing = str(evidence["scale"]) if "scale" in evidence and "run" in evidence else None
    sizes = evidence.get("input_sizes")
    rows = [
        _Row(_input_words(scale, sizes), runs, differs=scale == differing) for scale, runs in counts.items() if runs > 0
    ]
    if not rows:
        return None
    told = "; ".join(f"{row.name}: {row.words}" for row in rows)
    return Figure("Runs that were compared with the first", told, 34 * len(rows) + 6, tuple(_marks(rows)))


@dataclass(frozen=True, slots=True)
class _Row:
    name: str
    runs: int
    differs: bool

    @property
    def words(self) -> str:
        if self.differs:
            return f"run {self.runs:,} gave other bits"
        return f"{self.runs:,} runs, no bit differed" if self.runs > 1 else "one run, compared with none"


def _input_words(scale: str, sizes: object) -> str:
    copies = "the input" if scale == "1" else f"{scale} copies"
    size = sizes.get(scale) if isinstance(sizes, dict) else None
    return f"{copies} ({worded(size)})" if is_told(size) else copies


def _marks(rows: Sequence[_Row]) -> Iterator[str]:
    left, right = 8.0, WIDTH - 8.0
    for number, row in enumerate(rows):
        y = 4 + 34 * number
        yield label(left, y + 10, shortened(row.name, 40), "start", "name")
        yield label(right, y + 10, row.words, "end", "name")
        shown = min(row.runs, _MOST_MARKS)
        pitch = min((right - left) / shown, 16.0)
        for run in range(shown):
            kind = "other" if row.differs and run == shown - 1 else "first" if run == 0 else "same"
            yield (
                f'<rect class="run {kind}" x="{left + run * pitch:.1f}" y="{y + 15}" '
                f'width="{max(pitch - 2, 1.5):.1f}" height="{15 if kind == "other" else 13}"/>'
            )


_PLOTS: dict[str, Callable[[object, Mapping[str, object]], Figure | None]] = {
    "curve": _curve,
    "curve_of_threads": _curve,
    "ulp_histogram": _histogram,
    "ratios": _ratios,
    "parts": _parts,
    "runs_by_scale": _runs,
}
_TELLS: dict[str, tuple[str, ...]] = {
    "curve": ("curve",),
    "curve_of_threads": ("curve_of_threads",),
    "ulp_histogram": ("ulp_histogram",),
    "ratios": ("ratios",),
    "parts": (),  # its table holds more
    "runs_by_scale": ("runs_by_scale", "input_sizes", "run", "scale"),
}
