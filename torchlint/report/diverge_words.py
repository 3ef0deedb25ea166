"""The words for what `diverge` found, which its text and its page share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from torchlint.diverge.data import Cause, Cure, Divergence, Growth, Trial
from torchlint.diverge.first_operator import MEANINGS
from torchlint.recording.factors.names import ABOUT
from torchlint.report.fixes import counted

UNEXPLAINED = "nothing: `torchlint check` has no finding on these lines"
NOT_PROVEN = "This holds for these runs on this machine; it does not prove that the program is deterministic."


def verdict_words(found: Divergence) -> str:
    """`DIFFERENT at step 3 of 20: loss, gradients and parameters`."""
    if found.verdict == "FAILED":
        return f"FAILED: the command ended with exit {found.exit} in both runs, alike until then"
    if found.verdict == "EQUAL":
        return f"EQUAL: {_equal_words(found)}"
    cause = found.causes[0]
    return f"DIFFERENT at {_step_words(found, cause)}{_what_differs(cause)}"


def _equal_words(found: Divergence) -> str:
    run = found.runs[0].recorded
    made = f"{counted(run.steps, 'step')} and {counted(run.operators, 'operator')}"
    return f"two runs of {made} gave the same losses, gradients, parameters, buffers and outputs, to the bit"


def _step_words(found: Divergence, cause: Cause) -> str:
    if cause.process.startswith("worker"):
        return f"batch {cause.step} of {cause.process}"
    total = max(each.recorded.steps for each in found.runs)
    of_process = "" if cause.process == "main" else f" of {cause.process}"
    return f"step {cause.step}{of_process}" if cause.step > total else f"step {cause.step} of {total}{of_process}"


def _what_differs(cause: Cause) -> str:
    if not cause.differing:
        return ": one run ended its steps before the other"
    *others, last = cause.differing
    return f": {', '.join(others)} and {last}" if others else f": {last}"


def kind_words(cause: Cause) -> str:
    """`kernel: equal operands gave other bits in the backward of aten.index_put, in module Net.attn`."""
    if cause.origin is None:
        return "no operator could be named: the runs that recorded operators were equal, or differed elsewhere"
    found = cause.origin.found
    operator = found.operator
    direction = {"forward": "", "backward": "the backward pass, ", "update": "the optimizer's update, "}
    module = f", module {operator.module}" if operator.module else ""
    return f"{found.kind}: {MEANINGS[found.kind]} ({direction[operator.row.direction]}`{operator.name}`{module})"


def detail_words(cause: Cause) -> Iterator[str]:
    """Yield what else the two recordings tell."""
    if cause.origin is None:
        return
    found = cause.origin.found
    if found.ours is None or found.theirs is None:
        yield f"only the {'first' if found.theirs is None else 'second'} run has this operator"
    if found.collective:
        yield f"it came from other ranks, by `{found.collective}`: the reason is one of theirs"
    if found.has_extra_draws:
        yield "it draws from the generator, so that all later draws are others"
    if found.before is not None:
        yield f"bytes changed between `{found.before.name}` and this operator, by code that torch does not see"
    if cause.origin.distance is not None:
        yield cause.origin.distance.words
    if found.extras:
        yield f"{counted(found.extras, 'operator')} before it ran in one run only"
    if cause.needs_whole_runs:
        yield "runs that end at this step are equal: it shows only where the first run goes to its end"
    if cause.moves:
        yield "other runs differed elsewhere, or not at all: this is the earliest place that was seen"


def factor_words(cause: Cause) -> Iterator[str]:
    """Yield what the experiments say."""
    runs = sum(each.runs for each in cause.trials)
    if cause.factors:
        held = " and ".join(f"{each} ({ABOUT[each].held})" for each in cause.factors)
        yield f"the runs are equal with {held} held fixed; {counted(runs, 'run')} spent"
    elif cause.trials:
        yield f"unknown: {_unknown_words(cause.trials)}; {counted(runs, 'run')} spent"
    different = [each for each in cause.trials if each.equal is False and len(each.held) == 1]
    if different and cause.factors:
        yield f"still different with only {', '.join(each.held[0] for each in different)} held"


def _unknown_words(trials: Sequence[Trial]) -> str:
    most = max(trials, key=lambda each: len(each.held))
    if most.equal is None:
        return f"the runs with {', '.join(most.held)} held could not be made"
    return f"the runs stay different with {', '.join(most.held)} held fixed"


def trial_words(trial: Trial) -> str:
    return {True: "equal", False: "different", None: "not run to its end"}[trial.equal]


def following_words(before: Cause, cause: Cause) -> str:
    """What leads from one cause to the next."""
    return f"with {', '.join(before.factors)} held, the next difference is at step {cause.step}"


def elsewhere_words(cause: Cause) -> str:
    return f"{cause.process} differs first at its step {cause.step}: no order among processes follows from that"


def cure_words(cure: Cure) -> str:
    if cure.equal is None:
        return f"{cure.cure} (not tried: --try-cures does)"
    result = {True: "equal", False: "still different"}[cure.equal]
    cost = "" if cure.cost is None else f", {cure.cost:.2f} times the time"
    return f"{cure.cure}: {result}{cost}"


def growth_words(growth: tuple[Growth, ...]) -> str:
    """`parameters 1.2e-08 apart after step 3; the loss is printed differently with 7 digits at step 5`."""
    apart = [each for each in growth if each.relative]
    told = []
    if apart:
        first, last = apart[0], apart[-1]
        told.append(f"parameters {first.relative:.2g} apart (relative) after step {first.step}")
        if last is not first:
            told[-1] += f", {last.relative:.2g} after step {last.step}"
    visible = next(((each.digit, each.step) for each in growth if each.digit is not None), None)
    if visible is not None:
        told.append(f"the loss is printed differently with {counted(visible[0], 'digit')} at step {visible[1]}")
    return "; ".join(told)


def next_words(found: Divergence) -> str:
    """The command that leads on."""
    if found.verdict == "EQUAL":
        return "`--vary all` makes the second run under other values of these" if found.not_varied else ""
    codes = [each.code for cause in found.causes for each in cause.explained_by]
    if codes:
        return f"torchlint rule {codes[0]}"
    source = found.causes[0].source if found.causes else None
    return f"torchlint audit {source.path}" if source is not None and source.path.endswith(".py") else ""
