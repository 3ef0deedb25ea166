"""Fixes of comments that silence nothing."""

from __future__ import annotations

import re

from torchlint.fixes.plan import Plan, plan
from torchlint.fixes.spot import Spot
from torchlint.source.edits import Replacement
from torchlint.source.suppressions import Directive, read_suppressions

_REASON = re.compile(r"[ \t]*(?=#|\Z)")


def without_suppression(spot: Spot) -> Plan | None:
    """`# torchlint: ignore[TL101, TL102]` → `# torchlint: ignore[TL101]`, or no comment at all.

    A reason behind the last code goes with it: that is a loss to be looked at.
    """
    if spot.diagnostic.variant not in ("unused", "unknown"):
        return None
    place = spot.diagnostic.location
    line = spot.facts.source.joined_line(place)
    for directive in read_suppressions(spot.facts.source).directives:
        idle = [
            at
            for at, span in enumerate(directive.spans)
            if directive.line == line and place.column <= _shown(spot, directive, at) < place.end_column
        ]
        named = set(re.findall(r"[\w-]+", spot.diagnostic.message.partition(":")[0]))
        idle = [at for at in idle if directive.selectors[at] in named or len(idle) == 1]
        if idle:
            return _without(spot, directive, set(idle))
    return None


def _shown(spot: Spot, directive: Directive, at: int) -> int:
    span = directive.spans[at]
    return spot.facts.source.locate(span.line, span.column, span.line, span.end_column).column


def _without(spot: Spot, directive: Directive, idle: set[int]) -> Plan | None:
    spans = directive.spans
    if len(idle) == len(spans):
        return _without_comment(spot, directive)
    changes = []
    for at in sorted(idle):
        first = min(set(range(len(spans))) - idle)
        if at < first:
            changes.append(Replacement(directive.line, spans[at].column, directive.line, spans[at + 1].column, ""))
        else:
            changes.append(
                Replacement(directive.line, spans[at - 1].end_column, directive.line, spans[at].end_column, "")
            )
    return plan(changes)


def _without_comment(spot: Spot, directive: Directive) -> Plan | None:
    line, text = directive.line, spot.code.lines[directive.line - 1]
    start, end = directive.column - 1, directive.end_column - 1
    rest = _REASON.match(text, end)
    if rest is None:
        return plan(
            [Replacement(line, directive.column, line, len(text) + 1, "# " + text[end:].strip(" \t-—:"))], is_safe=False
        )
    before = text[:start].rstrip(" \t")
    if text[rest.end() :]:
        return plan([Replacement(line, directive.column, line, rest.end() + 1, "")])
    if before.strip():
        return plan([Replacement(line, len(before) + 1, line, len(text) + 1, "")])
    is_last = line == len(spot.code.lines)
    if is_last or spot.facts.source.cells is not None:
        return plan([Replacement(line, 1, line, len(text) + 1, "")])
    return plan([Replacement(line, 1, line + 1, 1, "")])
