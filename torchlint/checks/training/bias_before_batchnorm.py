"""TL601 bias-before-batchnorm: a bias that the norm behind it subtracts again."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.checks.framework.drafts import Draft
from torchlint.checks.framework.registration import Finding, Triggers, check
from torchlint.checks.framework.visit import Visit
from torchlint.checks.training.layer_flow import redundant_biases
from torchlint.checks.training.layers import BIASED, RedundantBias
from torchlint.facts.entries import is_test
from torchlint.facts.file import FileFacts
from torchlint.project.index import Project

_CODE = "TL601"


def _by_first_call(facts: FileFacts) -> dict[int, list[RedundantBias]]:
    """The redundant biases of each class, or function outside classes, by the first layer's call."""
    groups: dict[tuple[int, int], list[RedundantBias]] = {}
    by_call = {id(bias.layer.call): bias for bias in redundant_biases(facts)}
    for bias in sorted(by_call.values(), key=lambda bias: (bias.layer.call.lineno, bias.layer.call.col_offset)):
        groups.setdefault(_group(facts, bias), []).append(bias)
    return {id(group[0].layer.call): group for group in groups.values()}


def _group(facts: FileFacts, bias: RedundantBias) -> tuple[int, int]:
    """What a reader takes for one model: a line for each of its layers would say the same again."""
    scope, call = bias.layer.scope, bias.layer.call
    owner = facts.class_of(scope) or facts.function_of(scope)
    return (0, id(call)) if owner is None else (owner, 0)


def _judge(draft: Draft, _project: Project) -> Draft | None:
    """Models of tests are there to be wrapped, fused or counted: nobody trains them."""
    return None if is_test(draft.path) else draft


@check(codes=(_CODE,), triggers=Triggers(calls=BIASED), judge=_judge)
def find(visit: Visit) -> Iterator[Finding]:
    """The first layer of a class whose output goes only into a BatchNorm; the others are named beside it."""
    group = visit.facts.cached(_by_first_call).get(id(visit.call))
    if group is None:
        return
    first, *others = group
    values = {"layer": ast.unparse(first.layer.call.func), "norm": ast.unparse(first.norm.call.func)}
    related: list[tuple[ast.AST, str]] = [(first.norm.call, "the norm that subtracts it")]
    if others:
        owner = visit.facts.class_of(first.layer.scope)
        where = "" if owner is None else f" of `{visit.facts.symbols.scopes[owner].name}`"
        values |= {"count": str(len(group)), "where": where}
        related += [(other.layer.call, "this layer's as well") for other in others]
    yield Finding(_CODE, visit.node, values, "several" if others else first.how, related=tuple(related))
