"""The smallest changes that a user would make, tried from outside."""

from __future__ import annotations

from torchlint.diverge.data import Cause, Cure
from torchlint.diverge.running import Runner, Wanted
from torchlint.diverge.stepping import first_difference
from torchlint.recording.factors.names import ABOUT


def cures_of(cause: Cause, runner: Runner | None) -> tuple[Cure, ...]:
    """For the factors found, the change that holds them, with what it costs in time; not tried without a runner."""
    if not cause.factors:
        return ()
    words = "; ".join(ABOUT[each].cure for each in cause.factors)
    if runner is None:
        return (Cure(words, None, None),)
    plain = runner.run(Wanted(last_step=cause.until), label="without a change")
    first, other = runner.pair(Wanted(last_step=cause.until, held=cause.factors), "with the change")
    equal = first_difference(first.recorded, other.recorded) is None
    return (Cure(words, equal, min(first.seconds, other.seconds) / plain.seconds if plain.seconds else None),)
