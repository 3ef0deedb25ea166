"""Checkpoints: which objects a file saves the state of, and whether it goes on from one."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchlint.facts.control.blocks import loops_around
from torchlint.facts.control.conditions import tests_around
from torchlint.facts.definitions import Definition, Through, definitions_of
from torchlint.facts.remembering import remembered
from torchlint.facts.scopes import CallSite
from torchlint.facts.training.predictions import LOADERS

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

_OPTIMIZER = re.compile(r"opt|solver|sgd|adam|trainer|engine|accelerator", re.IGNORECASE)
"""What holds an optimizer is called."""
_OPTIMIZER_ALONE = re.compile(r"optim|(?:^|_)opt(?:_|$)", re.IGNORECASE)
"""What is an optimizer is called."""
_BESIDE_MODELS = re.compile(r"opt|sched|scaler|solver|sgd|adam|loader|sampler|ema", re.IGNORECASE)
"""What else has a state to be loaded."""
_LOADING = re.compile(r"load|restore|resum", re.IGNORECASE)
_SAVING = re.compile(r"save|checkpoint|ckpt|store|dump|snapshot", re.IGNORECASE)
_RESUMING = re.compile(r"resum|start_epoch|continue_tr|restart|load_last|last_epoch", re.IGNORECASE)
_COUNTING = re.compile(r"(?:start|begin|init|resumed?|last|initial)_(?:epoch|iter\w*|steps?)$", re.IGNORECASE)
"""Names of where a training goes on, told by whoever loads weights under a condition."""
_STATELESS = "torch.optim.SGD"
_DEPTH = 4


def loads_weights(facts: FileFacts, site: CallSite) -> bool:
    """`model.load_state_dict(...)` under no condition, so that the weights that were drawn decide nothing."""
    called = site.node.func
    if not isinstance(called, ast.Attribute) or called.attr not in LOADERS:
        return False
    is_model = not _BESIDE_MODELS.search(ast.unparse(called.value))
    return is_model and not any(True for _ in tests_around(facts, site.statement))


def saved_models(facts: FileFacts, value: ast.expr, scope: int, depth: int = _DEPTH) -> list[ast.expr] | None:
    """The objects whose state alone is saved; None where something else is saved that may hold more."""
    if depth == 0:
        return None
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "state_dict":
        return [value.func.value]
    if isinstance(value, ast.Dict):
        found = [_entry(facts, key, one, scope, depth) for key, one in zip(value.keys, value.values, strict=True)]
        return None if None in found else [model for some in found if some is not None for model in some]
    return _named(facts, value, scope, depth - 1) if isinstance(value, ast.Name) else None


def _named(facts: FileFacts, name: ast.Name, scope: int, depth: int) -> list[ast.expr] | None:
    """What a name saves that holds a dictionary; what calls of `save_checkpoint(state)` in this file save."""
    is_filled = any(
        isinstance(one.target, ast.Subscript) and getattr(one.target.value, "id", "") == name.id
        for one in facts.reading.assignments
    )
    ends = definitions_of(facts, name, scope, Through.PARAMETERS)
    if is_filled or None in ends:
        return None
    found: list[ast.expr] = []
    for one in ends:
        if isinstance(one, Definition):
            models = None if one.parts else saved_models(facts, one.node, one.scope, depth)
            if models is None:
                return None
            found += models
    return found


def _entry(facts: FileFacts, key: ast.expr | None, value: ast.expr, scope: int, depth: int) -> list[ast.expr] | None:
    """Of one entry of a saved dictionary: states, or numbers and settings, which are no state of a training."""
    if key is None or not isinstance(key, ast.Constant) or _OPTIMIZER.search(str(key.value)):
        return None
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "state_dict":
        return saved_models(facts, value, scope, depth)
    return [] if isinstance(value, ast.Name | ast.Attribute | ast.Constant | ast.BinOp | ast.Subscript) else None


def is_optimizer(facts: FileFacts, expression: ast.expr, scope: int) -> bool:
    """Whether an expression names an optimizer, or something that holds one."""
    return bool(_OPTIMIZER.search(ast.unparse(expression))) or any(
        name.startswith("torch.optim.") for name in facts.names(expression, scope).names
    )


def keeps_optimizer(facts: FileFacts) -> bool:
    """Whether anything in the file saves or loads more than models, as far as its names tell."""
    for site in facts.reading.calls:
        function, word = site.node.func, _word(site.node)
        if isinstance(function, ast.Attribute) and word in ("state_dict", "load_state_dict"):
            if is_optimizer(facts, function.value, site.scope):
                return True
        elif _SAVING.search(word):
            given = [*site.node.args, *(keyword.value for keyword in site.node.keywords)]
            if any(is_optimizer(facts, one, site.scope) for one in given):
                return True
    return False


def resumptions(facts: FileFacts) -> Iterator[CallSite]:
    """The calls that load a model's state to go on with its training."""
    for site in facts.reading.calls:
        function = site.node.func
        if not isinstance(function, ast.Attribute) or function.attr != "load_state_dict":
            continue
        around = [ast.unparse(test) for test in tests_around(facts, site.statement)]
        scope = facts.function_of(site.scope)
        if scope is not None:
            around.append(facts.reading.scopes[scope].name)
        counted = facts.reading.scopes[scope or 0].bindings
        if any(_RESUMING.search(words) for words in around) or (around and any(map(_COUNTING.match, counted))):
            yield site


