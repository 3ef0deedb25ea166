"""`torchlint diverge`: run twice, locate the first difference, prove its factor, explain it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from torchlint.diverge.causes import bare_cause, cause_of
from torchlint.diverge.cures import cures_of
from torchlint.diverge.data import Cause, Divergence, Ran, Trial
from torchlint.diverge.experiments import Search, suspects
from torchlint.diverge.explaining import explanations
from torchlint.diverge.growth import growth_of
from torchlint.diverge.running import Runner, Wanted
from torchlint.diverge.sources import Sources
from torchlint.diverge.stepping import StepDifference, differences, first_difference
from torchlint.diverge.tracing import ROWS_BEFORE, origin_among
from torchlint.errors import Terminated, TorchlintError
from torchlint.recording.factors.names import VARIABLE
from torchlint.recording.journal.names import Level

_MOST_TRIES = 3
"""Pairs of runs that are made to see a difference again, operator by operator."""
_MOST_TRIALS = 24
_PAIRS, _PAIRS_OF_RACES = 2, 3
"""Pairs of runs that must be equal in an experiment: one may be equal by chance, where threads race."""
_TAIL, _MOST_OF_LINE = 20, 200


@dataclass(frozen=True)
class Options:
    """What was asked for."""

    paths: tuple[Path, ...] = ()
    level: Level = "step"
    steps: int | None = None
    vary: tuple[str, ...] = ()
    experiments: bool = True
    try_cures: bool = False
    max_causes: int = 3


class Comparison:
    """One run of the command `diverge`."""

    def __init__(self, runner: Runner, options: Options, sources: Sources) -> None:
        self._runner = runner
        self._options = options
        self._sources = sources
        self._found: Divergence

    def result(self) -> Divergence:
        """All of it; where the user ends it, as much as was found by then.

        Raises TorchlintError where nothing can be compared, and KeyboardInterrupt before there were two runs.
        """
        options = self._options
        pair = self._runner.pair(Wanted(options.level, last_step=options.steps))
        _refuse_nothing(pair)
        difference = first_difference(pair[0].recorded, pair[1].recorded)
        self._found = _judged(pair, difference, self._runner.command, options)
        if difference is None:
            return self._found
        try:
            self._find_causes(pair, difference)
        except (KeyboardInterrupt, Terminated):
            self._found = replace(self._found, was_interrupted=True)
        return replace(self._found, experiments=self._runner.runs - 2)

    def _find_causes(self, pair: tuple[Ran, Ran], difference: StepDifference) -> None:
        """One cause after the other: the factors of the first are held, and the next difference is looked for."""
        held: tuple[str, ...] = ()
        for _ in range(self._options.max_causes):
            cause = self._find_cause(pair, difference, held)
            if not cause.factors:
                return
            held = tuple(sorted({*held, *cause.factors}))
            pair = self._runner.pair(Wanted(last_step=self._options.steps, held=held), f"with {', '.join(held)} held")
            following = first_difference(pair[0].recorded, pair[1].recorded)
            if following is None or following.number <= difference.number:
                return
            difference = following

    def _find_cause(self, pair: tuple[Ran, Ran], difference: StepDifference, held: tuple[str, ...]) -> Cause:
        before = self._found.causes if held else ()
        cause = self._put(before, self._located(pair, difference, held))
        cause = self._put(before, replace(cause, explained_by=explanations(cause, self._options.paths, self._sources)))
        if self._options.experiments:
            cause = self._put(before, self._with_factors(cause, held))
        tried_by = self._runner if self._options.try_cures else None
        return self._put(before, replace(cause, cures=cures_of(cause, tried_by)))

    def _put(self, before: tuple[Cause, ...], cause: Cause) -> Cause:
        """Keep what is known of a cause so far."""
        self._found = replace(self._found, causes=(*before, cause))
        return cause

    def _located(self, pair: tuple[Ran, Ran], difference: StepDifference, held: tuple[str, ...]) -> Cause:
        """The operator of the first difference, seen in runs of their own."""
        origin = None
        if self._options.level == "operator" and not held:
            known = origin_among(pair[0].recorded, pair[1].recorded, [*differences(*(each.recorded for each in pair))])
            difference, origin = known or (difference, None)
        moves, tries = False, 0
        while origin is None and self._options.level != "module" and tries < _MOST_TRIES:
            tries += 1
            number = difference.number
            last = number if tries == 1 else self._options.steps  # a file that a whole run leaves may be the reason
            wanted = Wanted("operator", last, max(1, number - ROWS_BEFORE), number, number, held)
            pair = self._runner.pair(wanted, f"operators up to step {number}")
            self._note_failure(pair)
            seen = [*differences(pair[0].recorded, pair[1].recorded)]
            if not seen:
                moves = moves or tries > 1
                continue
            earliest = min(each.number for each in seen)
            moves = moves or earliest < number
            known = origin_among(pair[0].recorded, pair[1].recorded, seen)
            if known is not None:
                difference, origin = known
            elif earliest < number:
                difference = next(each for each in seen if each.number == earliest)
        cause = cause_of(difference, origin, self._sources, (pair[0].recorded, pair[1].recorded), moves=moves)
        needs_whole_runs = origin is not None and tries > 1 and not moves
        until = self._options.steps if needs_whole_runs else difference.number
        if not held:
            others = (each for each in self._found.elsewhere if each.process != difference.process)
            self._found = replace(self._found, elsewhere=tuple(others))
        return replace(cause, until=until, needs_whole_runs=needs_whole_runs)

    def _note_failure(self, pair: tuple[Ran, Ran]) -> None:
        """A command that fails where its operators are recorded, and only there: that is the recorder's doing."""
        failed = next((each for each in pair if each.exit and not each.was_timed_out), None)
        if failed is not None and self._found.exit is None:
            words = f"with its operators recorded the command ended with exit {failed.exit}{_last_words(failed)}"
            self._found = replace(self._found, notes=tuple(dict.fromkeys((*self._found.notes, words))))

    def _with_factors(self, cause: Cause, held: tuple[str, ...]) -> Cause:
        search = Search(self._trial(cause), _MOST_TRIALS, held)
        ordered = suspects(cause.origin, self._options.vary)
        if cause.needs_whole_runs:
            ordered = tuple(dict.fromkeys(["leftover-files", *ordered]))
        factors = search.find(ordered)
        return replace(cause, trials=tuple(search.trials), factors=factors)

    def _trial(self, cause: Cause) -> Callable[[tuple[str, ...]], Trial]:
        repeats = _PAIRS_OF_RACES if cause.moves else _PAIRS

        def trial(held: tuple[str, ...]) -> Trial:
            began = self._runner.runs
            seconds = 0.0
            for _ in range(repeats):
                pair = self._runner.pair(Wanted(last_step=cause.until, held=held), f"with {', '.join(held)} held")
                seconds += sum(each.seconds for each in pair)
                if not all(each.recorded.processes for each in pair):
                    return Trial(held, None, self._runner.runs - began, seconds)
                if first_difference(pair[0].recorded, pair[1].recorded) is not None:
                    return Trial(held, equal=False, runs=self._runner.runs - began, seconds=seconds)
            return Trial(held, equal=True, runs=self._runner.runs - began, seconds=seconds)

        return trial


