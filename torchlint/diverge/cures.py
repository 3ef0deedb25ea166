"""The smallest changes that a user would make, tried from outside."""

from __future__ import annotations

from torchlint.diverge.data import Cause, Cure
from torchlint.diverge.running import Runner, Wanted
from torchlint.diverge.stepping import first_difference
from torchlint.recording.factors.names import ABOUT


def cures_of(cause: Cause, runner: Runner) -> tuple[Cure, ...]:
    """For each factor found, the change that holds it, with what it costs in time."""
    if not cause.factors:
        return ()
    plain = runner.run(Wanted(last_step=cause.step), label="without a change")
    first, other = runner.pair(Wanted(last_step=cause.step, held=cause.factors), "with the change")
    equal = first_difference(first.recorded, other.recorded) is None
    words = "; ".join(ABOUT[each].cure for each in cause.factors)
    return (Cure(words, equal, min(first.seconds, other.seconds) / plain.seconds if plain.seconds else None),)
