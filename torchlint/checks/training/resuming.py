"""Trainings that go on, whatever that is called: a file is written again, or the epochs begin where an option says."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchlint.checks.training.checkpoints import loads_a_file, with_callers
from torchlint.facts.calls import known_functions
from torchlint.facts.control.blocks import enclosing, loops_around
from torchlint.facts.control.conditions import tests_around
from torchlint.facts.control.order import Position, position_of
from torchlint.facts.definitions import definitions_of, only_value, seen_values
from torchlint.facts.file import FileFacts
from torchlint.facts.flow.values import Definition
from torchlint.facts.memoizing import followed
from torchlint.facts.options.demands import demands_on
from torchlint.facts.scopes import AssignSite, CallSite, Site
from torchlint.facts.training.steps import holds_optimizer, is_optimizer_class
from torchlint.facts.tree import is_method_call, is_own, nodes_in, only_target, targets_of, words_in
from torchlint.facts.values import argument_of

_COUNTED = re.compile(r"(?:start|begin|resumed?|initial)_(?:epoch|iter\w*|steps?)$", re.IGNORECASE)
WRITING = frozenset({"torch.save", "pickle.dump"})
_READING = frozenset({"torch.load", "pickle.load"})
_BEGINNING = re.compile(r"pre_?train|init|backbone|encoder|teacher|bert|imagenet|eval|test|infer", re.IGNORECASE)
"""Words of options that name weights to begin with, or to be tried alone."""
_GOING_ON = re.compile(r"^(?:re)?load|restor|resum|contin|ckpt|checkpoint|snapshot", re.IGNORECASE)
"""Words of what is asked where a training goes on."""
_SCHEDULES = "torch.optim.lr_scheduler."
_BY_RATE = frozenset({"ExponentialLR", "ConstantLR"})
"""Schedules that go on from the rate alone, which the optimizer keeps."""
_BY_METRIC = f"{_SCHEDULES}ReduceLROnPlateau"
_OTHERS = frozenset(
    {"torch.cuda.amp.GradScaler", "torch.amp.GradScaler", "torch.GradScaler", "torch.optim.swa_utils.AveragedModel"}
)
_MOVING = frozenset({"step", "update", "update_parameters"})
_ASKING = frozenset({"scale", "unscale_", "get_last_lr", "get_lr", "get_scale", "eval", "train", "is_enabled"})


def is_written_again(facts: FileFacts, load: CallSite, save: CallSite) -> bool:
    """Whether a model goes on from a file, trains, and is saved to that file: a run goes on where the last one ended.

    What is loaded behind the training is its result, such as the best weights.
    """
    loaded, saved = _loaded_path(facts, load), _spelled(facts, argument_of(save.node, "f", 1), save.scope)
    if loaded is None or loaded != saved:
        return False
    is_together = facts.function_of(load.scope) == facts.function_of(save.scope)
    loads, saves = ([one] if is_together else with_callers(facts, one) for one in (load, save))
    is_loaded_first = any(first > position_of(one.node) for one in loads for first in _first_step(facts, one))
    is_saved_later = any(first < position_of(one.node) for one in saves for first in _first_step(facts, one))
    return is_loaded_first and is_saved_later


def counted_on(facts: FileFacts) -> Iterator[ast.For]:
    """The loops around a training that begin where an option or a file says: `range(cfg.start_epoch, epochs)`."""
    for loop, start, _ in facts.cached(_ranges_of_training):
        is_told = isinstance(start, ast.Attribute) and _COUNTED.search(start.attr) is not None
        if is_told or any(one.iter is loop.iter for one, _ in counted_from_files(facts)):
            yield loop


def counted_from_files(facts: FileFacts) -> Iterator[tuple[ast.For, ast.Call]]:
    """The loops around a training that begin at `checkpoint["epoch"]`, and what loads that."""
    for loop, start, scope in facts.cached(_ranges_of_training):
        loads = (load for value, where in seen_values(facts, start, scope) for load in _loads_of(facts, value, where))
        yield from ((loop, load) for load in loads)


def _loads_of(facts: FileFacts, value: ast.expr, scope: int) -> Iterator[ast.Call]:
    """What loads that an entry is read from: `state` of `state["epoch"] + 1`."""
    for read in nodes_in(value):
        if isinstance(read, ast.Subscript):
            for whole, where in seen_values(facts, read.value, scope):
                if isinstance(whole, ast.Call) and loads_a_file(facts, whole, where):
                    yield whole


def _ranges_of_training(facts: FileFacts) -> list[tuple[ast.For, ast.expr, int]]:
    """The loops over `range(start, end)` that train, each with its start and its scope; numbers are left out."""
    found = []
    for site in facts.symbols.calls:
        loop, call = site.statement, site.node
        is_range = isinstance(loop, ast.For) and facts.names(call.func, site.scope).only == "builtins.range"
        is_moved = len(call.args) > 1 and not isinstance(call.args[0], ast.Constant)
        if isinstance(loop, ast.For) and is_range and loop.iter is call and is_moved:
            inner = (one for one in facts.symbols.calls if loop in enclosing(facts, one.statement))
            found += [(loop, call.args[0], site.scope)] if any(_trains(facts, one) for one in inner) else []
    return found


def whole_optimizers(facts: FileFacts) -> list[Site]:
    """`optimizer = checkpoint["optimizer"]`, where else an optimizer is made: the object itself was saved."""
    stores = facts.symbols.assign_sites if facts.source.mentions("load") else []
    return [Site(one.node, one.scope, one.node) for one in stores if _restores_whole(facts, one)]


def _restores_whole(facts: FileFacts, store: AssignSite) -> bool:
    """Also as one of several: `model, optimizer = torch.load(path)`."""
    if not isinstance(store.node, ast.Assign):
        return False
    target, value = store.node.targets[0], store.node.value
    if isinstance(target, ast.Tuple):
        is_loaded = isinstance(value, ast.Call) and facts.names(value.func, store.scope).only in _READING
        return is_loaded and any(_is_made_elsewhere(facts, one, store.scope) for one in target.elts)
    is_loaded = isinstance(value, ast.Subscript) and any(_loads_of(facts, value, store.scope))
    return is_loaded and _is_made_elsewhere(facts, target, store.scope)


def _is_made_elsewhere(facts: FileFacts, target: ast.expr, scope: int) -> bool:
    made = (one.value for one in facts.bindings(target, scope) if isinstance(one.value, ast.Call))
    return any(is_optimizer_class(name) for call in made for name in facts.names(call.func, scope).names)


def tests_of_start(facts: FileFacts, loop: ast.For) -> Iterator[ast.expr]:
    """`if cfg.start_epoch > 0:`, the tests that ask where the loop begins."""
    start = loop.iter.args[0] if isinstance(loop.iter, ast.Call) else None
    for read in facts.index.attributes(start.attr) if isinstance(start, ast.Attribute) else ():
        statement = facts.index.statement_of(read)
        if isinstance(statement, ast.If) and any(node is read for node in ast.walk(statement.test)):
            yield statement.test


def _loaded_path(facts: FileFacts, load: CallSite) -> str | None:
    """The path of `model.load_state_dict(torch.load(path))`, also by a name in between."""
    given = argument_of(load.node, "state_dict", 0)
    value, scope = only_value(facts, given, load.scope)
    while isinstance(value, ast.Subscript):
        value, scope = only_value(facts, value.value, scope)
    if not isinstance(value, ast.Call) or facts.names(value.func, scope).only != "torch.load":
        return None
    return _spelled(facts, argument_of(value, "f", 0), scope)


def _spelled(facts: FileFacts, path: ast.expr | None, scope: int) -> str | None:
    """A path as it is written, also by a name in between."""
    value, _ = only_value(facts, path, scope)
    return None if path is None else ast.unparse(path if value is None else value)


def _first_step(facts: FileFacts, site: CallSite) -> list[Position]:
    """Where the function around a call begins to train, if it does."""
    own = facts.calls_in(facts.function_of(site.scope))
    return sorted(position_of(one.node) for one in own if _trains(facts, one))[:1]


@followed(otherwise=False)
def _trains(facts: FileFacts, site: CallSite) -> bool:
    """Whether a call steps an optimizer, or a function of the file that it runs does."""
    if is_method_call(site.node, "step"):
        return holds_optimizer(facts, site.node.func.value, site.scope)
    functions = known_functions(facts, site.node.func, site.scope)
    return any(_trains(facts, one) for function in functions for one in facts.calls_in(function))


def whole_nets(facts: FileFacts, saved: ast.expr) -> list[ast.expr] | None:
    """The nets that are saved as objects, by their names; None where anything else may be among it."""
    if isinstance(saved, (ast.Tuple, ast.List)):
        found = [net for one in saved.elts for net in whole_nets(facts, one) or ()]
        return found or None
    is_net = isinstance(saved, (ast.Name, ast.Attribute)) and ast.unparse(saved) in facts.cached(_trained)
    return [saved] if is_net else None


def _trained(facts: FileFacts) -> frozenset[str]:
    """What gives an optimizer its parameters, as it is spelled."""
    given = facts.calls.find(words=("parameters",))
    return frozenset(ast.unparse(site.node.func.value) for site in given if is_method_call(site.node))


def loaded_by_option(facts: FileFacts, nets: list[ast.expr]) -> Iterator[CallSite]:
    """The calls that load one of these nets from a file that an option names, where that option is given."""
    wanted = {ast.unparse(one) for one in nets}
    for site in facts.calls.find(names=_READING):
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
            yield from map(ast.unparse, target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target])
    for site in facts.calls.find(words=("load_state_dict",)):
        state = argument_of(site.node, "state_dict", 0)
        if is_method_call(site.node) and state is not None and _comes_from(facts, state, site.scope, load.node):
            yield ast.unparse(site.node.func.value)


@followed(otherwise=False)
def _comes_from(facts: FileFacts, state: ast.expr, scope: int, load: ast.Call) -> bool:
    while isinstance(state, ast.Subscript):
        state = state.value
    if state is load:
        return True
    ends = definitions_of(facts, state, scope)
    found = [(end.node, end.scope) for end in ends if isinstance(end, Definition) and end.node is not state]
    return any(_comes_from(facts, one, where, load) for one, where in found)


def lost_states(facts: FileFacts) -> Iterator[CallSite]:
    """The calls that make what a training moves on with each step or epoch, and neither saves nor restores.

    All that becomes of it has to be seen: what is handed on may be saved by others.
    """
    for site in facts.symbols.calls:
        name = facts.names(site.node.func, site.scope).only or ""
        is_schedule = name.startswith(_SCHEDULES) and name.removeprefix(_SCHEDULES) not in _BY_RATE
        if is_schedule or name in _OTHERS:
            # Nothing tells the object where the training is, and it is in use, be no option asked for that.
            told, enabled = (argument_of(site.node, asked, None) for asked in ("last_epoch", "enabled"))
            is_new = told is None and (enabled is None or facts.value(enabled, site.scope).only(bool) is True)
            yield from [site] if is_new and _is_only_moved(facts, site, name) else []


def _is_only_moved(facts: FileFacts, site: CallSite, name: str) -> bool:
    target = only_target(site.statement) if getattr(site.statement, "value", None) is site.node else None
    if isinstance(target, ast.Name):
        reads: list[ast.expr] = [*facts.index.reads_of(target)]
    elif is_own(target):
        reads = [one for one in facts.index.attributes(target.attr) if isinstance(one.ctx, ast.Load)]
    else:
        return False
    calls = [_method_of(facts, read) for read in reads]
    moves = [call for call in calls if call is not None and is_method_call(call, *_MOVING)]
    return None not in calls and bool(moves) and all(_counts_by_itself(facts, call, name) for call in moves)


def _method_of(facts: FileFacts, read: ast.expr) -> ast.Call | None:
    """The call of a harmless method of what is read."""
    method = facts.index.parents[read]
    call = facts.index.parents[method]
    return call if is_method_call(call, *_MOVING, *_ASKING) and call.func is method else None


def _counts_by_itself(facts: FileFacts, call: ast.Call, name: str) -> bool:
    """Whether a step counts by itself: not `scheduler.step(epoch)`, and not in a loop that only catches up."""
    is_told = name.startswith(_SCHEDULES) and name != _BY_METRIC and bool(call.args or call.keywords)
    loop = next(loops_around(facts, facts.index.statement_of(call)), None)
    return not is_told and (loop is None or len(loop.body) > 1)
