"""Where an operator writes when its target runs on other values: whether the code or the inputs decide its places."""

from __future__ import annotations

from torchlint.recording.runs.recorded import record
from torchlint.recording.runs.variations import varied
from torchlint.recording.subject import Subject
from torchlint.recording.tracing.events import Event, Repetition

_VARIATIONS = 6


def written_again(subject: Subject, event: Event) -> list[Repetition]:
    """What another run of the subject writes by index, from the line of a recorded event; nothing where it fails."""
    try:
        recorded = record(subject, [event.name])
    except Exception:  # noqa: BLE001 - inputs that the module cannot take prove nothing
        return []
    return [
        one.repetition
        for one in recorded.events
        if one.repetition is not None and one.forward_lines[:1] == event.forward_lines[:1]
    ]


def are_decided_by_code(subject: Subject, event: Event) -> bool:
    """Whether an event writes to the very same places whatever values inputs and parameters have."""
    assert event.repetition is not None
    for variation in range(1, _VARIATIONS + 1):
        found = written_again(varied(subject, variation), event)
        if all(each.fingerprint != event.repetition.fingerprint for each in found):
            return False
    return True
