"""TL601 bias-before-batchnorm: a bias that the norm behind it subtracts again."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.checks.framework.registration import Finding, Triggers, check
from torchlint.checks.framework.visit import Visit
from torchlint.checks.training.layers import BIASED, Layer, RedundantBias, cancels, chained_biases, layer_of
from torchlint.facts.control.blocks import following
from torchlint.facts.control.order import precedes
from torchlint.facts.entries import is_test
from torchlint.facts.file import FileFacts
from torchlint.facts.scopes import ScopeKind
from torchlint.facts.training.training_mode import NORMS
from torchlint.facts.tree import is_own, only_target, targets_of

_CODE = "TL601"
_PARAMETERS = frozenset({"weight", "bias", "in_channels", "out_channels", "out_features", "in_features"})
"""Attributes of a layer that may be read without making its output go elsewhere."""


def _by_first_call(facts: FileFacts) -> dict[int, list[RedundantBias]]:
    """The redundant biases of each class, or function outside classes, by the first layer's call."""
    groups: dict[tuple[int, int], list[RedundantBias]] = {}
    by_call = {id(bias.layer.call): bias for bias in _redundant_biases(facts)}
    for bias in sorted(by_call.values(), key=lambda bias: (bias.layer.call.lineno, bias.layer.call.col_offset)):
        # What a reader takes for one model: a line for each of its layers would say the same again.
        scope, call = bias.layer.scope, bias.layer.call
        owner = facts.class_of(scope) or facts.function_of(scope)
        groups.setdefault((0, id(call)) if owner is None else (owner, 0), []).append(bias)
    return {id(group[0].layer.call): group for group in groups.values()}


# Models of tests are there to be wrapped, fused or counted: nobody trains them.
@check(
    codes=(_CODE,),
    triggers=Triggers(calls=BIASED),
    judge=lambda draft, _: None if is_test(draft.path) else draft,
)
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


def _redundant_biases(facts: FileFacts) -> list[RedundantBias]:
    """Every bias in a file that a BatchNorm makes redundant, classes that freeze their norms left out."""
    if "BatchNorm" not in facts.source.text:
        return []
    classes = [scope.index for scope in facts.symbols.scopes if scope.kind is ScopeKind.CLASS]
    found = [*chained_biases(facts), *(one for owner in classes for one in _joined_in_methods(facts, owner))]
    owners = {facts.class_of(bias.layer.scope) for bias in found}
    freezing = {owner for owner in owners if owner is not None and _freezes(facts.symbols.scopes[owner].node)}
    return [bias for bias in found if facts.class_of(bias.layer.scope) not in freezing]


def _freezes(node: ast.AST) -> bool:
    """A class with its own `train`, or that calls `.eval()`, may keep its norms on running statistics."""
    return any(
        (isinstance(inner, ast.FunctionDef) and inner.name == "train")
        or (isinstance(inner, ast.Attribute) and inner.attr == "eval")
        for inner in ast.walk(node)
    )


def _joined_in_methods(facts: FileFacts, owner: int) -> Iterator[RedundantBias]:
    layers = dict(_attributes(facts, owner))
    biased = [name for name, layer in layers.items() if layer.name in BIASED]
    if not biased or not any(layer.name in NORMS for layer in layers.values()):
        return
    for name in biased:
        consumers = _consumers(facts, owner, name)
        norms = {consumer for consumer in consumers or () if consumer is not None}
        if not consumers or None in consumers or len(norms) != 1:
            continue
        norm = layers.get(norms.pop())
        if norm is not None and cancels(facts, layers[name], norm):
            yield RedundantBias(layers[name], norm, "forward")


def _attributes(facts: FileFacts, owner: int) -> Iterator[tuple[str, Layer]]:
    """The attributes that a class sets exactly once, to a layer it makes there."""
    assigned: dict[str, list[Layer | None]] = {}
    for one in facts.symbols.assignments:
        if facts.class_of(one.scope) == owner and is_own(one.target):
            layer = None if one.value is None else layer_of(facts, one.value, one.scope)
            assigned.setdefault(one.target.attr, []).append(layer)
    for name, options in assigned.items():
        if len(options) == 1 and options[0] is not None:
            yield name, options[0]


def _consumers(facts: FileFacts, owner: int, name: str) -> list[str | None] | None:
    """For each call of a layer the attribute that alone reads its output, or None for anything else.

    None as a whole when the layer is used in a way that is not followed.
    """
    consumers: list[str | None] = []
    for use in facts.index.own_attributes(name):
        parent = facts.index.parents[use]
        is_description = isinstance(parent, ast.Attribute) and parent.attr in _PARAMETERS
        if is_description or facts.class_of(facts.index.scope_of(use)) != owner:
            continue
        if not isinstance(parent, ast.Call) or parent.func is not use:
            return None
        consumers.append(_consumer(facts, parent))
    return consumers


def _consumer(facts: FileFacts, call: ast.Call) -> str | None:
    parent = facts.index.parents[call]
    if isinstance(parent, ast.Call):
        return _norm_called(parent, call)
    target = only_target(parent)
    return _reader_of(facts, target) if isinstance(target, ast.Name) else None


def _norm_called(call: ast.Call, argument: ast.expr) -> str | None:
    """`norm` of `self.norm(argument)`."""
    alone = call.args == [argument] and not call.keywords
    return call.func.attr if alone and is_own(call.func) else None


def _reader_of(facts: FileFacts, target: ast.Name) -> str | None:
    """The attribute that alone reads a local name between its assignment and its next one, in straight-line code."""
    below = following(facts, facts.index.statement_of(target))
    reading = next((statement for statement in below if _loads(statement, target.id)), None)
    if not isinstance(reading, (ast.Assign, ast.Return, ast.Expr)):
        return None
    loads = _loads(reading, target.id)
    parent = facts.index.parents[loads[0]]
    if len(loads) != 1 or not isinstance(parent, ast.Call):
        return None
    is_rebound = any(isinstance(bound, ast.Name) and bound.id == target.id for bound in targets_of(reading))
    # A name may be read again; an assignment between them is not looked for: rather silent.
    again = (other for other in facts.index.reads_of(loads[0]) if other is not loads[0])
    if not (is_rebound or isinstance(reading, ast.Return)) and any(precedes(facts, loads[0], one) for one in again):
        return None
    return _norm_called(parent, loads[0])


def _loads(statement: ast.AST, name: str) -> list[ast.Name]:
    names = (node for node in ast.walk(statement) if isinstance(node, ast.Name))
    return [node for node in names if node.id == name and isinstance(node.ctx, ast.Load)]
