"""Silencing: which findings an ignore comment or a per-file-ignore takes, and which comments take none (TL002)."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

import msgspec
from msgspec.structs import replace

from torchlint.catalogue import Catalogue
from torchlint.checks.framework.drafts import Draft
from torchlint.config import Settings
from torchlint.diagnostics import Diagnostic, Location
from torchlint.source.suppressions import Directive, SelectorSpan, read_suppressions
from torchlint.source.text import Source

_CODE = "TL002"


class Comment(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One directive with its places worked out, so that it outlives its source."""

    directive: Directive
    locations: tuple[Location, ...]
    """Of each selector."""
    source_line: str


def read_comments(
    path: str, source: Source, statements: Iterable[ast.stmt]
) -> tuple[tuple[Comment, ...], tuple[Draft, ...]]:
    """The ignore comments of a source, and a TL002 draft for each that is malformed."""
    found = read_suppressions(source, statements)
    comments = tuple(
        Comment(
            directive,
            tuple(_located(source, span) for span in directive.spans),
            source.lines[directive.line - 1],
        )
        for directive in found.directives
    )
    malformed = tuple(
        _draft(
            path,
            _located(source, SelectorSpan(problem.line, problem.column, problem.end_column)),
            source.lines[problem.line - 1],
            problem.line,
            "malformed",
            problem.message,
        )
        for problem in found.malformed
    )
    return comments, malformed


def _located(source: Source, span: SelectorSpan) -> Location:
    return source.locate(span.line, span.column, span.line, span.end_column)


def _draft(path: str, location: Location, source_line: str, line: int, variant: str, selectors: str) -> Draft:
    return Draft(
        code=_CODE,
        check="engine",
        path=path,
        location=location,
        source_line=source_line,
        lines=(line, line),
        values={"selectors": selectors},
        message=variant,
        severity=None,
        confidence=None,
    )


class Suppressor:
    """The ignore comments of one file at work. Remembers which selectors silenced something."""

    def __init__(self, comments: Iterable[Comment], settings: Settings, catalogue: Catalogue) -> None:
        self._comments = tuple(comments)
        self._settings = settings
        self._catalogue = catalogue
        self._used: set[tuple[int, int]] = set()

    def silences(self, diagnostic: Diagnostic, lines: tuple[int, int]) -> bool:
        """Whether a comment on one of these lines (or a file-level one) takes this finding."""
        taken = False
        for index, comment in enumerate(self._comments):
            directive = comment.directive
            if not directive.is_for_file and not lines[0] <= directive.line <= lines[1]:
                continue
            if not directive.selectors and diagnostic.code != _CODE:
                taken = True  # a `noqa` without codes; it cannot hide that another comment is unused
            for position, selector in enumerate(directive.selectors):
                if _selects(selector, diagnostic):
                    self._used.add((index, position))
                    taken = True
        return taken

    def unused(self, path: str) -> Iterator[Draft]:
        """A TL002 draft for each comment with selectors that silenced nothing or name no rule."""
        for index, comment in enumerate(self._comments):
            for variant in ("unused", "unknown"):
                idle = [
                    position
                    for position, selector in enumerate(comment.directive.selectors)
                    if (index, position) not in self._used and self._verdict(comment, selector) == variant
                ]
                if idle:
                    first, last = comment.locations[idle[0]], comment.locations[idle[-1]]
                    location = replace(first, end_column=last.end_column)
                    named = ", ".join(comment.directive.selectors[position] for position in idle)
                    yield _draft(path, location, comment.source_line, comment.directive.line, variant, named)

    def _verdict(self, comment: Comment, selector: str) -> str | None:
        """What to say of a selector that silenced nothing; None for foreign codes and rules that did not run."""
        own = not comment.directive.is_noqa or selector.startswith("TL")
        matching = [
            rule for rule in self._catalogue.rules.values() if rule.code.startswith(selector) or rule.name == selector
        ]
        if not matching:
            return "unknown" if own else None
        if _CODE in {rule.code for rule in matching}:
            return None  # whether TL002 is silenced is not known before TL002 has spoken
        ran = [rule.code in self._settings.selected for rule in matching if rule.selectable]
        return "unused" if ran and all(ran) else None  # a prefix may be meant for a rule that did not run


def _selects(selector: str, diagnostic: Diagnostic) -> bool:
    return diagnostic.code.startswith(selector) or diagnostic.name == selector
