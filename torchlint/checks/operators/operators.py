"""Code that brings in an operator of the registry (all TL1xx rules that say `registry = true`).

What varies, where and since when lives in `rules/registry/operators/`; what follows from it, in `operator_verdict`.
"""

from __future__ import annotations

import ast
import functools
import itertools
from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from torchlint.catalogue import Catalogue
from torchlint.checks.framework.drafts import OperatorUse
from torchlint.checks.framework.operator_verdict import judge_operators
from torchlint.checks.framework.registration import Finding, Triggers, check
from torchlint.checks.framework.visit import Visit, shortened, spelling_of
from torchlint.checks.operators.gradient_uses import (
    given_parameter,
    is_module_off,
    is_raw_input,
    is_result_cut,
    takes_raw_input,
    unread_attribute,
)
from torchlint.checks.operators.operator_conditions import input_of
from torchlint.checks.operators.operator_matches import (
    Match,
    Table,
    handed_calls,
    matches_of_call,
    matches_of_product,
    matches_of_read,
    matches_of_store,
    may_be_losses,
    may_be_products,
    stores_through_index,
)
from torchlint.checks.operators.operator_surroundings import is_steadied, releases_of
from torchlint.diagnostics import Confidence
from torchlint.facts.callees import runs_of
from torchlint.facts.differentiation import (
    Evidence,
    Passage,
    is_named_for_data,
    is_served,
    stands_in_loss,
    works_on_data,
)
from torchlint.facts.file import FileFacts
from torchlint.facts.functions import is_method, positional_parameters
from torchlint.facts.gradients import is_gradless
from torchlint.facts.memoizing import memoized
from torchlint.facts.options.demands import Demand, demands_on
from torchlint.facts.scopes import Site
from torchlint.facts.summary import OperatorCall
from torchlint.facts.tree import is_super
from torchlint.facts.words import says


@functools.lru_cache(maxsize=2)
def reporting_rules(catalogue: Catalogue) -> frozenset[str]:
    return frozenset(code for code, rule in catalogue.rules.items() if rule.registry)


def _triggers(catalogue: Catalogue, selected: frozenset[str]) -> Triggers:
    table = catalogue.spellings
    return Triggers(
        calls=frozenset(key for key in table if key[0] not in ".["),
        methods=frozenset(key[1:] for key in table if key.startswith(".")),
        sites=lambda facts: itertools.chain(
            handed_calls(facts), stores_through_index(facts), _expressions(facts, table, selected)
        ),
    )


@check(codes=reporting_rules, triggers=_triggers, judge=judge_operators)
def find(visit: Visit) -> Iterator[Finding]:
    """One finding for each rule that an operator reached here belongs to."""
    table = visit.catalogue.spellings
    if isinstance(visit.node, ast.Call):
        found: Iterable[Match] = _matches_of_call(visit.facts, visit.catalogue, visit.call, visit.scope)
    elif isinstance(visit.node, ast.Subscript):
        found = matches_of_read(visit.facts, table, visit.node, visit.scope)
    elif isinstance(visit.node, ast.BinOp):
        found = matches_of_product(visit.facts, table, visit.node, visit.scope)
    else:
        found = matches_of_store(visit.facts, table, visit.statement, visit.scope)
    matches = [
        _as_given(visit, match)
        for match in found
        if match.operator.rule in visit.selected and not is_steadied(visit.facts, match, visit.statement, visit.scope)
    ]
    for code in sorted({match.operator.rule for match in matches}):
        own = [match for match in matches if match.operator.rule == code]
        certain = _is_certain(visit, own)
        if certain is not None:
            use = own[0].use
            is_module = isinstance(use, ast.Call) and not any(match.spelling.input for match in own)
            # The attribute that keeps a module which nothing in the file runs.
            unread = unread_attribute(visit.facts, use) if is_module else ""  # type: ignore[arg-type]
            named = {"spelling": spelling_of(visit), "symbol": visit.symbol, "name": own[0].name, "unread": unread}
            yield Finding(
                code=code,
                node=visit.node,
                values=named,
                confidence=Confidence.LOW if not certain else Confidence.MEDIUM if own[0].is_choice else None,
                torch=releases_of(visit.facts, visit.statement),
                operators=tuple(dict.fromkeys(OperatorUse(one.operator.id, one.holds, one.asked) for one in own)),
                passage=_passage(visit, own) if certain else None,
                demands=_demands(visit.facts, visit.statement, visit.scope),
            )


@memoized
def _matches_of_call(facts: FileFacts, catalogue: Catalogue, call: ast.Call, scope: int) -> tuple[Match, ...]:
    """Once for what is found in a file, and once for what its project is told."""
    return tuple(matches_of_call(facts, catalogue.spellings, call, scope))


def _as_given(visit: Visit, match: Match) -> Match:
    """A match with what the whole model is given does not vary where another tensor's gradient is what is asked for."""
    value, has_other = input_of(match.use, match.spelling), match.spelling.steady is not None
    is_given = has_other and is_raw_input(visit.facts, match.use, value, visit.scope)
    return replace(match, holds="no") if is_given else match


