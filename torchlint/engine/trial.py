"""Files that are checked in several processes, and then judged by those that hold their trees."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Union

import msgspec

from torchlint.diagnostics import InternalError
from torchlint.engine.hearing import Outcome
from torchlint.engine.project_context import Case, Job, ProjectContext
from torchlint.project.outside import Told

if TYPE_CHECKING:
    from torchlint.engine.analysis import FileResult
    from torchlint.engine.cache.results import Answered


class Verdict(msgspec.Struct, frozen=True):
    """What a project makes of one file, and what judges have learned on the way: for a process that was not there."""

    path: str
    outcome: Outcome
    answers: Sequence[Answered] = ()
    asked_outside: Sequence[Told] = ()


Judge = Callable[["FileResult"], Verdict]
_Told = Union["FileResult", tuple[str, bytes]]


class Trial:
    """What each process does. `judge_among` gives the judge of files among all results of a project.

    Processes that inherit that keep all results: their own, and those that the others tell.
    """

    def __init__(self, context: ProjectContext, judge_among: Callable[[Sequence[FileResult]], Judge] | None) -> None:
        self._context = context
        self._judge_among = judge_among
        self._results: dict[str, FileResult] = {}

    def begin(self, items: Sequence[Job | Case]) -> Sequence[tuple[str, bytes]]:
        """Read files before they are checked."""
        return self._context.begin([item.path for item in items])

    def work(self, item: Job | Case) -> FileResult | Verdict:
        """Check a file, or judge one."""
        if isinstance(item, Case):
            return self._judge(self._results[item.path])
        result = self._context.work(item)
        if self._judge_among is not None:
            self._results[item.path] = result
        return result

    @functools.cached_property
    def _judge(self) -> Judge:
        missing = set(self._context.paths) - self._results.keys()
        if self._judge_among is None or missing:
            raise LookupError(f"no results of {sorted(missing)}")
        return self._judge_among([self._results[path] for path in self._context.paths])

    def told(self, found: FileResult | Verdict) -> Sequence[_Told]:
        """What other processes have to know."""
        if isinstance(found, Verdict):
            return ()
        return self._context.told(found) if self._judge_among is None else (found,)

    def hear(self, told: Sequence[_Told]) -> None:
        """Other processes have checked files, or have read them and tell their interfaces."""
        for one in told:
            if isinstance(one, tuple):
                self._context.hear([one])
            else:
                self._results[one.path] = one
                self._context.hear(self._context.told(one))

    def size(self, item: Job | Case) -> int:
        """About how much there is to do. What a process has checked is its own to judge: it holds the tree."""
        return self._context.size(item.path)

    def on_death(self, item: Job | Case) -> FileResult | Verdict:
        """The process that worked on this file died."""
        if isinstance(item, Job):
            return self._context.on_death(item)
        error = InternalError("judges", self._context.shown(item.path), "the process died while judging this file")
        return Verdict(item.path, Outcome(internal_errors=[error]))
