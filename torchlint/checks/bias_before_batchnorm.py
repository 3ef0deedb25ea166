"""TL601 bias-before-batchnorm: a bias that the norm behind it subtracts again."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from torchlint.checks.drafts import Draft
from torchlint.checks.registration import Finding, Vocabulary, check
from torchlint.checks.visit import Visit
from torchlint.facts.entries import is_test
from torchlint.facts.file import FileFacts
from torchlint.facts.layer_flow import redundant_biases
from torchlint.facts.layers import BIASED, RedundantBias
from torchlint.facts.scopes import CallSite
from torchlint.project.index import Project

_CODE = "TL601"


def _by_call(facts: FileFacts) -> dict[int, RedundantBias]:
    return {id(bias.layer.call): bias for bias in redundant_biases(facts)}


def _is_redundant(facts: FileFacts, site: CallSite, _selected: frozenset[str]) -> bool:
    return id(site.node) in facts.once(_by_call)


def _judge(draft: Draft, _project: Project) -> Draft | None:
    """Models of tests are there to be wrapped, fused or counted: nobody trains them."""
    return None if is_test(draft.path) else draft


@check(cst.Call, codes=(_CODE,), vocabulary=Vocabulary(calls=BIASED, worth=_is_redundant), judge=_judge)
def find(visit: Visit, node: cst.CSTNode) -> Iterator[Finding]:
    """The constructor of a layer whose output goes only into a BatchNorm."""
    bias = visit.facts.once(_by_call).get(id(visit.call))
    if bias is not None:
        values = {"layer": ast.unparse(bias.layer.call.func), "norm": ast.unparse(bias.norm.call.func)}
        yield Finding(_CODE, node, values, bias.how, related=((bias.norm.call, "the norm that subtracts it"),))
