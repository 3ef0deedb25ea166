"""Code that brings in an operator of the registry (all TL1xx rules that say `registry = true`).

What varies, where and since when lives in `rules/registry/operators/`; what follows from it, in `operator_verdict`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from torchlint.catalogue import Catalogue
from torchlint.checks.framework.drafts import OperatorUse
from torchlint.checks.framework.operator_verdict import judge_operators
from torchlint.checks.framework.registration import Finding, Triggers, check
from torchlint.checks.framework.spelling import shortened, spelling_of
from torchlint.checks.framework.visit import Visit
from torchlint.checks.operators.gradient_uses import is_module_off, is_result_cut, takes_raw_input, unread_attribute
from torchlint.checks.operators.operator_conditions import input_of
from torchlint.checks.operators.operator_matches import (
    Match,
    Table,
    matches_of_call,
    matches_of_expression,
    matches_of_store,
    may_be_products,
    without_variation,
)
from torchlint.checks.operators.operator_surroundings import is_steadied
from torchlint.checks.operators.raw_inputs import is_first_layer, is_raw_input
from torchlint.checks.operators.release_branches import releases_of
from torchlint.diagnostics import Confidence
from torchlint.facts.differentiation import (
    differentiated_scopes,
    is_named_for_data,
    is_served,
    loss_scopes,
    works_on_data,
)
from torchlint.facts.file import FileFacts
from torchlint.facts.gradients import gradless_lines
from torchlint.facts.scopes import Site
from torchlint.facts.summary import OperatorCall


def _codes(catalogue: Catalogue) -> frozenset[str]:
    return frozenset(code for code, rule in catalogue.rules.items() if rule.registry)


def _triggers(catalogue: Catalogue, selected: frozenset[str]) -> Triggers:
    table = catalogue.spellings
    return Triggers(
        calls=frozenset(key for key in table if key[0] not in ".["),
        methods=frozenset(key[1:] for key in table if key.startswith(".")),
        stores=True,
        sites=lambda facts: _expressions(facts, table, selected),
    )


@check(
    codes=_codes,
    triggers=_triggers,
    judge=judge_operators,
)
def find(visit: Visit) -> Iterator[Finding]:
    """One finding for each rule that an operator reached here belongs to."""
    table = visit.catalogue.spellings
    if isinstance(visit.node, ast.Call):
        found = matches_of_call(visit.facts, table, visit.call, visit.scope)
    elif isinstance(visit.node, ast.Subscript | ast.BinOp):
        found = matches_of_expression(visit.facts, table, visit.node, visit.scope)
    else:
        found = matches_of_store(visit.facts, table, visit.assignment, visit.scope)
    matches = [
        _as_given(visit, match)
        for match in found
        if match.operator.rule in visit.selected and not is_steadied(visit.facts, match, visit.statement, visit.scope)
    ]
    for code in sorted({match.operator.rule for match in matches}):
        own = [match for match in matches if match.operator.rule == code]
        certain = _is_certain(visit, own)
        if certain is not None:
            yield Finding(
                code=code,
                node=visit.node,
                values={
                    "spelling": spelling_of(visit),
                    "name": own[0].name,
                    "unreached": "" if certain else _symbol_unreached(visit, own),
                    "unread": _unread(visit, own),
                    "predicted": "yes" if _wants_predictions(visit, own) else "",
                },
                confidence=Confidence.LOW if not certain else Confidence.MEDIUM if own[0].is_choice else None,
                torch=releases_of(visit.facts, visit.statement),
                operators=tuple(dict.fromkeys(OperatorUse(match.operator.id, match.holds) for match in own)),
            )


def _as_given(visit: Visit, match: Match) -> Match:
    """A match with what the whole model is given does not vary where another tensor's gradient is what is asked for."""
    value = input_of(match.use, match.spelling)
    return without_variation(match) if is_raw_input(visit.facts, match.use, value, visit.scope) else match


