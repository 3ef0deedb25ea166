"""What the rules on operators leave open: calls that vary for some arguments or inputs, and the code tells neither."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import msgspec
from msgspec.structs import replace

from torchlint.catalogue import Catalogue
from torchlint.catalogue.registry import Operator, Spelling
from torchlint.checks.framework.asking import constants_of
from torchlint.checks.framework.conditions import deciding, is_ruled_out, meets
from torchlint.checks.framework.drafts import Asked, Draft, OperatorUse
from torchlint.checks.framework.operator_verdict import judge_operators
from torchlint.checks.framework.registration import Finding, Triggers, check
from torchlint.checks.framework.visit import Visit, shortened
from torchlint.checks.operators.gradient_uses import is_result_cut
from torchlint.checks.operators.operator_conditions import is_contradicted
from torchlint.checks.operators.operators import reporting_rules
from torchlint.diagnostics import Location, Related
from torchlint.facts.callees import names_called
from torchlint.facts.definitions import definitions_of
from torchlint.facts.file import FileFacts
from torchlint.facts.flow.values import EVERYWHERE, Definition, End, Field, Item
from torchlint.facts.full_names import Callee, public_name
from torchlint.facts.gradients import is_gradless
from torchlint.facts.origins import Origin, beyond
from torchlint.project.flows import origins_answered
from torchlint.project.index import Project


def _triggers(catalogue: Catalogue, _: frozenset[str]) -> Triggers:
    return Triggers(calls=frozenset(key for key in catalogue.spellings if key[0] not in ".["))


def _judge(draft: Draft, project: Project) -> Draft | None:
    """Nothing is open where other files give an argument that no entry asks for; else they say where it comes from."""
    uses = [use for use in draft.operators if not isinstance(use.asked, Asked) or not _is_closed(use.asked, project)]
    asked = (use.asked.source for use in uses if isinstance(use.asked, Asked))
    origins = [source for source in asked if isinstance(source, Origin)]
    places = (one for one in origins_answered(project, origins, _source) if isinstance(one, tuple))
    found = next(places, None)
    if found is not None:
        place, text = found
        draft = replace(draft, related=(Related(place, _comes_from(draft.values["argument"], text)),))
    known = tuple(replace(use, asked=None) for use in uses)
    return judge_operators(replace(draft, operators=known), project) if known else None


def _is_closed(asked: Asked, project: Project) -> bool:
    """Whether all that an argument may be is seen, and none of it is asked for."""
    assert isinstance(asked.source, Origin)
    given = list(constants_of(asked.source, project))
    return bool(given) and all(
        one is not None and one.is_known and not any(meets(constant, asked.condition) for constant in one.constants)
        for one in given
    )


def _source(facts: FileFacts, end: End) -> list[tuple[Location, str] | Origin | None]:
    """Where the way of a value ends that is no constant, and how it is written there."""
    elsewhere = beyond(facts, end)
    if elsewhere is not None or not isinstance(end, Definition) or isinstance(end.node, ast.Constant):
        return [elsewhere]
    return [(facts.locate(end.node), _spelled(end))]


def _spelled(end: Definition) -> str:
    """`cfg.fpn["mode"]`, as far as its parts have names."""
    text = ast.unparse(end.node)
    for part in end.parts:
        if not isinstance(part, (Field, Item)):
            break
        text += f".{part.name}" if isinstance(part, Field) else f"[{part.key!r}]"
    return text


def _comes_from(argument: str, source: str) -> str:
    return f"`{argument}` comes from `{shortened(source)}`"


@check(codes=reporting_rules, triggers=_triggers, judge=_judge, is_open=True)
def find(visit: Visit) -> Iterator[Finding]:
    """One point for each rule with an operator that a call may reach: `F.interpolate(x, mode=self.mode)`."""
    table = visit.catalogue.spellings
    open_ones: dict[str, dict[OperatorUse, _Unknown]] = {}
    for callee in names_called(visit.facts, visit.call.func, visit.scope).callees:
        for operator, spelling in table.get(public_name(callee.name), ()):
            if operator.rule in visit.selected and _may_vary(visit, callee, operator, spelling):
                unknown = _unknown(visit, callee, spelling)
                open_ones.setdefault(operator.rule, {})[OperatorUse(operator.id, asked=unknown.asked)] = unknown
    for code, uses in sorted(open_ones.items()):
        unknown = next((one for one in uses.values() if one.argument), _Unknown())
        end = unknown.end
        told = () if end is None else ((end.node, _comes_from(unknown.argument, _spelled(end))),)
        values = {"symbol": visit.symbol, "argument": unknown.argument}
        yield Finding(code, visit.node, values, operators=tuple(uses), related=told)


class _Unknown(msgspec.Struct, frozen=True):
    """What decides whether a call varies: an argument, and where its value comes from, here or in other files."""

    argument: str = ""
    end: Definition | None = None
    asked: Asked | None = None


def _unknown(visit: Visit, callee: Callee, spelling: Spelling) -> _Unknown:
    """Of several values that an argument may have the first that is no constant counts."""
    found = deciding(visit.facts, visit.call, callee, spelling.where, visit.scope)
    if found is None:
        return _Unknown()
    condition, given = found
    is_spread = any(one.arg is None and one.value is given for one in visit.call.keywords)
    ends = definitions_of(visit.facts, given, visit.scope, EVERYWHERE)
    for end in ends:
        origin = beyond(visit.facts, end)
        shown = end if isinstance(end, Definition) else Definition(given, visit.scope)
        if origin is not None or not isinstance(shown.node, ast.Constant):
            is_all = len(ends) == 1 and not is_spread  # else other files do not decide alone
            asked = Asked(origin, condition) if origin is not None and is_all else None
            return _Unknown(condition.argument, shown, asked)
    return _Unknown(condition.argument, Definition(given, visit.scope))


def _may_vary(visit: Visit, callee: Callee, operator: Operator, spelling: Spelling) -> bool:
    """Whether nothing in the code shows that a call does not vary."""
    facts, call = visit.facts, visit.call
    if operator.direction == "backward" and (is_gradless(facts, call) or is_result_cut(facts, call)):
        return False
    is_other = is_ruled_out(facts, call, callee, spelling.where, visit.scope)
    return not is_other and not is_contradicted(facts, call, operator, spelling, visit.scope)
