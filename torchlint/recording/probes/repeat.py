"""Probe `repeat`: whether runs from one state give the same bits, and which operator is the first that does not."""

from __future__ import annotations

import torch

from torchlint.recording.errors import CannotRun
from torchlint.recording.messages import Answer, ProbedFinding
from torchlint.recording.probe_context import Probe, ProbeContext, answer
from torchlint.recording.probes.sightings import flagged_events, is_at, place_evidence, shown_line
from torchlint.recording.runs.mode_draws import (
    differ,
    draws_in_evaluation,
    draws_of_training,
    outputs_in_evaluation,
    pass_with_state_preserved,
)
from torchlint.recording.runs.repeated import Difference, Repeated
from torchlint.recording.runs.result_log import Source
from torchlint.recording.runs.written_again import are_decided_by_code
from torchlint.recording.tracing.events import Event

_INVENTED = "; but the indices that repeat were invented, and yours may be distinct"

_BUSY = 0.25
"""Of the time of the runs: threads that wait for each other's processor seldom race."""


def probe(context: ProbeContext, finding: ProbedFinding) -> Answer:
    special = _OF_RULES.get(finding.code)
    return special(context, finding) if special else _repeated(context, finding)


def _repeated(context: ProbeContext, finding: ProbedFinding) -> Answer:
    repeated = context.repeated
    evidence = _evidence(repeated)
    if repeated.difference is None:
        return _equal(context, finding, repeated)
    evidence |= _difference(repeated.difference)
    for source in repeated.sources:
        if _is_in_question(finding, source.event) and _is_here(context, finding, source.event):
            reason = _words(repeated.difference, source)
            evidence |= place_evidence(context, source.event)
            if _is_for_inventions(context, source.event):
                return answer(context, finding, "repeat", "TRACED", reason + _INVENTED, **evidence)
            return answer(context, finding, "repeat", "DIVERGED", reason, **evidence)
    if repeated.sources:
        first = repeated.sources[0].event
        evidence |= {"diverged_at": shown_line(context, first.forward_lines), "diverging_operator": first.name}
        reason = f"runs differed, but at `{first.name}`, which is not the operator of this finding"
        return answer(context, finding, "repeat", "NOT REPRODUCED", reason, **evidence)
    overwritten = _overwritten(context, finding, evidence)
    if overwritten is not None:
        return overwritten
    reason = (
        "runs differed, but no operator could be named for it: state outside of the module (a global, the clock), "
        "or a race that is too rare to appear twice"
    )
    return answer(context, finding, "repeat", "NOT REPRODUCED", reason, **evidence)


def _is_in_question(finding: ProbedFinding, event: Event) -> bool:
    """On one line several operators may vary: beside the padding of a convolution, on a GPU, the convolution."""
    return not finding.operators or any(event.name in entry.aten for entry in finding.operators)


def _is_here(context: ProbeContext, finding: ProbedFinding, event: Event) -> bool:
    return is_at(finding, context.request.code.path, (*event.forward_lines, *event.constructor_lines))


def _words(difference: Difference, source: Source) -> str:
    count = f"{source.elements:,} of {source.of:,} elements"
    return f"run {difference.run} gave other bits than run 1, first in `{source.event.name}` ({count})"


def _evidence(repeated: Repeated) -> dict[str, object]:
    return {
        "runs": sum(repeated.runs.values()),
        "runs_by_scale": {str(scale): runs for scale, runs in repeated.runs.items()},
        "input_sizes": {str(scale): [list(size) for size in sizes] for scale, sizes in repeated.sizes.items()},
        "threads": torch.get_num_threads(),
    }


def _difference(difference: Difference) -> dict[str, object]:
    return {
        "run": difference.run,
        "scale": difference.scale,
        "tensor": difference.tensor,
        "elements": difference.elements,
        "of": difference.of,
        "max_abs": difference.greatest,
        "max_ulp": difference.max_ulp,
        "ulp_histogram": difference.histogram,
    }


def _overwritten(context: ProbeContext, finding: ProbedFinding, evidence: dict[str, object]) -> Answer | None:
    """Where the last of several writes stays, repeated indices are proof enough."""
    for entry, event in flagged_events(context, finding):
        repetition = event.repetition
        if repetition is not None and repetition.has_conflicts and context.device in entry.varies_on:
            reason = (
                f"`{event.name}` writes different values to one place ({repetition.places - repetition.distinct:,} of "
                f"{repetition.places:,} writes repeat a place), and the order of the writes is not fixed"
            )
            told = place_evidence(context, event) | evidence
            if _is_for_inventions(context, event):
                return answer(context, finding, "repeat", "TRACED", reason + _INVENTED, **told)
            return answer(context, finding, "repeat", "CONFIRMED", reason, **told)
    return None


