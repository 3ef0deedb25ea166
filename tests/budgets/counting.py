"""Counts what a check does: no time, so that a busy machine counts the same."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from torchlint.api import CheckOptions, check_paths
from torchlint.encoding import encoded
from torchlint.engine import process_state
from torchlint.engine.analysis import FileResult
from torchlint.engine.cache.results import ResultCache
from torchlint.facts.file import FileFacts
from torchlint.source import syntax


@dataclass(slots=True)
class Work:
    """What one check did."""

    parsed: int = 0
    """Files parsed, as often as each was."""
    questions: int = 0
    """Questions about files that were worked out."""
    bytes: int = 0
    """Of summaries, encoded."""
    lines: int = 0
    """Of the files that were summarised."""


@contextmanager
def counted() -> Iterator[Work]:
    """Counts while it is entered."""
    work = Work()
    parse, spend = syntax.parse_text, FileFacts.spend
    check, summary = process_state.ProcessState.check, process_state.ProcessState.summary

    def parsing(text: str) -> ast.Module:
        work.parsed += 1
        return parse(text)

    def spending(facts: FileFacts, more: int = 1) -> None:
        work.questions += more
        spend(facts, more)

    def told(state: process_state.ProcessState, result: FileResult) -> FileResult:
        work.bytes += len(encoded(result.summary) or b"")
        work.lines += state.context.read(result.path).count(b"\n")
        return result

    with (
        mock.patch.object(syntax, "parse_text", parsing),
        mock.patch.object(FileFacts, "spend", spending),
        mock.patch.object(process_state.ProcessState, "check", lambda state, path: told(state, check(state, path))),
        mock.patch.object(process_state.ProcessState, "summary", lambda state, path: told(state, summary(state, path))),
    ):
        yield work


def work_of(path: Path, cache: ResultCache | None = None) -> Work:
    """Of one check, in this process."""
    with counted() as work:
        check_paths([path], CheckOptions(jobs=1, cache=cache))
    return work