def operator_calls(facts: FileFacts, catalogue: Catalogue) -> Iterator[OperatorCall]:
    """The calls and stores that this check is sure of, or hints at, for questions about whole programs.

    Reads through an index and products are left out: they are everywhere, and the rules about them are off by default.
    """
    table = catalogue.spellings
    visit = Visit(facts, catalogue, reporting_rules(catalogue))
    runs = runs_of(facts)
    named = (place for name in runs.keys() & table.keys() for place in runs[name])
    methods = (word for word in facts.calls.words if f".{word}" in table)
    for site in facts.calls.find(words=methods, places=(*named, *may_be_losses(facts))):
        visit.at(site)
        matches = _matches_of_call(facts, catalogue, site.node, site.scope)
        yield from _calls(visit, matches, site.node.func, site.statement)
    for store in stores_through_index(facts):
        visit.at(store)
        found = matches_of_store(facts, table, store.statement, store.scope)
        yield from _calls(visit, found, store.node, store.statement)


def _calls(visit: Visit, found: Iterable[Match], named: ast.AST, statement: ast.stmt) -> Iterator[OperatorCall]:
    facts = visit.facts
    for match in found:
        is_open = (match.asked is None or match.asked.is_usual) and match.holds in ("yes", "hint")
        is_open = is_open and not is_steadied(facts, match, statement, visit.scope)
        if is_open and _is_certain(visit, [match]):
            is_base = isinstance(named, ast.Attribute) and is_super(named.value)
            name = match.name if is_base else ast.unparse(named)
            symbol = facts.symbol_at(visit.scope, statement)
            passage = _passage(visit, [match])
            demands = _demands(facts, statement, visit.scope)
            yield OperatorCall(match.operator.id, shortened(name), symbol, facts.locate(match.use), passage, demands)


def _is_certain(visit: Visit, matches: Sequence[Match]) -> bool | None:
    """Whether a finding counts in full; None where no gradient can flow through what varies only backward."""
    certain = all(match.certain for match in matches)
    use = matches[0].use
    if any(match.operator.direction != "backward" for match in matches):
        return certain
    if all(match.spelling.input for match in matches):
        if is_gradless(visit.facts, use) or is_result_cut(visit.facts, use):
            return None
        signals = any(match.spelling.takes_signals for match in matches)
        is_raw = not signals and any(_works_on_raw_input(visit, match) for match in matches if match.holds != "no")
        return certain and not is_served(visit.facts) and not is_raw
    if isinstance(use, ast.Call):
        if is_module_off(visit.facts, use):
            return None
        certain = certain and not takes_raw_input(visit.facts, use)
    return certain and not works_on_data(visit.facts, visit.scope)


def _passage(visit: Visit, matches: Sequence[Match]) -> Passage | None:
    """The function that a gradient has to come back through, for functions that vary only backward."""
    if not all(match.spelling.input and match.operator.direction == "backward" for match in matches):
        return None
    takes_signals = any(match.spelling.takes_signals for match in matches)
    is_of_data = works_on_data(visit.facts, visit.scope)
    asks = Evidence.PREDICTION if is_of_data else Evidence.SIGNAL if takes_signals else Evidence.ANY
    values = [input_of(match.use, match.spelling) for match in matches]
    parameters = {_parameter(visit, value) for value in values}
    is_data = any(is_named_for_data(visit.facts, value, visit.scope) for value in values)
    return Passage(visit.symbol, asks, parameters.pop() if len(parameters) == 1 else None, is_data)


def _demands(facts: FileFacts, statement: ast.stmt, scope: int) -> tuple[Demand, ...]:
    return tuple(one for one in demands_on(facts, statement, scope) if one.function)


def _parameter(visit: Visit, value: ast.expr | None) -> tuple[int, str] | None:
    """The parameter of a helper that an operator works on: its place among the arguments of a call, and its name."""
    facts, function = visit.facts, visit.facts.function_of(visit.scope)
    name = None if function is None else given_parameter(facts, value, visit.scope)
    if function is None or name is None:
        return None
    scope = facts.symbols.scopes[function]
    names = positional_parameters(scope)
    if name not in names:
        return -1, name
    return names.index(name) - (is_method(facts, scope) and names[0] in ("self", "cls")), name


def _works_on_raw_input(visit: Visit, match: Match) -> bool:
    """Whether the input evidently is data; a helper's parameter that is only named so is for its callers to tell.

    No gradient is wanted of what a loss compares with, whatever a part of it is called (`first = target[:, :3]`).
    """
    value = input_of(match.use, match.spelling)
    if is_raw_input(visit.facts, match.use, value, visit.scope):
        return True
    parameter = _parameter(visit, value)
    if parameter is not None and says(parameter[1], "targets") and stands_in_loss(visit.facts, visit.scope):
        return True
    is_helper = visit.facts.function_name(visit.scope) not in ("", "forward")
    is_told = is_helper and parameter is not None
    return not is_told and is_named_for_data(visit.facts, value, visit.scope)


def _expressions(facts: FileFacts, table: Table, selected: frozenset[str]) -> Iterator[Site]:
    """Every `x[i]` that is read and every `x @ y`, for rules about them: both are everywhere, and seldom meant."""
    reads = any(operator.rule in selected for operator, _ in table.get("[read]", ()))
    products = may_be_products(facts, table, selected)
    for statement, scope in facts.symbols.scope_of.items() if reads or products else ():
        for node in facts.index.within(statement):
            is_read = reads and isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load)
            if is_read or (products and isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult)):
                yield Site(node, scope, statement)  # type: ignore[arg-type]
