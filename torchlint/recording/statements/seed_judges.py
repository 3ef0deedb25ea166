"""Judges of seeds: TL301 to TL303 and TL312. They compare runs that began from other random numbers."""

from __future__ import annotations

from torchlint.recording.messages import Answer
from torchlint.recording.statements.case import Case
from torchlint.recording.statements.flattened import GENERATOR, Difference, difference
from torchlint.recording.statements.observed import Event, Observed
from torchlint.recording.statements.places import find_place, made_names
from torchlint.recording.statements.switch_judges import not_reached

_LIBRARIES = ("torch", "numpy", "random")
_START = 2
"""The generators of the second run begin from another number."""
_PAUSE = 1.1
"""Seconds between two runs, so that a clock of whole seconds has gone on."""


def judge_unseeded_program(case: Case) -> Answer:
    """TL301: the program draws from a library before anything seeds it, and what it keeps differs."""
    unseeded = {name: draws for name in _LIBRARIES if (draws := _draws_before_seed(case.seen, name))}
    if not case.seen.reached:
        return not_reached(case)
    if case.seen.stubs:
        names = ", ".join(case.seen.stubs)
        return case.says("NOT REPRODUCED", f"not installed here, and might seed: {names}")
    differing = _differing(case.seen, case.again(_START))
    if not unseeded:
        return _all_seeded(case, differing)
    missing = ", ".join(unseeded)
    first = min((draws[0] for draws in unseeded.values()), key=case.seen.events.index)
    values = {"unseeded": list(unseeded), "first_draw": first.words, **_evidence(differing)}
    if not differing:
        reason = f"line {first.line} draws from {first.name} before any seed, but nothing that was kept differs"
        reason += _because(case.seen)
        return case.says("NOT REPRODUCED", reason, **values)
    if _is_broken_off(case.seen):
        return case.says("NOT REPRODUCED", f"the run did not finish: {case.seen.ended_by}", **values)
    name, change = next(iter(differing.items()))
    reason = f"line {first.line} draws from {missing} before any seed, and `{name}` differs between two starts"
    return case.says("CONFIRMED", f"{reason}: {_shown(change)}", **values)


def _all_seeded(case: Case, differing: dict[str, Difference]) -> Answer:
    draws = [event for event in case.seen.events if event.what == "draw"]
    if not draws:
        return case.says("NOT REPRODUCED", "nothing was drawn from torch, numpy or random" + _because(case.seen))
    if differing or case.seen.ended_by or case.seen.was_cut:
        return case.says("NOT REPRODUCED", "every library was seeded before its first draw, as far as the run got")
    names = sorted({event.name for event in draws})
    reason = f"{', '.join(names)} seeded before the first draw, and two starts gave the same values"
    return case.says("REFUTED", reason, draws=len(draws), compared=list(case.seen.values))


def judge_late_seed(case: Case) -> Answer:
    """TL303: something that stays comes from a draw before the first seed."""
    seeds = [event for event in case.seen.of("seed") if _is_in_statement(case, event)]
    if not case.seen.reached:
        return not_reached(case)
    if not seeds:
        return case.says("NOT REPRODUCED", f"line {case.line} seeded none of torch, numpy and random")
    order = case.seen.events
    for seed in seeds:
        before = order[: order.index(seed)]
        earlier = [event for event in before if event.what == "seed" and event.name == seed.name]
        draws = [event for event in before if event.what == "draw" and event.name == seed.name]
        if earlier and (not draws or order.index(earlier[0]) < order.index(draws[0])):
            reason = f"line {earlier[0].line} seeds {seed.name} before its first draw"
            return case.says("REFUTED", reason, first_seed=earlier[0].words)
        if draws:
            return _judge_kept(case, seed, draws)
    return case.says("NOT REPRODUCED", f"nothing was drawn from {seeds[0].name} before line {seeds[0].line}")


