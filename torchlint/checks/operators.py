"""Code that brings in an operator of the registry (all TL1xx rules that say `registry = true`).

What varies, where and since when lives in `rules/registry/operators/`; what follows from it, in `operator_verdict`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

import libcst as cst

from torchlint.catalogue import Catalogue
from torchlint.checks.drafts import OperatorUse
from torchlint.checks.operator_conditions import Use, input_of
from torchlint.checks.operator_matches import Match, Table, matches_of_call, matches_of_read, matches_of_store
from torchlint.checks.operator_verdict import judge_operators
from torchlint.checks.registration import Finding, Vocabulary, check
from torchlint.checks.spelling import spelling_of
from torchlint.checks.visit import Visit
from torchlint.diagnostics import Confidence
from torchlint.facts.context import parents_within
from torchlint.facts.differentiation import differentiated_scopes, is_named_for_data, loss_scopes, works_on_data
from torchlint.facts.file import FileFacts
from torchlint.facts.gradients import gradless_lines
from torchlint.facts.scopes import AssignSite, CallSite


def _codes(catalogue: Catalogue) -> frozenset[str]:
    return frozenset(code for code, rule in catalogue.rules.items() if rule.registry)


def _vocabulary(catalogue: Catalogue) -> Vocabulary:
    table = catalogue.spellings

    def worth(facts: FileFacts, site: CallSite, selected: frozenset[str]) -> bool:
        return any(match.operator.rule in selected for match in matches_of_call(facts, table, site.node, site.scope))

    def stores(facts: FileFacts, site: AssignSite, selected: frozenset[str]) -> bool:
        return any(match.operator.rule in selected for match in matches_of_store(facts, table, site.node, site.scope))

    def reads(facts: FileFacts, selected: frozenset[str]) -> Iterator[ast.stmt]:
        if any(operator.rule in selected for operator, _ in table.get("[read]", ())):
            yield from (statement for statement, read, scope in _reads(facts) if _is_read(facts, table, read, scope))

    return Vocabulary(
        worth=worth,
        stores=stores,
        reads=reads,
        calls=frozenset(key for key in table if key[0] not in ".["),
        methods=frozenset(key[1:] for key in table if key.startswith(".")),
    )


@check(cst.Call, cst.Assign, cst.AugAssign, cst.Subscript, codes=_codes, vocabulary=_vocabulary, judge=judge_operators)
def find(visit: Visit, node: cst.CSTNode) -> Iterator[Finding]:
    """One finding for each rule that an operator reached here belongs to."""
    table = visit.catalogue.spellings
    if isinstance(node, cst.Call):
        found = matches_of_call(visit.facts, table, visit.call, visit.scope)
    elif isinstance(node, cst.Subscript):
        found = _of_read(visit, node)
    else:
        found = matches_of_store(visit.facts, table, visit.assignment, visit.scope)
    matches = [match for match in found if match.operator.rule in visit.selected]
    for code in sorted({match.operator.rule for match in matches}):
        own = [match for match in matches if match.operator.rule == code]
        certain = _is_certain(visit, own)
        if certain is not None:
            yield Finding(
                code=code,
                node=node,
                values={"spelling": spelling_of(visit, node), "name": own[0].name},
                confidence=None if certain else Confidence.LOW,
                operators=tuple(dict.fromkeys(OperatorUse(match.operator.id, match.holds) for match in own)),
            )


def _is_certain(visit: Visit, matches: Sequence[Match]) -> bool | None:
    """Whether a finding counts in full; None where no gradient can flow through what varies only backward."""
    certain = all(match.certain for match in matches)
    if any(match.operator.direction != "backward" for match in matches):
        return certain
    certain = certain and not works_on_data(visit.facts, visit.scope)
    if all(match.spelling.input for match in matches):
        if _is_gradless(visit, matches[0].use):
            return None
        certain = certain and _is_differentiated(visit, matches)
    return certain


def _is_gradless(visit: Visit, use: Use) -> bool:
    return any(first <= use.lineno <= last for first, last in visit.facts.once(gradless_lines))


def _is_differentiated(visit: Visit, matches: Sequence[Match]) -> bool:
    signals = any(match.spelling.takes_signals for match in matches)
    scopes = visit.facts.once(loss_scopes if signals else differentiated_scopes)
    is_reached = (visit.facts.function_of(visit.scope) or 0) in scopes
    inputs = [input_of(match.use, match.spelling) for match in matches]
    return is_reached and (signals or not any(is_named_for_data(value) for value in inputs))


def _reads(facts: FileFacts) -> Iterator[tuple[ast.stmt, ast.Subscript, int]]:
    """Every `x[i]` that is read, with its statement and the scope of that."""
    for statement, cursor in facts.reading.cursors.items():
        for node in parents_within(statement):
            if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
                yield statement, node, cursor.scope


def _is_read(facts: FileFacts, table: Table, read: ast.Subscript, scope: int) -> bool:
    return next(matches_of_read(facts, table, read, scope), None) is not None


def _by_text(facts: FileFacts) -> dict[tuple[int | None, str], tuple[ast.Subscript, int]]:
    """Reads by function and text: subscripts are not counted, so that is how the lossless node finds its twin."""
    return {(facts.function_of(scope), ast.unparse(read)): (read, scope) for _, read, scope in _reads(facts)}


def _of_read(visit: Visit, node: cst.Subscript) -> Iterator[Match]:
    """Nothing, unless some rule about reads is selected: they are everywhere."""
    if any(operator.rule in visit.selected for operator, _ in visit.catalogue.spellings.get("[read]", ())):
        text = ast.unparse(ast.parse(f"({visit.code(node)})", mode="eval"))  # Brackets further out may span lines.
        found = visit.facts.once(_by_text).get((visit.facts.function_of(visit.scope), text))
        if found is not None:
            yield from matches_of_read(visit.facts, visit.catalogue.spellings, *found)
