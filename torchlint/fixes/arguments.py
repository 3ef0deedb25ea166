"""Fixes that give a call another argument, or take one from it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.checks.training.layers import BIAS_POSITION
from torchlint.facts.tree import is_own, last_word
from torchlint.facts.values import argument_of
from torchlint.fixes.calls import arguments_of, dropped, with_argument, with_value
from torchlint.fixes.code import FileCode
from torchlint.fixes.plan import Plan, plan
from torchlint.fixes.spot import Spot
from torchlint.source.edits import Replacement, insertion

_ORDER = ("dim", "descending")
"""The parameters of `sort` and `argsort` behind the tensor; beside `stable` torch wants them by keyword."""
_STABLE_SINCE = {"sort": (1, 9), "argsort": (1, 13)}
"""Releases that surely take `stable`: pull requests 51790 (2021-02) and 75162 (spring of 2022) brought it."""
_LOADER_PINS = 7
"""Where `pin_memory` stands among the parameters of a DataLoader."""
_DROPOUT_TRAINS = 2
"""Where `training` stands among the parameters of functional dropout."""


def deterministic_attention(spot: Spot) -> Plan | None:
    """`flash_attn_func(q, k, v)` → `flash_attn_func(q, k, v, deterministic=True)`."""
    call = spot.call
    if call is None:
        return None
    for operator in spot.diagnostic.operators:
        for spelling in spot.catalogue.operator(operator).spelling:
            for condition in spelling.where:
                if condition.argument == "deterministic" and spelling.call == spot.full_name(call.func):
                    return plan(with_argument(spot.code, call, "deterministic", "True", condition.position))
    return None


def stable_order(spot: Spot) -> Plan | None:
    """`scores.sort(-1)` → `scores.sort(dim=-1, stable=True)`."""
    call = spot.call
    if call is None or last_word(call.func) not in _STABLE_SINCE:
        return None
    is_function = spot.full_name(call.func).startswith("torch.")
    arguments = arguments_of(spot.code, call)
    if arguments is None or arguments.hides(0):
        return None
    changes = with_argument(spot.code, call, "stable", "True")
    by_position = [one for one in arguments.given if one.name is None][1 if is_function else 0 :]
    if (
        changes is None
        or len(by_position) > len(_ORDER)
        or any(arguments.named(name) for name in _ORDER[: len(by_position)])
    ):
        return None
    named = [insertion(*one.start, f"{name}=") for one, name in zip(by_position, _ORDER, strict=False)]
    return plan([*named, *changes], since=_STABLE_SINCE[last_word(call.func)])


def deterministic_trainer(spot: Spot) -> Plan | None:
    """`Trainer(max_epochs=2)` → `Trainer(max_epochs=2, deterministic=True)`, by what the library calls the option."""
    call = spot.call
    name = "" if call is None else spot.full_name(call.func)
    switch = next((one for one in spot.catalogue.programs.mode if one.call == name and one.on), None)
    if call is None or switch is None or not switch.argument:
        return None
    changes = with_argument(spot.code, call, switch.argument, str(switch.on[0]), switch.position)
    return plan(changes, is_safe=False)


def dropout_of_module(spot: Spot) -> Plan | None:
    """`F.dropout(x, 0.2)` → `F.dropout(x, 0.2, training=self.training)`."""
    call = spot.call
    if call is None or not _is_in_method(spot, call):
        return None
    return plan(with_argument(spot.code, call, "training", "self.training", _DROPOUT_TRAINS), is_safe=False)


def _is_in_method(spot: Spot, call: ast.Call) -> bool:
    """Whether `self` is the first parameter of the function around a call."""
    owner = spot.facts.resolver.owner("self", spot.scope_of(call))
    function = None if owner is None else owner.node
    if not isinstance(function, ast.FunctionDef):
        return False
    first = [*function.args.posonlyargs, *function.args.args][:1]
    return [one.arg for one in first] == ["self"]


def kept_random_state(spot: Spot) -> Plan | None:
    """`checkpoint(f, x, preserve_rng_state=False)` → `checkpoint(f, x)`."""
    return _without(spot, "preserve_rng_state", is_safe=False)


def waiting_copy(spot: Spot) -> Plan | None:
    """`loss.to("cpu", non_blocking=True)` → `loss.to("cpu")`."""
    return _without(spot, "non_blocking", is_safe=True)


def _without(spot: Spot, name: str, *, is_safe: bool) -> Plan | None:
    """The call without a literal keyword. A comment that goes with it is a loss to be looked at."""
    call = spot.call
    arguments = None if call is None else arguments_of(spot.code, call)
    argument = None if arguments is None else arguments.named(name)
    if arguments is None or argument is None or not isinstance(argument.value, ast.Constant):
        return None
    change = dropped(arguments, argument)
    return plan([change], is_safe=is_safe and not spot.code.has_comment(change.start, change.end))


def one_thread(spot: Spot) -> Plan | None:
    """`Word2Vec(texts, workers=8)` → `Word2Vec(texts, workers=1)`, by what the library calls the option."""
    call = spot.call
    if call is None:
        return None
    for _, fact, use in spot.catalogue.library_uses.get(spot.full_name(call.func), ()):
        if fact.rule == spot.diagnostic.code and use.where:
            condition = use.where[0]
            return plan(_with_literal(spot.code, call, condition.argument, "1", condition.position), is_safe=False)
    return None


def pinned_loader(spot: Spot) -> Plan | None:
    """`DataLoader(data)` → `DataLoader(data, pin_memory=True)`."""
    call = spot.call
    if call is None:
        return None
    return plan(_with_literal(spot.code, call, "pin_memory", "True", _LOADER_PINS), is_safe=False)


def gradients_to_none(spot: Spot) -> Plan | None:
    """`optimizer.zero_grad(set_to_none=False)` → `optimizer.zero_grad(set_to_none=True)`."""
    call = spot.call
    if call is None or last_word(call.func) != "zero_grad" or argument_of(call, "set_to_none", 0) is None:
        return None
    return plan(_with_literal(spot.code, call, "set_to_none", "True", 0), is_safe=False)


def _with_literal(
    code: FileCode, call: ast.Call, name: str, text: str, position: int | None
) -> list[Replacement] | None:
    """An argument more, or another value in the place of a literal: what somebody computed stays."""
    given = argument_of(call, name, position)
    if given is not None and not isinstance(given, ast.Constant):
        return None
    return with_argument(code, call, name, text, position)


def without_biases(spot: Spot) -> Plan | None:
    """`nn.Conv2d(3, 16, 3)` → `nn.Conv2d(3, 16, 3, bias=False)`, for each layer of the finding.

    Not where the file reads a `bias` without asking whether there is one: that would fail from then on.
    """
    layers = [spot.diagnostic.location]
    layers += [one.location for one in spot.diagnostic.related if one.message == "this layer's as well"]
    calls = [spot.node(ast.Call, place) for place in layers]
    if any(call is None for call in calls) or _reads_bias(spot):
        return None
    changes: list[Replacement] = []
    for call in filter(None, calls):
        position = BIAS_POSITION.get(spot.full_name(call.func))
        found = None if position is None else _with_literal(spot.code, call, "bias", "False", position)
        if found is None:
            return None
        changes += found
    return plan(changes, is_safe=False)


def _reads_bias(spot: Spot) -> bool:
    read = spot.facts.index.attributes("bias")
    return any(not is_own(node) and not _is_asked_for(spot, node) for node in read)


def _is_asked_for(spot: Spot, node: ast.AST) -> bool:
    """Whether a test around `layer.bias` says that it may be None: `if layer.bias is not None`."""
    return any("bias" in ast.unparse(test) for test in _tests_above(spot, node))


def _tests_above(spot: Spot, node: ast.AST) -> Iterator[ast.expr]:
    below = node
    for above in _above(spot, node):
        if isinstance(above, ast.If | ast.IfExp | ast.While):
            yield above.test
        elif isinstance(above, ast.BoolOp | ast.Compare) or (isinstance(above, ast.Assert) and below is above.test):
            yield below if isinstance(below, ast.expr) else ast.Constant(None)
        below = above


def _above(spot: Spot, node: ast.AST) -> Iterator[ast.AST]:
    parents = spot.facts.index.parents
    while node in parents:
        node = parents[node]
        yield node


def benchmark_of_trainer(spot: Spot, call: ast.Call) -> Plan | None:
    """`Trainer(benchmark=True)` → `Trainer(benchmark=False)`."""
    arguments = arguments_of(spot.code, call)
    given = None if arguments is None else arguments.named("benchmark")
    if given is None or not isinstance(given.value, ast.Constant):
        return None
    return plan([with_value(given, "False")], is_safe=False)
