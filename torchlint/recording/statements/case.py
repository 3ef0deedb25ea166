"""What a judge of settings has before it: one observed run, and others where it asks for them."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass

import torch

from torchlint.recording.global_state.environment import usable_devices
from torchlint.recording.messages import Answer, ProbedFinding
from torchlint.recording.names import VerdictName
from torchlint.recording.probe_context import ProbeContext, answer
from torchlint.recording.statements.fresh import Task, run_fresh
from torchlint.recording.statements.observed import Observed
from torchlint.recording.statements.observing import observe_apart

_RUNS = {"TL301": 2, "TL302": 3, "TL303": 2, "TL312": 3}
"""How often the program is run for a finding of a rule; once for the others."""


@dataclass(frozen=True)
class Case:
    context: ProbeContext
    finding: ProbedFinding
    seen: Observed
    torch: tuple[int, int]

    @property
    def has_cuda(self) -> bool:
        return "cuda" in usable_devices(self.context.request.devices)

    @property
    def release(self) -> str:
        return f"torch {self.torch[0]}.{self.torch[1]}"

    @property
    def line(self) -> int:
        return self.finding.line

    @property
    def lines(self) -> range:
        return range(self.finding.line, self.finding.end_line + 1)

    def again(self, start: int, pause: float = 0.0) -> Observed:
        """The same once more, in another process that begins from other random numbers."""
        time.sleep(pause)
        return observed(self.context, self.finding, start, 1)

    def started_anew(self, hash_seed: int) -> Observed:
        """The same in an interpreter of its own, which salts its hashes from another number."""
        context, seconds = self.context, self.context.seconds_for(self.finding, 1)
        task = Task(work="observe", request=context.request, finding=self.finding, seconds=seconds)
        return run_fresh(task, Observed, hash_seed)

    def says(self, verdict: VerdictName, reason: str, **evidence: object) -> Answer:
        seen = self.seen
        evidence = {"line": self.line, "events": [event.words for event in seen.events], **evidence}
        if seen.entered:
            evidence["entered"] = seen.entered
        if seen.built_by:
            evidence["arguments"] = seen.built_by
        if seen.stubs:
            evidence["stubs"] = list(seen.stubs)
        if seen.ended_by:
            evidence["ended_by"] = seen.ended_by
        return answer(self.context, self.finding, "config", verdict, reason, **evidence)


def observed(context: ProbeContext, finding: ProbedFinding, start: int, runs: int | None = None) -> Observed:
    seconds = context.seconds_for(finding, runs or _RUNS.get(finding.code, 1))
    return observe_apart(context.request, finding, start, seconds)


def installed_torch() -> tuple[int, int]:
    major, minor = re.findall(r"\d+", torch.__version__)[:2]
    return int(major), int(minor)