def restored_optimizers(facts: FileFacts) -> list[CallSite]:
    """The calls that load an optimizer's state from a file: a training goes on from there.

    A method `load_state_dict` only hands on what its caller loads.
    """
    return [
        site
        for site in facts.reading.calls
        if _is_method(site.node, "load_state_dict")
        and _names_optimizer(facts, site)
        and _function_name(facts, site) != "load_state_dict"
        and _reads_a_file(facts, facts.function_of(site.scope))
    ]


def _names_optimizer(facts: FileFacts, site: CallSite) -> bool:
    owner = site.node.func.value  # type: ignore[attr-defined]
    called = owner.attr if isinstance(owner, ast.Attribute) else getattr(owner, "id", "")
    names = facts.names(owner, site.scope).names
    return bool(_OPTIMIZER_ALONE.search(called)) or any(name.startswith("torch.optim.") for name in names)


def _function_name(facts: FileFacts, site: CallSite) -> str:
    function = facts.function_of(site.scope)
    return "" if function is None else facts.reading.scopes[function].name


@remembered
def _reads_a_file(facts: FileFacts, function: int | None) -> bool:
    """Whether a function, or the top level, loads something: with torch, or by a function that says so."""
    return any(
        facts.names(site.node.func, site.scope).only == "torch.load"
        or (_LOADING.search(_word(site.node)) and _word(site.node) != "load_state_dict")
        for site in facts.reading.calls
        if facts.function_of(site.scope) == function
    )


def _word(call: ast.Call) -> str:
    function = call.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def steps_with_state(facts: FileFacts) -> bool:
    """Whether the file trains with an optimizer that keeps something from epoch to epoch."""
    made = [
        site
        for site in facts.reading.calls
        if any(name.startswith("torch.optim.") and name.count(".") == 2 for name in _names(facts, site))
        and not any(loops_around(facts, site.statement))
    ]
    is_trained = any(_is_method(site.node, "backward") for site in facts.reading.calls)
    stateless = [
        site
        for site in made
        if _names(facts, site) == {_STATELESS} and not any(k.arg in ("momentum", None) for k in site.node.keywords)
    ]
    return is_trained and len(made) > len(stateless)


def _names(facts: FileFacts, site: CallSite) -> frozenset[str]:
    return facts.names(site.node.func, site.scope).names


def _is_method(call: ast.Call, name: str) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr == name


def are_of_one_class(facts: FileFacts, first: CallSite, second: CallSite) -> bool:
    """Whether two calls belong together: both in one class, or neither in any."""
    return facts.class_of(first.scope) == facts.class_of(second.scope)
