"""Probe `strict`: whether torch refuses the flagged call under the determinism mode."""

from __future__ import annotations

from torchlint.recording.messages import Answer, ProbedFinding
from torchlint.recording.probe_context import ProbeContext, answer
from torchlint.recording.probes.sightings import flagged_events, place_evidence


def probe(context: ProbeContext, finding: ProbedFinding) -> Answer:
    refused = context.refusals
    if refused.other_error:
        reason = f"under the determinism mode it failed for another reason: {refused.other_error}"
        return answer(context, finding, "strict", "NOT REPRODUCED", reason, runs=1)
    if not refused.raised:
        reason = f"torch refused nothing on {context.device} under the determinism mode"
        return answer(context, finding, "strict", "NOT REPRODUCED", reason, runs=1)
    # torch names kernels, and tells no line of a backward pass: the registry knows which kernel is whose, and the
    # recorded run which operator was at the flagged line.
    for entry, event in flagged_events(context, finding):
        for refusal in refused.all:
            if refusal.kernel in entry.alerts:
                reason = f"torch refuses `{event.name}` under the determinism mode: {refusal.words}"
                evidence = {
                    **place_evidence(context, event),
                    "words": refusal.words,
                    "kernel": refusal.kernel,
                    "runs": 2,
                }
                return answer(context, finding, "strict", "RAISED", reason, **evidence)
    reason = f"torch refused another call of the target under the determinism mode: {refused.raised}"
    return answer(context, finding, "strict", "NOT REPRODUCED", reason, words=refused.raised, runs=1)
