"""Checkpoints: which objects a file saves the state of, and whether it goes on from one."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator

from torchlint.facts.calls import callers
from torchlint.facts.classes import attribute_values
from torchlint.facts.control.blocks import loops_around
from torchlint.facts.control.conditions import tests_around
from torchlint.facts.definitions import definitions_of, seen_values
from torchlint.facts.file import FileFacts
from torchlint.facts.flow.values import Definition, Parameter, Through
from torchlint.facts.functions import returned_values
from torchlint.facts.memoizing import followed, memoized
from torchlint.facts.options.declared import options_of_flags
from torchlint.facts.scopes import CallSite
from torchlint.facts.training.steps import is_optimizer, is_optimizer_class
from torchlint.facts.tree import is_method_call, last_word, words_in
from torchlint.facts.values import all_given, argument_of
from torchlint.facts.words import says

_LOADING = re.compile(r"load|restore|resum", re.IGNORECASE)
_LOADING_STATE = re.compile(r"load_(?:\w+_)?state_dict")
"""torch's own method, and those that wrap it: `load_opt_state_dict`."""
_RESTORING = frozenset(
    {
        "fvcore.common.checkpoint.Checkpointer().resume_or_load",
        "fvcore.common.checkpoint.Checkpointer().load",
        "detectron2.checkpoint.DetectionCheckpointer().resume_or_load",
        "timm.models.resume_checkpoint",
        "timm.models.helpers.resume_checkpoint",
        "torch.distributed.checkpoint.state_dict.set_optimizer_state_dict",
        "torch.distributed.checkpoint.state_dict.set_state_dict",
    }
)
"""Calls that restore what they, or a checkpointer, are given, and no random generator.

fvcore 0.1.5, checkpoint.py (detectron2's derives from it); timm 1.0.31, models/_helpers.py `resume_checkpoint`;
torch 2.13.0, distributed/checkpoint/state_dict.py.
"""
_SAVING = re.compile(r"save|checkpoint|ckpt|store|dump|snapshot", re.IGNORECASE)
_RESUMING = re.compile(r"resum|start_epoch|continue_tr|restart|load_last|last_epoch", re.IGNORECASE)
_KEPT = re.compile(r"checkpoint|ckpt|snapshot|resum", re.IGNORECASE)
"""Names of parameters that hold what a file of a training holds."""
_CONTINUING = re.compile(r"continu\w*\s+(?:\w+\s+){0,3}train|resum", re.IGNORECASE)
"""Said of an option that names what a training goes on from."""
_COUNTING = re.compile(r"(?:start|begin|init|resumed?|last|initial)_(?:epoch|iter\w*|steps?)$", re.IGNORECASE)
"""Names of where a training goes on, told by whoever loads weights under a condition."""
_EPOCH = re.compile(r"(?:\w+_)?(?:epoch|iteration)")
"""Names of what a function returns that says where a training stopped."""
_THROUGH = Through.CHANGES | Through.PARAMETERS | Through.CONTENTS


@followed(otherwise=None)
def saved_models(facts: FileFacts, value: ast.expr, scope: int) -> list[ast.expr] | None:
    """The objects whose state alone is saved; None where something else is saved that may hold more."""
    if is_method_call(value, "state_dict"):
        return [value.func.value]
    if isinstance(value, ast.DictComp):  # `{key: one.cpu() for key, one in model.state_dict().items()}`
        gone_through = value.generators[0].iter
        items = gone_through.func.value if is_method_call(gone_through, "items") else None
        return [items.func.value] if is_method_call(items, "state_dict") else None
    entries = _written_out(facts, value, scope)
    if entries is not None:
        return _joined(_entry(facts, key, one, scope) for key, one in entries)
    return _named(facts, value, scope) if isinstance(value, ast.Name) else None


def _written_out(facts: FileFacts, value: ast.expr, scope: int) -> list[tuple[ast.expr | None, ast.expr]] | None:
    """The entries of `{"model": ...}` and `dict(model=...)`."""
    if isinstance(value, ast.Dict):
        return list(zip(value.keys, value.values, strict=True))
    if not isinstance(value, ast.Call) or value.args or facts.names(value.func, scope).only != "builtins.dict":
        return None
    return [(None if one.arg is None else ast.Constant(one.arg), one.value) for one in value.keywords]


def _joined(parts: Iterable[list[ast.expr] | None]) -> list[ast.expr] | None:
    """All of them, where each is known."""
    found = list(parts)
    return None if None in found else [model for some in found if some is not None for model in some]


