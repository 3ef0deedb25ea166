"""What `diverge` found, for the terminal: at most a screen."""

from __future__ import annotations

from collections.abc import Iterator

from torchlint.diverge.data import Cause, Divergence
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
from torchlint.report.paint import Paint, one_line

_COLOURS = {"EQUAL": "cyan", "DIFFERENT": "red", "FAILED": "red"}
_STACK = 6


def text_lines(found: Divergence, *, colour: bool) -> Iterator[str]:
    """Yield the verdict, and for each cause its place, factor, explanation and cure."""
    return _lines(found, Paint(colour), is_full=False)


def full_lines(found: Divergence, *, colour: bool) -> Iterator[str]:
    """Yield the same with stacks, all experiments and the growth step by step."""
    return _lines(found, Paint(colour), is_full=True)


def _lines(found: Divergence, paint: Paint, *, is_full: bool) -> Iterator[str]:
    words = verdict_words(found)
    head, rest = words[: len(found.verdict)], words[len(found.verdict) :]
    yield paint.coloured(head, _COLOURS[found.verdict]) + one_line(rest)
    for number, cause in enumerate(found.causes, 1):
        if number > 1:
            yield following_words(found.causes[number - 2], cause)
        for line in _cause(cause, is_full=is_full):
            yield f"  {one_line(line)}"
    yield from (f"  {one_line(line)}" for line in _closing(found, is_full=is_full))


def _cause(cause: Cause, *, is_full: bool) -> Iterator[str]:
    if cause.source is not None:
        yield f"{cause.source.shown}: {cause.source.text}"
    yield kind_words(cause)
    yield from detail_words(cause)
    if is_full:
        yield from (f"called from {each.shown}: {each.text}" for each in cause.stack[1:_STACK])
    for entered in cause.entered:
        place = "" if entered.source is None else f" ({entered.source.shown})"
        yield f"before it, not the same: {entered.words}{place}"
    yield from (f"factor: {words}" for words in factor_words(cause))
    if is_full:
        for trial in cause.trials:
            told = f"{trial_words(trial)} ({trial.runs} runs, {trial.seconds:.1f} s)"
            yield f"experiment: {', '.join(trial.held)} held: {told}"
    for each in cause.explained_by:
        yield f"explained by: {each.path}:{each.line}: {each.code} {each.message}"
    if cause.source is not None and not cause.explained_by:
        yield f"explained by: {UNEXPLAINED}"
    yield from (f"cure: {cure_words(each)}" for each in cause.cures)


def _closing(found: Divergence, *, is_full: bool) -> Iterator[str]:
    if found.growth and found.verdict == "DIFFERENT":
        told = growth_words(found.growth)
        if told:
            yield f"growth: {told}"
        if is_full:
            for each in found.growth:
                losses = "" if each.loss is None else f", loss {each.loss[0]:.8g} and {each.loss[1]:.8g}"
                apart = "" if each.relative is None else f" parameters {each.relative:.3g} apart"
                yield f"step {each.step}:{apart}{losses}"
    yield from map(elsewhere_words, found.elsewhere)
    if found.verdict == "EQUAL":
        if found.not_varied:
            yield f"not varied: {', '.join(found.not_varied)}"
        yield NOT_PROVEN
    yield from (f"note: {each}" for each in found.notes)
    following = next_words(found)
    if following:
        yield f"next: {following}"
