"""Trainings that go on with nets that an option names, of the kind that the same file saves: `--model-path`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchlint.facts.control.conditions import tests_around
from torchlint.facts.definitions import definitions_of, seen_values
from torchlint.facts.ends import Definition
from torchlint.facts.options.demands import demands_on
from torchlint.facts.scopes import CallSite
from torchlint.facts.tree import is_method_call, targets_of, words_in
from torchlint.facts.values import argument_of

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

WRITING = frozenset({"torch.save", "pickle.dump"})
READING = frozenset({"torch.load", "pickle.load"})
_BEGINNING = re.compile(r"pre_?train|init|backbone|encoder|teacher|bert|imagenet|eval|test|infer", re.IGNORECASE)
"""Words of options that name weights to begin with, or to be tried alone."""
_GOING_ON = re.compile(r"^(?:re)?load|restor|resum|contin|ckpt|checkpoint|snapshot", re.IGNORECASE)
"""Words of what is asked where a training goes on."""
_DEPTH = 4
"""Entries inside entries of what is saved."""


def whole_nets(facts: FileFacts, saved: ast.expr) -> list[ast.expr] | None:
    """The nets that are saved as objects, by their names; None where anything else may be among it."""
    if isinstance(saved, ast.Tuple | ast.List):
        found = [net for one in saved.elts for net in whole_nets(facts, one) or ()]
        return found or None
    is_net = isinstance(saved, ast.Name | ast.Attribute) and ast.unparse(saved) in facts.cached(_trained)
    return [saved] if is_net else None


def _trained(facts: FileFacts) -> frozenset[str]:
    """What gives an optimizer its parameters, as it is spelled."""
    given = facts.calls.find(words=("parameters",))
    return frozenset(ast.unparse(site.node.func.value) for site in given if is_method_call(site.node))


def loaded_by_option(facts: FileFacts, nets: list[ast.expr]) -> Iterator[CallSite]:
    """The calls that load one of these nets from a file that an option names, where that option is given."""
    wanted = {ast.unparse(one) for one in nets}
    for site in facts.calls.find(names=READING):
        if wanted & set(_filled_with(facts, site)) and _is_asked_for(facts, site):
            yield site


def _is_asked_for(facts: FileFacts, load: CallSite) -> bool:
    """Whether a test asks for the load: for an option that the path is made of, or for one that says so."""
    path = argument_of(load.node, "f", 0)
    made = [] if path is None else [path, *(one for one, _ in seen_values(facts, path, load.scope))]
    asked = {word for test in tests_around(facts, load.statement) for word in words_in(test)}
    options = {one.name for one in demands_on(facts, load.statement, load.scope)} & set(words_in(*made))
    telling = options | {word for word in asked if _GOING_ON.search(word)}
    return bool(telling) and not any(map(_BEGINNING.search, asked))


def _filled_with(facts: FileFacts, load: CallSite) -> Iterator[str]:
    """What a loaded file becomes, as it is spelled: names that are bound to it, and nets that are given its states."""
    if isinstance(load.statement, ast.Assign):
        for target in targets_of(load.statement):
            yield from map(ast.unparse, target.elts if isinstance(target, ast.Tuple | ast.List) else [target])
    for site in facts.calls.find(words=("load_state_dict",)):
        state = argument_of(site.node, "state_dict", 0)
        if is_method_call(site.node) and state is not None and _comes_from(facts, state, site.scope, load.node):
            yield ast.unparse(site.node.func.value)


def _comes_from(facts: FileFacts, state: ast.expr, scope: int, load: ast.Call, depth: int = _DEPTH) -> bool:
    while isinstance(state, ast.Subscript):
        state = state.value
    if state is load or depth <= 0:
        return state is load
    ends = definitions_of(facts, state, scope)
    found = [(end.node, end.scope) for end in ends if isinstance(end, Definition) and end.node is not state]
    return any(_comes_from(facts, one, where, load, depth - 1) for one, where in found)