def _named(facts: FileFacts, name: ast.Name, scope: int) -> list[ast.expr] | None:
    """What a name saves that holds a dictionary; what calls of `save_checkpoint(state)` in this file save."""
    filled = (
        _entry(facts, one.target.slice, one.value, one.scope) if one.value is not None else None
        for one in facts.symbols.assignments
        if isinstance(one.target, ast.Subscript) and getattr(one.target.value, "id", "") == name.id
    )
    ends = definitions_of(facts, name, scope, Through.PARAMETERS)
    whole = [one for one in ends if isinstance(one, Definition)]
    if None in ends or any(one.parts for one in whole):
        return None
    return _joined((*(saved_models(facts, one.node, one.scope) for one in whole), *filled))


def _entry(facts: FileFacts, key: ast.expr | None, value: ast.expr, scope: int) -> list[ast.expr] | None:
    """Of one entry of a saved dictionary: states, or numbers and settings, which are no state of a training."""
    if key is None or not isinstance(key, ast.Constant) or _speaks_of_optimizer(str(key.value)):
        return None
    if is_method_call(value, "state_dict"):
        return saved_models(facts, value, scope)
    return [] if isinstance(value, (ast.Name, ast.Attribute, ast.Constant, ast.BinOp, ast.Subscript)) else None


def names_optimizer(facts: FileFacts, expression: ast.expr, scope: int) -> bool:
    """Whether an expression is an optimizer, or speaks of one or of what holds one."""
    return is_optimizer(facts, expression, scope) or any(map(_speaks_of_optimizer, _words(expression)))


def _words(node: ast.AST) -> Iterator[str]:
    """What an expression speaks of: `opt.path` of a path, `opt.state_dict()` of `opt`; texts as well, but for paths."""
    if isinstance(node, ast.Attribute) and node.attr != "state_dict":
        yield node.attr
        return
    if isinstance(node, (ast.Name, ast.Constant)):
        yield str(node.id if isinstance(node, ast.Name) else node.value)
    for child in ast.iter_child_nodes(node) if not isinstance(node, ast.JoinedStr) else ():
        yield from _words(child)


def _speaks_of_optimizer(text: str) -> bool:
    return says(text, "optimizer", "optimizer_holder")


def keeps_optimizer(facts: FileFacts) -> bool:
    """Whether anything in the file saves or loads more than models, as far as its names tell."""
    return _hands_optimizer(facts, ("state_dict", "load_state_dict"), _SAVING)


def loads_optimizer(facts: FileFacts) -> bool:
    """Whether anything in the file loads an optimizer's state, or hands one to what loads, as far as its names tell."""
    keys = (node.slice for node in ast.walk(facts.tree) if isinstance(node, ast.Subscript))
    is_read = any(isinstance(key, ast.Constant) and _speaks_of_optimizer(str(key.value)) for key in keys)
    return is_read or _hands_optimizer(facts, ("load_state_dict",), _LOADING)


def _hands_optimizer(facts: FileFacts, methods: Collection[str], words: re.Pattern[str]) -> bool:
    """Whether one of these methods of an optimizer is called, or one is given to what is called so."""
    for site in facts.symbols.calls:
        given: list[ast.expr] = []
        if is_method_call(site.node, *methods):
            given = [site.node.func.value]
        elif words.search(last_word(site.node.func)):
            given = all_given(site.node)
        if any(names_optimizer(facts, one, site.scope) for one in given):
            return True
    return False


def loads_a_file(facts: FileFacts, call: ast.Call, scope: int) -> bool:
    """Whether a call loads something: with torch, or by a function that says so."""
    word = last_word(call.func)
    is_said = _LOADING.search(word) is not None and word != "load_state_dict"
    return is_said or facts.names(call.func, scope).only == "torch.load"


def resumptions(facts: FileFacts) -> Iterator[CallSite]:
    """The calls that load a model's state to go on with its training, or that run a function which does."""
    for site in facts.symbols.calls:
        if is_method_call(site.node, "load_state_dict"):
            yield from (call for call in with_callers(facts, site) if _goes_on(facts, call))


def with_callers(facts: FileFacts, site: CallSite) -> list[CallSite]:
    """A call, and the calls of the function that it stands in."""
    function = facts.function_of(site.scope)
    return [site, *(call for call, _ in (() if function is None else callers(facts, function)))]


def _goes_on(facts: FileFacts, site: CallSite) -> bool:
    """Whether the code around a call speaks of a training that goes on, or of where."""
    tests, function = list(tests_around(facts, site.statement)), facts.function_of(site.scope)
    named = (*map(ast.unparse, tests), facts.function_name(site.scope))
    counted = facts.symbols.scopes[function or 0].bindings
    if any(map(_RESUMING.search, named)) or (tests and any(map(_COUNTING.match, counted))):
        return True
    asked = (node for test in tests for node in ast.walk(test))
    if any(isinstance(node, ast.Attribute) and node.attr in facts.cached(_continuing) for node in asked):
        return True
    returned = () if function is None else returned_values(facts, function)
    return any(_EPOCH.fullmatch(word) for value in returned for word in words_in(value))


