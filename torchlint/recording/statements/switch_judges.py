"""Judges of switches: TL201 to TL203, TL207 and TL209. Each compares the settings before, after and at the end."""

from __future__ import annotations

import difflib

from torchlint.recording.messages import Answer
from torchlint.recording.statements.case import Case
from torchlint.recording.statements.observed import NOT_RUN, Event, Write

_MODE = "the determinism mode"
_DETERMINISTIC = "torch.backends.cudnn.deterministic"
_BENCHMARK = "torch.backends.cudnn.benchmark"
_LIBRARIES = {"random": "random", "numpy.random": "numpy", "torch": "torch", "torch.random": "torch"}


def judge_overwritten_function(case: Case) -> Answer:
    """TL201: the name is no function any more, and what was wished does not hold all the same."""
    write = next((write for write in case.seen.writes if write.were_callable[0] or not write.is_known), None)
    if write is None:
        return case.says("NOT REPRODUCED", "the line assigned to a name that was not a function when it ran")
    if any(write.name.split(".")[0] == stub.split(".")[0] for stub in case.seen.stubs):
        return case.says("NOT REPRODUCED", f"`{write.name}` belongs to a library that is not installed here")
    values = {"name": write.name, "before": write.before, "after": write.after, "at_end": write.end}
    if write.were_callable[1] or not write.exists[1]:
        return case.says("REFUTED", f"`{write.name}` is still {write.after}", **values)
    if write.were_callable[2]:
        return case.says("REFUTED", f"`{write.name}` is a function again at the end", **values)
    state = _wish(case, write)
    if state.startswith("even so"):
        return case.says("REFUTED", state.removeprefix("even so, "), **values)
    if case.seen.ended_by and "is not callable" not in case.seen.ended_by:
        return case.says("NOT REPRODUCED", f"`{write.name}` was replaced, but the run did not finish", **values)
    verb = "was replaced by" if write.is_known else "is a new name that holds"
    return case.says("CONFIRMED", f"`{write.name}` {verb} {write.after}; {state}", **values)


def _wish(case: Case, write: Write) -> str:
    """What the assignment was meant to do, as it is at the end."""
    namespace, _, name = write.name.rpartition(".")
    if "deterministic" in name and namespace == "torch":
        is_on = case.seen.switches[_MODE] == "True"
        turned = next((event for event in case.seen.of("switch", _MODE) if event.after == "True"), None)
        if write.after == "True" and is_on:
            where = f" by line {turned.line}" if turned else ""
            return f"even so, the determinism mode is on at the end{where}"
        return f"the determinism mode is {'on' if is_on else 'off'} at the end"
    if "seed" in name and (library := _LIBRARIES.get(namespace)):
        seeds = [event for event in case.seen.of("seed", library) if event.line not in case.lines]
        if seeds:
            return f"even so, line {seeds[0].line} seeds {library}"
        return f"no line seeds {library}"
    return "nothing was called"


def judge_removed_function(case: Case) -> Answer:
    """TL202: the call raises because torch has no such function."""
    seen = case.seen
    stubs = [stub for stub in seen.stubs if stub in {"torch.set_deterministic", "torch.is_deterministic"}]
    if stubs:
        return case.says("CONFIRMED", f"{case.release} has no `{stubs[0]}`: importing it raises ImportError")
    is_missing = "set_deterministic" in seen.raised or "is_deterministic" in seen.raised
    is_import = seen.raised.startswith("ImportError")
    is_call = seen.raised.startswith("AttributeError") and seen.raised_line in case.lines
    if is_missing and (is_import or is_call):
        words = f"line {seen.raised_line} raises {seen.raised}"
        if seen.ended_by:
            return case.says("CONFIRMED", words, raised=seen.raised)
        return case.says("REFUTED", f"{words}, and the program handles it", raised=seen.raised)
    if not seen.reached:
        return not_reached(case)
    if seen.raised and seen.raised_line in case.lines:
        return case.says("NOT REPRODUCED", f"line {seen.raised_line} raised something else: {seen.raised}")
    return case.says(
        "REFUTED", f"the call ran, and the determinism mode is {_on(seen.switches[_MODE])}", mode=seen.switches[_MODE]
    )


