"""Code that brings in an operator of the registry (all TL1xx rules that say `registry = true`).

What varies, where and since when lives in `rules/registry/operators/`; what follows from it, in `operator_verdict`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeGuard

import libcst as cst

from torchlint.catalogue import Catalogue
from torchlint.checks.drafts import OperatorUse
from torchlint.checks.operator_conditions import input_of
from torchlint.checks.operator_matches import (
    Expression,
    Match,
    Table,
    matches_of_call,
    matches_of_expression,
    matches_of_store,
    may_be_products,
    without_variation,
)
from torchlint.checks.operator_surroundings import is_steadied
from torchlint.checks.operator_verdict import judge_operators
from torchlint.checks.registration import Finding, Vocabulary, check
from torchlint.checks.spelling import shortened, spelling_of
from torchlint.checks.visit import Visit
from torchlint.diagnostics import Confidence
from torchlint.facts.context import parents_within
from torchlint.facts.differentiation import (
    differentiated_scopes,
    is_named_for_data,
    is_served,
    loss_scopes,
    works_on_data,
)
from torchlint.facts.file import FileFacts
from torchlint.facts.gradient_uses import is_module_off, is_result_cut, takes_raw_input, unread_attribute
from torchlint.facts.gradients import gradless_lines
from torchlint.facts.raw_inputs import is_first_layer, is_raw_input
from torchlint.facts.release_branches import releases_of
from torchlint.facts.scopes import AssignSite, CallSite
from torchlint.facts.summary import OperatorCall


def _codes(catalogue: Catalogue) -> frozenset[str]:
    return frozenset(code for code, rule in catalogue.rules.items() if rule.registry)


def _vocabulary(catalogue: Catalogue) -> Vocabulary:
    table = catalogue.spellings

    def worth(facts: FileFacts, site: CallSite, selected: frozenset[str]) -> bool:
        return any(match.operator.rule in selected for match in matches_of_call(facts, table, site.node, site.scope))

    def stores(facts: FileFacts, site: AssignSite, selected: frozenset[str]) -> bool:
        return any(match.operator.rule in selected for match in matches_of_store(facts, table, site.node, site.scope))

    def reads(facts: FileFacts, selected: frozenset[str]) -> Iterator[ast.stmt]:
        wanted = _wanted(facts, table, selected)
        for statement, scope in facts.reading.scope_of.items() if wanted else ():
            nodes = (node for node in parents_within(statement) if isinstance(node, wanted))
            read = (node for node in nodes if _is_read_or_product(node))
            if any(next(matches_of_expression(facts, table, node, scope), None) is not None for node in read):
                yield statement

    return Vocabulary(
        worth=worth,
        stores=stores,
        reads=reads,
        calls=frozenset(key for key in table if key[0] not in ".["),
        methods=frozenset(key[1:] for key in table if key.startswith(".")),
    )


@check(
    *(cst.Call, cst.Assign, cst.AugAssign, cst.Subscript, cst.BinaryOperation),
    codes=_codes,
    vocabulary=_vocabulary,
    judge=judge_operators,
)
def find(visit: Visit) -> Iterator[Finding]:
    """One finding for each rule that an operator reached here belongs to."""
    table = visit.catalogue.spellings
    if isinstance(visit.node, ast.Call):
        found = matches_of_call(visit.facts, table, visit.call, visit.scope)
    elif isinstance(visit.node, ast.Subscript | ast.BinOp):
        found = _of_expression(visit)
    else:
        found = matches_of_store(visit.facts, table, visit.assignment, visit.scope)
    matches = [
        _as_given(visit, match)
        for match in found
        if match.operator.rule in visit.selected and not is_steadied(visit.facts, match, visit.scope)
    ]
    for code in sorted({match.operator.rule for match in matches}):
        own = [match for match in matches if match.operator.rule == code]
        certain = _is_certain(visit, own)
        if certain is not None:
            yield Finding(
                code=code,
                node=visit.node,
                values={
                    "spelling": spelling_of(visit, _without_brackets(visit.lossless)),
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
        visit.node, visit.scope, visit.statement = site.node, site.scope, site.statement
        found = matches_of_call(facts, table, site.node, site.scope)
        yield from _calls(visit, found, site.node.func, site.statement)
    for store in facts.reading.assign_sites:
        visit.node, visit.scope, visit.statement = store.node, store.scope, store.node
        found = matches_of_store(facts, table, store.node, store.scope)
        yield from _calls(visit, found, store.node, store.node)


def _calls(visit: Visit, found: Iterable[Match], named: ast.AST, statement: ast.stmt) -> Iterator[OperatorCall]:
    facts = visit.facts
    for match in found:
        is_open = match.holds in ("yes", "hint") and not is_steadied(facts, match, visit.scope)
        if is_open and _is_certain(visit, [match]):
            name, symbol = ast.unparse(named), facts.symbol_at(visit.scope, statement)
            name = name if shortened(name) == name else shortened(name.rpartition(".")[2])
            yield OperatorCall(match.operator.id, name, symbol, facts.locate(match.use))


def _without_brackets(node: cst.CSTNode) -> cst.CSTNode:
    """Where a product stands is without them, and so is how it is quoted."""
    return node.with_changes(lpar=(), rpar=()) if isinstance(node, cst.BinaryOperation) else node


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


def _wanted(facts: FileFacts, table: Table, selected: frozenset[str]) -> tuple[type[Expression], ...]:
    """The expressions that some selected rule is about: reads and products are everywhere, and seldom meant."""
    wanted: list[type[Expression]] = []
    if any(operator.rule in selected for operator, _ in table.get("[read]", ())):
        wanted.append(ast.Subscript)
    if may_be_products(facts, table, selected):
        wanted.append(ast.BinOp)
    return tuple(wanted)


def _is_read_or_product(node: ast.AST) -> TypeGuard[Expression]:
    """`x[i]` that is read, and `x @ y`."""
    if isinstance(node, ast.Subscript):
        return isinstance(node.ctx, ast.Load)
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult)


def _of_expression(visit: Visit) -> Iterator[Match]:
    table = visit.catalogue.spellings
    node = visit.node
    if _is_read_or_product(node) and isinstance(node, _wanted(visit.facts, table, visit.selected)):
        yield from matches_of_expression(visit.facts, table, node, visit.scope)