def _continuing(facts: FileFacts) -> frozenset[str]:
    """The options whose help says that a training goes on: `help="path to netG (to continue training)"`."""
    added = [(site, argument_of(site.node, "help", None)) for site in facts.calls.find(words=("add_argument",))]
    told = (site for site, text in added if _CONTINUING.search(facts.value(text, site.scope).only(str) or ""))
    return frozenset(option.name for site in told for option in options_of_flags(facts, site))


def restored_optimizers(facts: FileFacts) -> list[CallSite]:
    """The calls that load an optimizer's state from a file: a training goes on from there.

    A method `load_state_dict` only hands on what its caller loads.
    """
    loading = [word for word in facts.calls.words if _LOADING_STATE.fullmatch(word)]
    by_library = [site for site in facts.calls.find(names=_RESTORING) if _keeps_an_optimizer(facts, site)]
    return by_library + [
        site
        for site in facts.calls.find(words=loading)
        if is_method_call(site.node)
        and (is_optimizer(facts, site.node.func.value, site.scope) or _is_one_of_all_given(facts, site))
        and facts.function_name(site.scope) != "load_state_dict"
        and (_reads_a_file(facts, facts.function_of(site.scope)) or _is_handed_a_file(facts, site))
    ]


def _keeps_an_optimizer(facts: FileFacts, restored: CallSite) -> bool:
    """Whether a library is given an optimizer to restore, or was made with one: `Checkpointer(net, optimizer=o)`."""
    function = restored.node.func
    made = seen_values(facts, function.value, restored.scope) if isinstance(function, ast.Attribute) else []
    calls = [(restored.node, restored.scope), *((call, at) for call, at in made if isinstance(call, ast.Call))]
    return any(names_optimizer(facts, one, where) for call, where in calls for one in all_given(call))


def _is_one_of_all_given(facts: FileFacts, site: CallSite) -> bool:
    """`for key, value in kwargs.items(): value.load_state_dict(checkpoint[key])`: an optimizer is among them."""
    assert isinstance(site.node.func, ast.Attribute)
    loops = (one.statement for one in facts.bindings(site.node.func.value, site.scope))
    views = (one.iter for one in loops if isinstance(one, ast.For))
    gone_through = (view.func.value for view in views if is_method_call(view, "items"))
    return any(_is_all_given(facts, one, site.scope) for one in gone_through)


def _is_all_given(facts: FileFacts, mapping: ast.expr, scope: int) -> bool:
    """Whether a mapping is the `**kept` of a function, or an attribute of `self` that keeps it."""
    for value, where in attribute_values(facts, mapping, scope) or [(mapping, scope)]:
        function = facts.function_of(where)
        rest = None if function is None else facts.symbols.scopes[function].node.args.kwarg  # type: ignore[attr-defined]
        if rest is not None and rest.arg == getattr(value, "id", ""):
            return True
    return False


def _is_handed_a_file(facts: FileFacts, site: CallSite) -> bool:
    """Whether what is loaded is an entry of a parameter that holds a file: by a caller in this file, or by its name."""
    kept = argument_of(site.node, "state_dict", 0)
    ends = () if kept is None else definitions_of(facts, kept, site.scope, _THROUGH)
    held = [end.node for end in ends if isinstance(end, Definition)]
    if any(isinstance(one, ast.Call) and loads_a_file(facts, one, site.scope) for one in held):
        return True
    return any(isinstance(end, Parameter) and end.parts and _KEPT.search(end.name) for end in ends)


@memoized
def _reads_a_file(facts: FileFacts, function: int | None) -> bool:
    """Whether a function, or the top level, loads something."""
    return any(loads_a_file(facts, site.node, site.scope) for site in facts.calls_in(function))


def steps_with_state(facts: FileFacts) -> bool:
    """Whether the file trains with an optimizer that keeps something from epoch to epoch."""
    calls = facts.symbols.calls
    made = [site for site in calls if any(map(is_optimizer_class, facts.names(site.node.func, site.scope).names))]
    lasting = (site for site in made if not any(loops_around(facts, site.statement)))
    is_trained = any(is_method_call(site.node, "backward") for site in calls)
    if made:
        # Of the plain ones, SGD keeps more than its parameters with a momentum.
        return is_trained and any(
            facts.names(site.node.func, site.scope).names != {"torch.optim.SGD"}
            or any(one.arg in ("momentum", None) for one in site.node.keywords)
            for site in lasting
        )
    return is_trained and any(
        is_method_call(site.node, "step") and is_optimizer(facts, site.node.func.value, site.scope) for site in calls
    )
