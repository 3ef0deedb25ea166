"""What a probe has at hand, and the form of its answer."""

from __future__ import annotations

import contextlib
import functools
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from torchlint.recording.clock import Deadline
from torchlint.recording.messages import Answer, ProbedFinding, Request
from torchlint.recording.names import ProbeName, VerdictName
from torchlint.recording.runs.recorded import Recorded, record
from torchlint.recording.runs.refusals import Refusals, determinism_mode, refusals
from torchlint.recording.runs.repeated import Repeated, repeat
from torchlint.recording.subject import Subject

_MORE_RUNS = 4
_NEARLY = 0.9
"""Of the time: what begins and ends a run takes some as well."""
_LEAST_SECONDS = 1.0


@dataclass
class ProbeContext:
    """The request, the subject that came of it, and the device that the probe shall use.

    `subject` is None for targets that are statements: a switch, a loader, an order.
    """

    request: Request
    device: str
    subject: Subject | None = None

    def __post_init__(self) -> None:
        self._deadline = Deadline(self.request.seconds)

    def seconds_for(self, finding: ProbedFinding, runs: int) -> float:
        """For the first of so many runs of a program: its part of what findings that come later leave for it."""
        later = len(self.request.findings) - 1 - self.request.findings.index(finding)
        return max(_LEAST_SECONDS, _NEARLY * self._deadline.left / (runs + later))

    def needs_subject(self) -> Subject:
        assert self.subject is not None, "this probe is for targets that run forward"
        return self.subject

    @functools.cached_property
    def recorded(self) -> Recorded:
        """One recorded run, for all probes and findings of the target."""
        watched = {name for finding in self.request.findings for entry in finding.operators for name in entry.aten}
        return record(self.needs_subject(), watched)

    @functools.cached_property
    def repeated(self) -> Repeated:
        """Runs from one state, for all findings of the target; more of them where this very device is said to vary."""
        entries = [entry for finding in self.request.findings for entry in finding.operators]
        races = {name for entry in entries if self.device in entry.varies_on for name in entry.aten}
        is_likely = any(event.name in races and event.repetition for event in self.recorded.events)
        runs, share = (_MORE_RUNS, 4) if is_likely else (1, 240)
        with self.mode_of_program():
            return repeat(self.needs_subject(), self.request.runs * runs, self.request.seconds / share, races)

    @contextlib.contextmanager
    def mode_of_program(self) -> Iterator[None]:
        """The determinism mode as the program has it; what torch would refuse runs, to be compared."""
        if not any(finding.mode_on for finding in self.request.findings):
            yield
            return
        with determinism_mode(warn_only=True), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield

    @functools.cached_property
    def refusals(self) -> Refusals:
        """What torch refuses under the determinism mode, for all findings of the target."""
        return refusals(self.needs_subject())


def answer(
    context: ProbeContext,
    finding: ProbedFinding,
    probe: ProbeName,
    verdict: VerdictName,
    reason: str,
    **evidence: object,
) -> Answer:
    return Answer(
        finding=finding.index, probe=probe, verdict=verdict, device=context.device, reason=reason, evidence=evidence
    )


Probe = Callable[[ProbeContext, ProbedFinding], Answer]