def _is_for_inventions(context: ProbeContext, event: Event) -> bool:
    """Whether one write hides another because the inputs were invented so: the user's indices are mostly distinct.

    Where values add up, indices are there to repeat.
    """
    repetition, subject = event.repetition, context.needs_subject()
    overwrites = repetition is not None and repetition.has_conflicts
    return bool(overwrites and subject.has_invented_inputs and not are_decided_by_code(subject, event))


def _equal(context: ProbeContext, finding: ProbedFinding, repeated: Repeated) -> Answer:
    """No bit differed."""
    evidence = _evidence(repeated)
    overwritten = _overwritten(context, finding, evidence)
    if overwritten is not None:
        return overwritten
    if not context.needs_subject().run().tensors:
        raise CannotRun("nothing to compare", "it returns no tensor, and changes no buffer or gradient")
    runs = evidence["runs"]
    sizes = f" at {len(repeated.runs)} sizes" if len(repeated.runs) > 1 else ""
    threads = torch.get_num_threads()
    reason = (
        f"{runs} runs{sizes} on {context.device} with {threads} thread{'' if threads == 1 else 's'} gave the same bits"
    )
    if repeated.share_waited > _BUSY:
        reason += f", but the machine was busy ({repeated.share_waited:.0%} of the time they waited), which hides races"
    return answer(context, finding, "repeat", "NOT REPRODUCED", reason, **evidence)


def _in_evaluation(context: ProbeContext, finding: ProbedFinding) -> Answer:
    """TL309. Generators are not reset between the passes: reset, dropout would give equal bits."""
    subject = context.needs_subject()
    drawn = [event for event in draws_in_evaluation(subject) if _is_here(context, finding, event)]
    if not drawn:
        reason = "in evaluation the flagged line draws no random number in these passes"
        return answer(context, finding, "repeat", "NOT REPRODUCED", reason, runs=1)
    first, *others = outputs_in_evaluation(subject, context.request.runs)
    evidence = {**place_evidence(context, drawn[0]), "runs": context.request.runs}
    differing = sum(differ(first, other) for other in others)
    if not differing:
        reason = f"`{drawn[0].name}` draws in evaluation, but {context.request.runs} passes gave the same output"
        return answer(context, finding, "repeat", "NOT REPRODUCED", reason, **evidence)
    reason = f"in evaluation {differing} of {len(others)} further passes on one input gave another output"
    return answer(context, finding, "repeat", "CONFIRMED", f"{reason}: `{drawn[0].name}` draws there", **evidence)


def _behind_checkpoints(context: ProbeContext, finding: ProbedFinding) -> Answer:
    """TL310. The gradients are compared with those of a second computation that repeats its draws."""
    subject = context.needs_subject()
    as_written, preserved, again = (
        subject.run(),
        pass_with_state_preserved(subject),
        pass_with_state_preserved(subject),
    )
    if differ(preserved.gradients, again.gradients):
        reason = "the gradients differ from pass to pass, also with the state of the generators preserved"
        return answer(context, finding, "repeat", "NOT REPRODUCED", reason, runs=3)
    if differ(as_written.gradients, preserved.gradients):
        changed = [n for n, g in preserved.gradients.items() if differ({n: g}, {n: as_written.gradients[n]})]
        reason = f"with the state preserved {len(changed)} of {len(preserved.gradients)} gradients differ"
        return answer(context, finding, "repeat", "CONFIRMED", reason, runs=3, gradients=changed[:20])
    reason = "the gradients are the same with the state of the generators preserved"
    return answer(context, finding, "repeat", "NOT REPRODUCED", reason, runs=3)


def _in_prediction(context: ProbeContext, finding: ProbedFinding) -> Answer:
    """TL314. A layer that draws while the flagged function predicts, and would not in evaluation: dropout, say."""
    subject = context.needs_subject()
    if subject.model is not None:
        raise CannotRun(
            "refused", "the caller of this class decides its mode: only the function that predicts can show it"
        )
    drawn = draws_of_training(subject)
    if not drawn:
        reason = "no layer draws here that would not in evaluation; whether one uses batch statistics was not checked"
        return answer(context, finding, "repeat", "NOT REPRODUCED", reason, runs=2)
    reason = f"a layer draws random numbers (`{drawn[0].name}`), and would not in evaluation"
    return answer(context, finding, "repeat", "CONFIRMED", reason, **place_evidence(context, drawn[0]) | {"runs": 2})


_OF_RULES: dict[str, Probe] = {
    "TL309": _in_evaluation,
    "TL310": _behind_checkpoints,
    "TL314": _in_prediction,
}
"""Rules about draws ask for other runs than those about operators."""