def judge_misspelled_switch(case: Case) -> Answer:
    """TL203: the assignment made a name that torch does not have."""
    seen = case.seen
    if seen.raised.startswith("AttributeError") and seen.raised_line in case.lines:
        if seen.ended_by:
            return case.says("CONFIRMED", f"line {seen.raised_line} raises {seen.raised}", raised=seen.raised)
        return case.says("REFUTED", f"line {seen.raised_line} raises {seen.raised}, and the program handles it")
    if seen.raised and seen.raised_line in case.lines:
        return case.says("NOT REPRODUCED", f"line {seen.raised_line} raised something else: {seen.raised}")
    if not seen.reached:
        return not_reached(case)
    write = next((write for write in seen.writes if not write.is_known and write.exists[1]), None)
    if write is None:
        if not seen.writes:
            return case.says("NOT REPRODUCED", "the namespace that the line assigns to is not there")
        known = seen.writes[0]
        values = {"before": known.before, "after": known.after}
        if case.finding.variant == "older":
            reason = f"{case.release} has `{known.name}`; the finding is about releases that lack it"
            return case.says("NOT REPRODUCED", reason, **values)
        return case.says("REFUTED", f"{case.release} has `{known.name}`, which is now {known.after}", **values)
    return _dead_switch(case, write)


def _dead_switch(case: Case, write: Write) -> Answer:
    namespace, _, name = write.name.rpartition(".")
    near = difflib.get_close_matches(name, write.siblings, n=1, cutoff=0.75)
    values: dict[str, object] = {"name": write.name, "after": write.after}
    state = ""
    if near:
        meant, value = f"{namespace}.{near[0]}", write.siblings[near[0]]
        values.update(nearest=meant, nearest_value=value)
        written = [event for event in case.seen.of("switch", meant) if event.after == write.after]
        if written and value == write.after:
            return case.says("REFUTED", f"line {written[-1].line} sets `{meant}` to {value} as well", **values)
        state = f"; `{meant}` is {value} at the end"
    return case.says(
        "CONFIRMED", f"torch has no `{write.name}`: the line made a name that nothing reads{state}", **values
    )


def judge_benchmark(case: Case) -> Answer:
    """TL207: a switch that is on says that runs may differ, not that they do: never more than NOT REPRODUCED."""
    end = case.seen.switches[_BENCHMARK]
    turned = _last_change(case, _BENCHMARK)
    if end == "False" and turned is not None and turned.line not in case.lines:
        return case.says("REFUTED", f"line {turned.line} turns `{_BENCHMARK}` off again", at_end=end)
    if end == "False":
        return case.says("NOT REPRODUCED", f"`{_BENCHMARK}` was off when the statement had run", at_end=end)
    rest = (
        "only a repeated run on CUDA shows whether runs differ"
        if case.has_cuda
        else "there is no CUDA device here that would time"
    )
    return case.says("NOT REPRODUCED", f"`{_BENCHMARK}` is on at the end; {rest}", at_end=end)


def judge_contradiction(case: Case) -> Answer:
    """TL209: both hold at the end."""
    switches = case.seen.switches
    values = {"deterministic": switches[_DETERMINISTIC], "benchmark": switches[_BENCHMARK]}
    if case.seen.ended_by:
        return case.says("NOT REPRODUCED", f"the run did not finish: {case.seen.ended_by}", **values)
    if switches[_DETERMINISTIC] == "True" and switches[_BENCHMARK] == "True":
        return case.says("CONFIRMED", f"`{_DETERMINISTIC}` and `{_BENCHMARK}` are both on at the end", **values)
    was_never_on = not any(event.after == "True" for event in case.seen.of("switch", _DETERMINISTIC))
    if was_never_on and switches[_DETERMINISTIC] == "False":
        return case.says("NOT REPRODUCED", f"`{_DETERMINISTIC}` was not turned on here", **values)
    changed = _last_change(case, _BENCHMARK if switches[_BENCHMARK] == "False" else _DETERMINISTIC)
    if changed is not None and changed.after == "False":
        return case.says("REFUTED", f"line {changed.line} turns `{changed.name}` off again", **values)
    return case.says("NOT REPRODUCED", f"`{_BENCHMARK}` was not turned on here", **values)


def not_reached(case: Case) -> Answer:
    """The flagged statement did not run: what can be said is why."""
    seen = case.seen
    reason = f"line {case.line} was not reached" + (f": {seen.ended_by}" if seen.ended_by else "")
    if seen.ended_kind in NOT_RUN:
        return case.says("SKIPPED", reason, skipped=seen.ended_kind)
    return case.says("NOT REPRODUCED", reason)


def _last_change(case: Case, name: str) -> Event | None:
    events = case.seen.of("switch", name)
    return events[-1] if events else None


def _on(value: str) -> str:
    return "on" if value == "True" else "off"
