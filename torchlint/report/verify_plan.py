"""What `verify` would execute, before it does: each target with its source."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from torchlint.report.paint import one_line
from torchlint.verify.plan import Plan
from torchlint.verify.run import Planned


def plan_lines(planned: Planned) -> Iterator[str]:
    """Each target: which findings, which probes, and the lines that would run with their numbers."""
    if not planned.plans:
        yield "nothing would be executed: running the code can verify no finding"
    for plan in planned.plans:
        yield from _plan(planned.completed(plan))
        yield ""
    if planned.without_probe:
        ending = "" if planned.without_probe == 1 else "s"
        yield f"{planned.without_probe} more finding{ending} that running the code cannot verify"


def command_lines(planned: Planned, command: Sequence[str]) -> Iterator[str]:
    """The user's own command, and the findings that its run would be searched for."""
    yield f"would run, as it is and not sandboxed: {one_line(shlex.join(command))}"
    of_all = [probed for plan in planned.plans for probed in plan.findings]
    for probed in sorted(of_all, key=lambda each: each.index):
        finding = planned.findings[probed.index]
        words = "looked for" if "trace" in probed.probes else "a command cannot verify it"
        yield f"{one_line(str(finding.location))}: {finding.code} {words}"
    if not of_all:
        yield "running the code can verify no finding"
    if planned.without_probe:
        yield f"{planned.without_probe} more findings that running the code cannot verify"


def _plan(plan: Plan) -> Iterator[str]:
    codes = ", ".join(dict.fromkeys(probed.code for probed in plan.findings if probed.code))
    probes = ", ".join(dict.fromkeys(probe for probed in plan.findings for probe in probed.probes))
    asked = f"{codes}; {probes}" if codes else probes  # a target that the user names has no code
    yield f"{one_line(plan.shown)}: {plan.target.kind} {one_line(plan.name)} ({asked})"
    held_by = [f"{each.name} of {Path(each.code.path).name}" for each in plan.target.holders]
    if held_by or plan.target.enclosing:
        yield one_line(f"  within {', '.join((*held_by, *plan.target.enclosing))}, if one of them can be built")
    for number, line in enumerate(plan.code.text.split("\n"), 1):
        if line.strip():
            yield f"  {_place(plan, number):>5}  {one_line(line.rstrip())}"
    for each in plan.target.holders:
        yield one_line(f"  of {plan.shown_path(each.code.path)}, and the files that it imports:")
        yield from (
            f"  {number:>5}  {one_line(line.rstrip())}"
            for number, line in enumerate(each.code.text.split("\n"), 1)
            if line.strip()
        )


def _place(plan: Plan, number: int) -> str:
    place = plan.source.locate(number, 1, number, 1)
    return str(place.line) if place.cell is None else f"{place.cell}:{place.line}"
