"""What `diverge` found as one HTML file that needs nothing else: no script, no font, no network."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from torchlint.diverge.data import Cause, Divergence, Growth, Ran, Verdict
from torchlint.report.curve_plot import curve_plot
from torchlint.report.diverge_words import (
    NOT_PROVEN,
    UNEXPLAINED,
    cure_words,
    detail_words,
    elsewhere_words,
    factor_words,
    following_words,
    growth_words,
    kind_words,
    next_words,
    trial_words,
    verdict_words,
)
from torchlint.report.html_page import page_lines
from torchlint.report.svg import Figure
from torchlint.report.verify_evidence import Table

_LOOKS: dict[Verdict, tuple[str, str]] = {"EQUAL": ("blue", "="), "DIFFERENT": ("red", "✗"), "FAILED": ("red", "!")}
"""The class of a verdict's colours, and a sign for those who do not see them. Equal runs are no green: they prove
nothing."""
_MOST_LOSSES = 20


@dataclass(frozen=True, slots=True)
class _Card:
    """A cause as the page shows it."""

    cause: Cause
    leading: str
    """What leads to it from the one before."""
    facts: dict[str, str]
    experiments: Table | None


def html_lines(found: Divergence) -> Iterator[str]:
    """Yield the file's lines."""
    colour, sign = _LOOKS[found.verdict]
    return page_lines(
        "diverge.html",
        found=found,
        command=shlex.join(found.command),
        verdict=verdict_words(found),
        colour=colour,
        sign=sign,
        software=_software(found.runs),
        cards=[_card(found, number) for number in range(len(found.causes))],
        figures=_figures(found.growth),
        grown=growth_words(found.growth),
        losses=_losses(found.growth),
        runs=_runs(found.runs),
        kind_words=kind_words,
        detail_words=detail_words,
        factor_words=factor_words,
        cure_words=cure_words,
        elsewhere_words=elsewhere_words,
        following=next_words(found),
        unexplained=UNEXPLAINED,
        not_proven=NOT_PROVEN,
    )


def _card(found: Divergence, number: int) -> _Card:
    cause = found.causes[number]
    leading = following_words(found.causes[number - 1], cause) if number else ""
    return _Card(cause, leading, _facts(cause), _experiments(cause))


def _facts(cause: Cause) -> dict[str, str]:
    told = {"step": str(cause.step), "process": cause.process, "what differs": ", ".join(cause.differing)}
    if cause.origin is not None:
        found = cause.origin.found
        operator = found.operator
        told |= {
            "kind": found.kind,
            "operator": operator.name,
            "direction": operator.row.direction,
            "module": operator.module,
            "takes": ", ".join(operator.taken),
            "gives": ", ".join(operator.given),
        }
    return {name: words for name, words in told.items() if words}


def _experiments(cause: Cause) -> Table | None:
    rows = tuple(
        (", ".join(each.held), trial_words(each), str(each.runs), f"{each.seconds:.1f}") for each in cause.trials
    )
    return Table("experiments", ("held fixed", "the runs were", "runs", "seconds"), rows) if rows else None


def _runs(runs: Sequence[Ran]) -> Table:
    rows = tuple(
        (
            str(number),
            str(each.exit),
            f"{each.recorded.steps:,}",
            f"{each.recorded.operators:,}",
            f"{each.seconds:.1f}",
            ", ".join(each.vary) or "nothing",
        )
        for number, each in enumerate(runs, 1)
    )
    return Table("runs", ("run", "exit", "steps", "operators", "seconds", "varied"), rows)


def _software(runs: Sequence[Ran]) -> list[str]:
    """`torch 2.13.0`: each release that one of the runs had."""
    headers = [recording.header for each in runs for recording in each.recorded.processes.values()]
    told = (f"{name} {release}" for header in headers for name, release in header.software.items() if release)
    return list(dict.fromkeys(told))


# -- growth -------------------------------------------------------------------------------------------


def _figures(growth: Sequence[Growth]) -> list[Figure]:
    apart = [(each.step, each.relative) for each in growth if each.relative is not None]
    losses = [(each.step, abs(each.loss[0] - each.loss[1])) for each in growth if each.loss is not None]
    drawn = (
        _figure("parameters", apart, "distance, relative to their size"),
        _figure("loss", losses, "difference"),
    )
    return [each for each in drawn if each is not None]


def _figure(name: str, points: Sequence[tuple[int, float]], axis: str) -> Figure | None:
    steps, values = [step for step, _ in points], [value for _, value in points]
    return curve_plot({"pair": name, "steps": steps, "modules": {name: values}}, axis)


def _losses(growth: Sequence[Growth]) -> Table | None:
    """Some steps at even distances, and the one from which on the losses differ."""
    known = [each for each in growth if each.loss is not None]
    every = max(1, -(-len(known) // _MOST_LOSSES))
    visible = next((each for each in known if each.digit is not None), None)
    shown = [each for number, each in enumerate(known) if number % every == 0 or each is visible or each is known[-1]]
    rows = tuple(tuple(_loss_cells(each)) for each in shown)
    heads = ("step", "loss, first run", "loss, second run", "digits that show it")
    return Table("losses", heads, rows) if rows else None


def _loss_cells(growth: Growth) -> Iterator[str]:
    assert growth.loss is not None
    yield str(growth.step)
    yield from (f"{each:.8g}" for each in growth.loss)
    yield "" if growth.digit is None else str(growth.digit)
