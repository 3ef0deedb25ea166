"""The order probe: the same statement with other listings, other salts of the hashes, other orders of completion."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from torchlint.recording.errors import CannotRun
from torchlint.recording.messages import Answer, ProbedFinding
from torchlint.recording.names import VerdictName
from torchlint.recording.probe_context import ProbeContext, answer
from torchlint.recording.statements.apart import NoReply, longest, run_apart
from torchlint.recording.statements.flattened import Difference, difference
from torchlint.recording.statements.fresh import Task, run_fresh
from torchlint.recording.statements.invented_folder import LAYOUTS, InventedFolder
from torchlint.recording.statements.observed import NOT_RUN
from torchlint.recording.statements.outcomes import Outcome, outcome

_UNSALTED = {"int", "float", "bool", "complex"}
"""Their hashes are the same in every process."""


@dataclass(frozen=True)
class _Source:
    """One cause of an order: how to run with another one, and when a result that stays the same says something."""

    orders: tuple[int, ...]
    """The first one is run again before a difference is believed."""
    run: Callable[[ProbeContext, ProbedFinding, InventedFolder | None, int, float], Outcome]
    words: str
    what_held: Callable[[Outcome, Outcome], str]
    """Why an unchanged result refutes; empty where it does not."""
    is_cause: Callable[[Outcome, Outcome], bool]
    """A difference can come from this very line."""
    may_invent_folder: bool = False

    @property
    def runs(self) -> int:
        return len(self.orders) + 1


def probe(context: ProbeContext, finding: ProbedFinding) -> Answer:
    source = _SOURCES.get(finding.code)
    if source is None:
        return answer(context, finding, "order", "SKIPPED", f"no order is known for {finding.code}")
    try:
        said = _judge(context, finding, source, None)
        is_slow = said.evidence.get("skipped") == "time"
        if said.verdict in {"CONFIRMED", "REFUTED"} or is_slow or not source.may_invent_folder:
            return said
        with tempfile.TemporaryDirectory() as folder:
            invented = _judge(context, finding, source, _fitting(context, finding, source, Path(folder, "data")))
        has_real = said.evidence.get("listed") and "ended_by" not in said.evidence
        return said if has_real and invented.verdict != "CONFIRMED" else invented
    except CannotRun as error:
        return answer(context, finding, "order", "SKIPPED", error.reason, skipped=error.kind)
    except NoReply as error:
        return answer(context, finding, "order", "SKIPPED", str(error), skipped="time")


def _fitting(context: ProbeContext, finding: ProbedFinding, source: _Source, path: Path) -> InventedFolder:
    """The folder in whose layout the program runs to its end and finds something to list; else the first."""
    folders = [InventedFolder(path, context.request.code.text, layout) for layout in LAYOUTS]
    for tried, folder in enumerate(folders):
        seconds = context.seconds_for(finding, len(folders) - tried + source.runs)
        seen = source.run(context, finding, folder, source.orders[0], seconds)
        if seen.reached and not seen.ended_by and max(seen.listed.values(), default=0) > 1:
            return folder
    return folders[0]


def _judge(context: ProbeContext, finding: ProbedFinding, source: _Source, folder: InventedFolder | None) -> Answer:
    first = source.run(context, finding, folder, source.orders[0], context.seconds_for(finding, source.runs))
    if (early := _unusable(context, finding, first)) is not None:
        return early
    other = first
    for done, order in enumerate(source.orders[1:], 1):
        other = source.run(context, finding, folder, order, context.seconds_for(finding, source.runs - done))
        change = difference(first.result, other.result)
        if change is None:
            continue
        control = source.run(context, finding, folder, source.orders[0], context.seconds_for(finding, 1))
        return _judge_change(context, finding, source, (first, other, control), change)
    held = source.what_held(first, other)
    is_whole = first.result.is_whole and not first.ended_by and not first.is_invented and not first.has_invented_folder
    if held and is_whole:
        reason = f"{held}, and {first.made} stayed the same"
        return _say(context, finding, first, "REFUTED", reason, compared=len(first.result.by_place))
    return _say(context, finding, first, "NOT REPRODUCED", f"{first.made} stayed the same{_doubt(first, held)}")


def _unusable(context: ProbeContext, finding: ProbedFinding, seen: Outcome) -> Answer | None:
    because = f": {seen.ended_by}" if seen.ended_by else ""
    if not seen.reached:
        reason = f"line {finding.line} was not reached{because}"
        return _say(context, finding, seen, "SKIPPED" if seen.ended_kind in NOT_RUN else "NOT REPRODUCED", reason)
    if not seen.result.by_place:
        return _say(context, finding, seen, "NOT REPRODUCED", f"line {finding.line} left nothing to compare{because}")
    if seen.has_single_worker:
        return _say(context, finding, seen, "NOT REPRODUCED", "the only worker finishes its tasks in their order")
    return None


def _judge_change(
    context: ProbeContext,
    finding: ProbedFinding,
    source: _Source,
    runs: tuple[Outcome, Outcome, Outcome],
    change: Difference,
) -> Answer:
    first, other, control = runs
    values = {
        "place": change.place,
        "first": change.first,
        "second": change.second,
        "differing": change.differing,
        "compared": change.compared,
    }
    if first.ended_by or other.ended_by:
        reason = f"the runs did not finish: {first.ended_by or other.ended_by}"
        return _say(context, finding, first, "NOT REPRODUCED", reason, **values)
    if difference(first.result, control.result) is not None:
        reason = f"{first.made} differs between two runs in which no order was changed"
        return _say(context, finding, first, "NOT REPRODUCED", reason, **values)
    if not source.is_cause(first, other):
        reason = f"{first.made} differs, but line {finding.line} was not shown to be the cause"
        return _say(context, finding, first, "NOT REPRODUCED", reason, **values)
    if change.only_key_order:
        reason = f"{first.made} has the same entries under the same keys; only the order of its keys changed"
        return _say(context, finding, first, "NOT REPRODUCED", reason, **values)
    invented = " (the folder was invented)" if first.has_invented_folder else ""
    invented = invented or (" (the arguments were invented)" if first.is_invented else "")
    reason = f"with {source.words}, `{change.place}` is {change.first} in one run and {change.second} in another"
    return _say(context, finding, first, "CONFIRMED", reason + invented, **values)


def _say(
    context: ProbeContext, finding: ProbedFinding, seen: Outcome, verdict: VerdictName, reason: str, **values: object
) -> Answer:
    facts = {
        "line": finding.line,
        "entered": seen.entered,
        "arguments": seen.built_by,
        "listed": seen.listed,
        "sets": seen.sets,
        "hashed": list(seen.hashed_types),
        "results_taken": seen.taken,
        "invented_folder": seen.has_invented_folder,
        "folder_holds": list(seen.folder_holds) if seen.has_invented_folder else [],
        "stubs": list(seen.stubs),
        "ended_by": seen.ended_by,
        "skipped": seen.ended_kind if verdict == "SKIPPED" else "",
    }
    evidence = {name: value for name, value in {**facts, **values}.items() if value not in ("", 0, [], {})}
    return answer(context, finding, "order", verdict, reason, **evidence)


def _doubt(seen: Outcome, held: str) -> str:
    """Why a result that stayed the same refutes nothing."""
    if seen.ended_by:
        return f", as far as the run got: {seen.ended_by}"
    if seen.has_invented_folder:
        has_files = max(seen.listed.values(), default=0) > 1
        return ", but the folder was invented" + (
            "" if has_files else ", and contains no files that the code looks for"
        )
    if seen.is_invented:
        return ", but the arguments were invented"
    if not held:
        return ", but it was not seen to depend on another order"
    return ", but it could not be compared as a whole"


def _run_in_fork(
    context: ProbeContext, finding: ProbedFinding, folder: InventedFolder | None, order: int, seconds: float
) -> Outcome:
    return run_apart(lambda: outcome(context.request, finding, seconds, order, folder), Outcome, longest(seconds))


def _run_anew(
    context: ProbeContext, finding: ProbedFinding, _: InventedFolder | None, order: int, seconds: float
) -> Outcome:
    task = Task(work="outcome", request=context.request, finding=finding, seconds=seconds)
    return run_fresh(task, Outcome, order)


def _listed_enough(first: Outcome, _: Outcome) -> str:
    folder, count = max(first.listed.items(), key=lambda item: item[1], default=("", 0))
    return f"{count} entries of {folder} came in three orders" if count > 1 else ""


def _sets_changed(first: Outcome, other: Outcome) -> str:
    if first.makes_set or not first.sets:
        return ""
    if set(first.set_types) <= _UNSALTED:
        return f"the set holds only {', '.join(first.set_types)}, whose hashes are not salted"
    if all(other.sets.get(name, members) != members for name, members in first.sets.items()):
        return f"the members of `{next(iter(first.sets))}` came in another order"
    return ""


def _hashes_unsalted(first: Outcome, _: Outcome) -> str:
    if first.hashed_types and set(first.hashed_types) <= _UNSALTED:
        return f"`hash` was given only {', '.join(first.hashed_types)}, whose hashes are not salted"
    return ""


def _results_turned(first: Outcome, _: Outcome) -> str:
    return f"{first.taken} results came in two orders" if first.taken > 1 else ""


def _may_come_from_set(first: Outcome, other: Outcome) -> bool:
    is_known_alike = first.sets and all(other.sets.get(name) == members for name, members in first.sets.items())
    return first.makes_set or not is_known_alike


def _comes_from_hash(first: Outcome, _: Outcome) -> bool:
    return not set(first.hashed_types) <= _UNSALTED


def _may_be(_: Outcome, __: Outcome) -> bool:
    return True  # only the flagged lines were given another order


_SALTS = (1, 2, 3)
_SOURCES = {
    "TL401": _Source(
        (0, 1, 2), _run_in_fork, "its listing in another order", _listed_enough, _may_be, may_invent_folder=True
    ),
    "TL402": _Source(_SALTS, _run_anew, "another PYTHONHASHSEED", _sets_changed, _may_come_from_set),
    "TL403": _Source(_SALTS, _run_anew, "another PYTHONHASHSEED", _hashes_unsalted, _comes_from_hash),
    "TL404": _Source((0, 1), _run_in_fork, "tasks that finish in another order", _results_turned, _may_be),
}
