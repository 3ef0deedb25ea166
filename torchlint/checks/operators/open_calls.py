"""What the rules on operators leave open: calls that vary for some arguments or inputs, and the code tells neither."""

from __future__ import annotations

from collections.abc import Iterator

from torchlint.catalogue import Catalogue
from torchlint.catalogue.registry import Operator, Spelling
from torchlint.checks.framework.conditions import is_ruled_out
from torchlint.checks.framework.drafts import OperatorUse
from torchlint.checks.framework.operator_verdict import judge_operators
from torchlint.checks.framework.registration import Finding, Triggers, check
from torchlint.checks.framework.visit import Visit
from torchlint.checks.operators.gradient_uses import is_result_cut
from torchlint.checks.operators.operator_conditions import is_contradicted
from torchlint.checks.operators.operators import reporting_rules
from torchlint.facts.callees import names_called
from torchlint.facts.full_names import Callee, public_name
from torchlint.facts.gradients import is_gradless


def _triggers(catalogue: Catalogue, _: frozenset[str]) -> Triggers:
    return Triggers(calls=frozenset(key for key in catalogue.spellings if key[0] not in ".["))


@check(codes=reporting_rules, triggers=_triggers, judge=judge_operators, is_open=True)
def find(visit: Visit) -> Iterator[Finding]:
    """One point for each rule with an operator that a call may reach: `F.interpolate(x, mode=self.mode)`."""
    table = visit.catalogue.spellings
    open_ones: dict[str, dict[OperatorUse, None]] = {}
    for callee in names_called(visit.facts, visit.call.func, visit.scope).callees:
        for operator, spelling in table.get(public_name(callee.name), ()):
            if operator.rule in visit.selected and _may_vary(visit, callee, operator, spelling):
                open_ones.setdefault(operator.rule, {})[OperatorUse(operator.id)] = None
    for code, uses in sorted(open_ones.items()):
        symbol = visit.facts.symbol_at(visit.scope, visit.statement)
        yield Finding(code, visit.node, {"symbol": symbol}, operators=tuple(uses))


def _may_vary(visit: Visit, callee: Callee, operator: Operator, spelling: Spelling) -> bool:
    """Whether nothing in the code shows that a call does not vary."""
    facts, call = visit.facts, visit.call
    if operator.direction == "backward" and (is_gradless(facts, call) or is_result_cut(facts, call)):
        return False
    if is_ruled_out(facts, call, callee, spelling.where, visit.scope):
        return False
    return not is_contradicted(facts, call, operator, spelling, visit.scope)