def operator_calls(facts: FileFacts, catalogue: Catalogue) -> Iterator[OperatorCall]:
    """The calls and stores that this check is sure of, or hints at, for questions about whole programs.

    Reads through an index and products are left out: they are everywhere, and the rules about them are off by default.
    """
    table = catalogue.spellings
    visit = Visit(facts, catalogue, _codes(catalogue))
    for site in facts.reading.calls:
        visit.at(site)
        found = matches_of_call(facts, table, site.node, site.scope)
        yield from _calls(visit, found, site.node.func, site.statement)
    for store in facts.reading.assign_sites:
        visit.at(Site(store.node, store.scope, store.node))
        found = matches_of_store(facts, table, store.node, store.scope)
        yield from _calls(visit, found, store.node, store.node)


def _calls(visit: Visit, found: Iterable[Match], named: ast.AST, statement: ast.stmt) -> Iterator[OperatorCall]:
    facts = visit.facts
    for match in found:
        is_open = match.holds in ("yes", "hint") and not is_steadied(facts, match, statement, visit.scope)
        if is_open and _is_certain(visit, [match]):
            name, symbol = ast.unparse(named), facts.symbol_at(visit.scope, statement)
            name = name if shortened(name) == name else shortened(name.rpartition(".")[2])
            yield OperatorCall(match.operator.id, name, symbol, facts.locate(match.use))


def _is_certain(visit: Visit, matches: Sequence[Match]) -> bool | None:
    """Whether a finding counts in full; None where no gradient can flow through what varies only backward."""
    certain = all(match.certain for match in matches)
    if any(match.operator.direction != "backward" for match in matches):
        return certain
    certain = certain and not works_on_data(visit.facts, visit.scope)
    use = matches[0].use
    if all(match.spelling.input for match in matches):
        is_off = any(first <= use.lineno <= last for first, last in visit.facts.once(gradless_lines))
        if is_off or is_result_cut(visit.facts, use):
            return None
        return certain and _is_differentiated(visit, matches)
    if isinstance(use, ast.Call):
        if is_module_off(visit.facts, use):
            return None
        certain = certain and not is_first_layer(visit.statement) and not takes_raw_input(visit.facts, use)
    return certain


def _is_differentiated(visit: Visit, matches: Sequence[Match]) -> bool:
    signals = any(match.spelling.takes_signals for match in matches)
    scopes = visit.facts.once(loss_scopes if signals else differentiated_scopes)
    is_reached = (visit.facts.function_of(visit.scope) or 0) in scopes
    return is_reached and (signals or not any(_works_on_raw_input(visit, m) for m in matches if m.holds != "no"))


def _symbol_unreached(visit: Visit, matches: Sequence[Match]) -> str:
    """The function of a finding that counts once calls of other files are seen to hand it gradients."""
    scope = visit.facts.function_of(visit.scope)
    is_open = all(
        match.certain
        and match.spelling.input
        and match.operator.direction == "backward"
        and not _works_on_raw_input(visit, match)
        for match in matches
    )
    if not is_open or scope is None or is_served(visit.facts):
        return ""
    return visit.facts.reading.scopes[scope].qualname


def _unread(visit: Visit, matches: Sequence[Match]) -> str:
    """The attribute that keeps a module which nothing in the file runs."""
    use = matches[0].use
    is_module = isinstance(use, ast.Call) and not any(match.spelling.input for match in matches)
    return unread_attribute(visit.facts, use) if is_module else ""  # type: ignore[arg-type]


def _wants_predictions(visit: Visit, matches: Sequence[Match]) -> bool:
    """Where code is named for work on data, or takes signals, only what is evidently predicted carries a gradient."""
    return any(match.spelling.takes_signals for match in matches) or works_on_data(visit.facts, visit.scope)


def _works_on_raw_input(visit: Visit, match: Match) -> bool:
    value = input_of(match.use, match.spelling)
    return is_named_for_data(visit.facts, value, visit.scope) or is_raw_input(
        visit.facts, match.use, value, visit.scope
    )


def _expressions(facts: FileFacts, table: Table, selected: frozenset[str]) -> Iterator[Site]:
    """Every `x[i]` that is read and every `x @ y`, for rules about them: both are everywhere, and seldom meant."""
    reads = any(operator.rule in selected for operator, _ in table.get("[read]", ()))
    products = may_be_products(facts, table, selected)
    for statement, scope in facts.reading.scope_of.items() if reads or products else ():
        for node in facts.index.within(statement):
            is_read = reads and isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load)
            if is_read or (products and isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult)):
                yield Site(node, scope, statement)  # type: ignore[arg-type]
