"""Probe `repeat`: whether runs from one state give the same bits, and which operator is the first that does not."""

from __future__ import annotations

import torch

from torchlint.recording.bench import Bench, answer
from torchlint.recording.ledger import Source
from torchlint.recording.messages import Answer, Suspect
from torchlint.recording.probes.sightings import flagged_events, is_at, place_evidence, shown_line
from torchlint.recording.repetition import Difference, Repeated


def probe(bench: Bench, suspect: Suspect) -> Answer:
    repeated = bench.repeated
    evidence = _evidence(repeated)
    if repeated.difference is None:
        return _equal(bench, suspect, repeated)
    evidence |= _difference(repeated.difference)
    for source in repeated.sources:
        if is_at(suspect, bench.request.code.path, (*source.event.forward_lines, *source.event.constructor_lines)):
            reason = _words(repeated.difference, source)
            return answer(
                bench, suspect, "repeat", "DIVERGED", reason, **place_evidence(bench, source.event) | evidence
            )
    if repeated.sources:
        first = repeated.sources[0].event
        evidence |= {"diverged_at": shown_line(bench, first.forward_lines), "diverging_operator": first.name}
        reason = f"runs differed, but at `{first.name}`, which is not what this finding is about"
        return answer(bench, suspect, "repeat", "NOT REPRODUCED", reason, **evidence)
    reason = "runs differed, but no operator could be named for it"
    return answer(bench, suspect, "repeat", "NOT REPRODUCED", reason, **evidence)


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
    }


def _equal(bench: Bench, suspect: Suspect, repeated: Repeated) -> Answer:
    """No bit differed; where the last of several writes stays, repeated indices are proof enough."""
    evidence = _evidence(repeated)
    for entry, event in flagged_events(bench, suspect):
        repetition = event.repetition
        if repetition is not None and repetition.has_conflicts and bench.device in entry.varies_on:
            reason = (
                f"`{event.name}` writes different values to one place ({repetition.places - repetition.distinct:,} of "
                f"{repetition.places:,} writes meet a place again), and the order of the writes is not fixed"
            )
            return answer(bench, suspect, "repeat", "CONFIRMED", reason, **place_evidence(bench, event) | evidence)
    runs = evidence["runs"]
    sizes = f" at {len(repeated.runs)} sizes" if len(repeated.runs) > 1 else ""
    threads = torch.get_num_threads()
    reason = (
        f"{runs} runs{sizes} on {bench.device} with {threads} thread{'' if threads == 1 else 's'} gave the same bits"
    )
    return answer(bench, suspect, "repeat", "NOT REPRODUCED", reason, **evidence)