def _refuse_nothing(pair: tuple[Ran, Ran]) -> None:
    if any(each.recorded.processes for each in pair):
        return
    if any(each.troubles for each in pair):
        raise TorchlintError(f"nothing was recorded: {pair[0].troubles[0]}")
    ended = f" (it ended with exit {pair[0].exit})" if pair[0].status else ""
    raise TorchlintError(f"nothing was recorded: the command ran no Python that imports torch{ended}")


def _judged(
    pair: tuple[Ran, Ran], difference: StepDifference | None, command: tuple[str, ...], options: Options
) -> Divergence:
    """What two runs show by themselves. Runs that end with other exit statuses are no equal ones."""
    statuses = {each.exit for each in pair}
    failed = next((each.exit for each in pair if each.exit), None)
    found = Divergence(
        verdict="EQUAL",
        command=command,
        runs=pair,
        not_varied=tuple(each for each in VARIABLE if each not in options.vary),
        notes=tuple(dict.fromkeys(_notes(pair))),
        exit=failed,
    )
    if difference is None and len(statuses) > 1:
        bare = Cause("main", pair[0].recorded.steps, ("exit status",), None, None)
        return replace(found, verdict="DIFFERENT", causes=(bare,))
    if difference is None:
        return replace(found, verdict="FAILED") if failed else found
    others = differences(pair[0].recorded, pair[1].recorded)
    return replace(
        found,
        verdict="DIFFERENT",
        causes=(bare_cause(difference),),
        growth=growth_of(pair[0].recorded, pair[1].recorded),
        elsewhere=tuple(map(bare_cause, others)),
    )


def _notes(pair: tuple[Ran, Ran]) -> Iterator[str]:
    for ran in pair:
        yield from (f"not recorded: {each}" for each in ran.troubles)
        yield from (f"the recorder: {each}" for each in ran.recorded.troubles)
        if ran.was_timed_out:
            yield "a run was ended from outside: it ended no step in its time"
        if ran.status:
            yield f"a run ended with exit {ran.exit}{_last_words(ran)}"


def _last_words(ran: Ran) -> str:
    """The last line that the command printed, where that was not shown."""
    lines = ran.output.read_text(encoding="utf-8", errors="replace").split("\n")[-_TAIL:]
    last = next((line.strip() for line in reversed(lines) if any(map(str.isalpha, line))), "")
    return f": {last[:_MOST_OF_LINE]}" if last else ""
