"""What single rules ask of every file of a project, besides what its summary holds for all of them.

An extract stands beside the rule, or the question, that reads it. It is taken while the file's tree is at hand, and
only if a selected rule asks for it:

    _STARTS = Extract("starts", tuple[ProcessStart, ...], process_starts)

    @check(..., judge=_judge, asks=(_STARTS,))

In `_judge`: `_STARTS.of(project.summaries[path])`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import msgspec

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts
    from torchlint.facts.summary import FileSummary
    from torchlint.facts.watch import Watch

Told = TypeVar("Told")


class Extract(Generic[Told]):
    """A question to a file's facts, by a name of its own; the answer is plain data of a kind."""

    def __init__(self, name: str, kind: type[Told], take: Callable[[FileFacts, Watch], Told]) -> None:
        self.name = name
        self._kind = kind
        self.take = take

    def of(self, summary: FileSummary) -> Told:
        """What a file told. Raises LookupError if no selected rule asks for it: a check that reads it has to say so."""
        try:
            told = summary.extracts[self.name]
        except KeyError:
            raise LookupError(f"no selected rule asks for {self.name}") from None
        if isinstance(told, list):  # as it comes from a cache
            told = summary.extracts[self.name] = msgspec.convert(told, self._kind)
        found: Told = told
        return found


def extracts_of(facts: FileFacts, watch: Watch, asked: Iterable[Extract[Any]]) -> dict[str, Any]:
    """What a file tells to some questions, by their names."""
    return {one.name: one.take(facts, watch) for one in asked}
