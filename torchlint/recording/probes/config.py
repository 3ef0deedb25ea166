"""The config probe: statements that set switches, seeds and variables, run under watch in a process of their own."""

from __future__ import annotations

from collections.abc import Callable

from torchlint.recording.errors import CannotRun
from torchlint.recording.messages import Answer, ProbedFinding
from torchlint.recording.probe_context import ProbeContext, answer
from torchlint.recording.statements import environment_judges, seed_judges, switch_judges
from torchlint.recording.statements.apart import NoReply
from torchlint.recording.statements.case import Case, installed_torch, observed
from torchlint.recording.statements.environment_draws import judge_unseeded_environment

Judge = Callable[[Case], Answer]

_MAY_RAISE: dict[str, Judge] = {
    "TL202": switch_judges.judge_removed_function,
    "TL203": switch_judges.judge_misspelled_switch,
    "TL301": seed_judges.judge_unseeded_program,
}
"""These look at runs that did not come to the flagged line themselves."""
_NEED_THE_LINE: dict[str, Judge] = {
    "TL201": switch_judges.judge_overwritten_function,
    "TL204": environment_judges.judge_missing_workspace,
    "TL205": environment_judges.judge_invalid_workspace,
    "TL206": environment_judges.judge_late_workspace,
    "TL207": switch_judges.judge_benchmark,
    "TL209": switch_judges.judge_contradiction,
    "TL211": environment_judges.judge_runtime_hash_seed,
    "TL302": seed_judges.judge_entropy_seed,
    "TL303": seed_judges.judge_late_seed,
    "TL312": judge_unseeded_environment,
}


def probe(context: ProbeContext, finding: ProbedFinding) -> Answer:
    judge = _MAY_RAISE.get(finding.code) or _NEED_THE_LINE.get(finding.code)
    if judge is None:
        return answer(context, finding, "config", "SKIPPED", f"no settings are known for {finding.code}")
    try:
        case = Case(context, finding, observed(context, finding, start=1), installed_torch())
        if not case.seen.reached and finding.code not in _MAY_RAISE:
            return switch_judges.not_reached(case)
        return judge(case)
    except CannotRun as error:
        return answer(context, finding, "config", "SKIPPED", error.reason, skipped=error.kind)
    except NoReply as error:
        return answer(context, finding, "config", "SKIPPED", str(error), skipped="time")