def _judge_kept(case: Case, seed: Event, draws: list[Event]) -> Answer:
    differing = _differing(case.seen, case.again(_START))
    values = {"first_draw": draws[0].words, "first_seed": seed.words, **_evidence(differing)}
    if differing and _is_broken_off(case.seen):
        # What was drawn early may be drawn anew further on.
        return case.says("NOT REPRODUCED", f"the run did not finish: {case.seen.ended_by}", **values)
    if differing:
        name, change = next(iter(differing.items()))
        reason = f"line {draws[0].line} draws from {seed.name} before line {seed.line} seeds it, and `{name}` differs"
        return case.says("CONFIRMED", f"{reason} between two starts: {_shown(change)}", **values)
    compared = [name for name, flat in case.seen.values.items() if flat.by_place]
    reason = f"line {draws[0].line} draws before line {seed.line} seeds, but nothing that was kept differs"
    reason += _because(case.seen)
    if compared and not case.seen.ended_by and all(flat.is_whole for flat in case.seen.values.values()):
        return case.says("REFUTED", f"{reason} between two starts", compared=compared, **values)
    return case.says("NOT REPRODUCED", reason, **values)


def judge_entropy_seed(case: Case) -> Answer:
    """TL302: a later run gets another seed."""
    is_salted = "hash(" in _flagged_text(case)
    first_run = case.started_anew(1) if is_salted else case.seen
    second_run = case.started_anew(2) if is_salted else case.again(1, _PAUSE)
    first, second = _seeded_by(case, first_run), _seeded_by(case, second_run)
    if not first:
        return case.says("NOT REPRODUCED", f"line {case.line} seeded no known generator")
    changed = [name for name in first if name in second and first[name] != second[name]]
    values = {"seeds": [f"{name}: {first[name]} → {second.get(name, 'none')}" for name in first]}
    if changed:
        name = changed[0]
        reason = f"line {case.line} seeded {name} with {first[name]} in one run and {second[name]} in the next"
        return case.says("CONFIRMED", reason, **values)
    if set(first) != set(second):
        return case.says("NOT REPRODUCED", "the two runs did not seed the same generators", **values)
    return case.says("REFUTED", f"line {case.line} seeded {', '.join(first)} alike in two runs", **values)


def _seeded_by(case: Case, seen: Observed) -> dict[str, str]:
    """The seed, or the state after it, by library or by the generator's name."""
    found = {event.name: event.after for event in seen.of("seed") if _is_in_statement(case, event)}
    place = find_place(case.context.request.code.text, case.finding)
    for name in made_names(place.statement) if place else ():
        state = seen.values[name].by_place.get(GENERATOR) if name in seen.values else None
        if state is not None:
            found[f"`{name}`"] = state
    return found


def _flagged_text(case: Case) -> str:
    lines = case.context.request.code.text.splitlines()
    return "\n".join(lines[case.finding.line - 1 : case.finding.end_line])


def _is_in_statement(case: Case, event: Event) -> bool:
    """A seed in the flagged line, or in a function of the file that it calls."""
    return event.line in case.lines or event.called_from in case.lines


def _draws_before_seed(seen: Observed, library: str) -> list[Event]:
    found = []
    for event in seen.events:
        if event.name == library and event.what == "seed":
            break
        if event.name == library and event.what == "draw":
            found.append(event)
    return found


def _differing(first: Observed, second: Observed) -> dict[str, Difference]:
    found = {}
    for name, flat in first.values.items():
        other = second.values.get(name)
        change = difference(flat, other) if other is not None else None
        if change is not None and not change.only_key_order:
            found[name] = change
    return found


def _is_broken_off(seen: Observed) -> bool:
    """It raised. One that was stopped because it took long had gone on from what it drew."""
    return bool(seen.ended_by) and seen.ended_kind != "time"


def _evidence(differing: dict[str, Difference]) -> dict[str, object]:
    return {"differing": {name: f"{change.differing} of {change.compared}" for name, change in differing.items()}}


def _shown(change: Difference) -> str:
    return f"{change.place or 'its value'} is {change.first} and {change.second}"


def _because(seen: Observed) -> str:
    return f" ({seen.ended_by})" if seen.ended_by else ""
