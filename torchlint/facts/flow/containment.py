"""The other form of the question: not whether a value gets anywhere, but whether all that becomes of it is seen.

A rule that says "nothing reads this", or "this only runs where gradients are off", follows all uses. What no step
understands is a sink like any other: the value is out of sight there, and nothing is known of it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator

from msgspec.structs import replace

from torchlint.catalogue.load import load_containers
from torchlint.facts.calls import Way, functions_of, targets, wrapped_by
from torchlint.facts.classes import bases_of, family_of
from torchlint.facts.control.order import may_follow
from torchlint.facts.file import FileFacts
from torchlint.facts.flow.references import is_only_called, is_only_made
from torchlint.facts.flow.tracker import Analysis, Sink
from torchlint.facts.flow.values import EACH, Exit, Field, Given, Item, Kept, Move, Others, Returned, Stored, Value
from torchlint.facts.functions import decorators_of, is_method, is_plain, own_scope
from torchlint.facts.gradients import is_gradless
from torchlint.facts.memoizing import memoized
from torchlint.facts.moves import moved
from torchlint.facts.notation import is_of_project
from torchlint.facts.reaching import reaching
from torchlint.facts.scopes import Binding, BindingKind, Scope, ScopeKind
from torchlint.facts.tree import is_super, method_called

_EMPTY_BASES = ("builtins.object", "abc.ABC", "torch.nn.Module")


def lost(node: ast.AST) -> Sink:
    """A value that gets out of sight."""
    return Sink("out of sight", node)


class Containment(Analysis):
    """What a rule says of the values of which it wants to see all uses."""

    def passes(self, value: Value) -> Iterator[Move | Sink]:
        found = list(super().passes(value))
        yield from found
        call = call_with(self.facts, value.node)
        is_in_part = call is not None and _is_taken_in_part(self.facts, call, found)
        if is_in_part or (not found and not is_harmless(self.facts, value)):
            yield lost(value.node)

    def beyond(self, move: Move) -> Iterator[Move | Sink]:
        if isinstance(move, Kept):
            return _beyond_kept(self.facts, move)
        if isinstance(move, Given):
            return _beyond_given(self.facts, move)
        if isinstance(move, Stored):
            return _beyond_stored(self.facts, move)
        return _beyond_returned(self.facts, move) if isinstance(move, Returned) else iter(())


def is_harmless(facts: FileFacts, value: Value) -> bool:
    """Whether the value, or what holds it, is only asked for something else here: tested, counted, printed."""
    above = facts.index.parents[value.node]
    if not isinstance(getattr(value.node, "ctx", ast.Load()), ast.Load):  # it is replaced
        return True
    if isinstance(above, (ast.Expr, ast.If, ast.IfExp, ast.While, ast.Assert, ast.Delete, ast.Compare)):
        return True
    if isinstance(above, (ast.UnaryOp, ast.comprehension)):
        return isinstance(above, ast.UnaryOp) or above.iter is not value.node
    if isinstance(above, ast.Attribute) and value.path:
        is_field = isinstance(value.path[0], Field)
        return not above.attr.startswith("__") if is_field else above.attr in load_containers().known
    if isinstance(above, ast.Subscript) and value.path:  # another entry
        return above.value is value.node and isinstance(value.path[0], Item)
    if isinstance(above, (ast.For, ast.AsyncFor)) and value.path:  # the keys of a mapping
        return True
    call = call_with(facts, value.node)
    is_asked = call is not None and facts.names(call.func, facts.index.scope_of(call)).only in load_containers().asking
    return is_asked or is_recorded(facts, value.node)


def call_with(facts: FileFacts, node: ast.expr) -> ast.Call | None:
    """The call that has an expression as an argument."""
    above = facts.index.parents[node]
    call = facts.index.parents[above] if isinstance(above, ast.keyword) else above
    return call if isinstance(call, ast.Call) and call.func is not node else None


def _is_taken_in_part(facts: FileFacts, call: ast.Call, found: list[Move | Sink]) -> bool:
    """Whether a call may do more with an argument than the moves say."""
    scope = facts.index.inner_scope_of(call)
    run = functions_of(facts, call.func, scope)
    if None in run:
        is_beyond = any(isinstance(one, Exit) for one in found)
        return len(run) > 1 or (is_beyond and not facts.names(call.func, scope).complete)
    return len(found) < len(targets(facts, call, scope))


# -- where a value is kept ---------------------------------------------------------------------------------------------


def _beyond_kept(facts: FileFacts, move: Kept) -> Iterator[Move | Sink]:
    target, value = move.target, move.value
    if isinstance(target, (ast.Tuple, ast.List)):
        if _has_star(facts, target) or not any(value.unpacked(len(target.elts))):
            yield lost(target)
    elif isinstance(target, ast.Name):
        owner = facts.resolver.owner(target.id, facts.index.inner_scope_of(target))
        if owner is None or (move.in_place and not _is_made_here(facts, owner, target)):
            yield lost(target)
    elif move.in_place or not isinstance(target, (ast.Attribute, ast.Subscript)) or not value.inside(EACH, value.node):
        yield lost(target)


@memoized
def _has_star(_: FileFacts, target: ast.Tuple | ast.List) -> bool:
    return any(isinstance(one, ast.Starred) for one in target.elts)


def _is_made_here(facts: FileFacts, owner: Scope, target: ast.Name) -> bool:
    """Whether a name holds a container that nothing else had before it took the value."""
    held = reaching(facts, target.id, facts.index.scope_of(target), target)
    before = [one for one in facts.index.reads(owner.index, target.id) if not may_follow(facts, target, one)]
    is_alone = all(isinstance(facts.index.parents[one], (ast.Attribute, ast.Subscript)) for one in before)
    return bool(held) and is_alone and all(_is_new(facts, one) for one in held)


def _is_new(facts: FileFacts, binding: Binding) -> bool:
    """Whether a name is bound to a container that is made there."""
    made = binding.value if binding.kind is BindingKind.ASSIGN else None
    if isinstance(made, ast.Call):
        return facts.names(made.func, binding.scope).only in load_containers().making
    return isinstance(made, (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp))


def _beyond_stored(facts: FileFacts, move: Stored) -> Iterator[Move | Sink]:
    family = [facts.symbols.scopes[one] for one in sorted(family_of(facts, move.owner))]
    if not move.value.inside(Field(move.name), move.value.node) or not all(_is_seen(facts, one) for one in family):
        yield lost(move.value.node)
        return
    for owner in family:
        for own in objects_in(facts, owner):
            above = facts.index.parents[own]
            if not is_super(above) and (not isinstance(above, ast.Attribute) or above.attr.startswith("__")):
                yield from replace(move.value, calls=()).inside(Field(move.name), own)


def _is_seen(facts: FileFacts, owner: Scope) -> bool:
    """Whether a class's own methods are all it has, and nobody else makes its objects."""
    if not isinstance(owner.node, ast.ClassDef) or owner.node.keywords:
        return False
    if not all((name or "").startswith("dataclasses.") for name in decorators_of(facts, owner)):
        return False
    bases = [base.only or "" for base in bases_of(facts, owner)]
    is_plain_class = all(base in _EMPTY_BASES or own_scope(facts, base) is not None for base in bases)
    return is_plain_class and is_only_made(facts, facts.full_name(owner.index))


def objects_in(facts: FileFacts, owner: Scope) -> Iterator[ast.Name]:
    """The reads of the first parameter of each method."""
    for index in owner.children:
        node = facts.symbols.scopes[index].node
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            for first in [*node.args.posonlyargs, *node.args.args][:1]:
                yield from facts.index.reads(index, first.arg)


# -- functions that take a value, and give it back ---------------------------------------------------------------------


def _beyond_given(facts: FileFacts, move: Given) -> Iterator[Move | Sink]:
    function = facts.symbols.scopes[move.function]
    if function.kind is ScopeKind.LAMBDA:
        return
    if not is_plain(facts, function):
        yield lost(function.node)
    elif is_method(facts, function) and function.name != "__init__":
        owner = function.parent or 0
        if any(function.name in facts.symbols.scopes[one].bindings for one in family_of(facts, owner) - {owner}):
            yield lost(function.node)
        yield Exit(facts.full_name(owner), Others(are_heirs=True), (), "")


def _beyond_returned(facts: FileFacts, move: Returned) -> Iterator[Sink]:
    function, calls = facts.symbols.scopes[move.function], move.value.calls
    if calls:  # it leaves by the call that brought it there
        run = targets(facts, calls[-1], facts.index.inner_scope_of(calls[-1]))
        is_seen = any(one.function is function and one.way is Way.CALLED for one in run)
    else:
        is_seen = is_only_called(facts, facts.full_name(move.function))
    if not is_seen or not is_plain(facts, function):
        yield lost(function.node)


_RUNNING_NOTHING = frozenset(
    {"train", "eval", "state_dict", "load_state_dict", "parameters", "named_parameters", "modules", "requires_grad_"}
)


class Ungraded(Containment):
    """Follows a module to all that runs it; a gradient, or a use that is not understood, is a sink."""

    def __init__(self, facts: FileFacts, is_ungraded: Callable[[str], bool]) -> None:
        super().__init__(facts)
        self._is_ungraded = is_ungraded
        """Whether that is so of all objects of a class: what its methods run needs no `no_grad` of its own."""
        self.is_run = False
        """Whether a call is seen: a module that nobody runs may be trained out of sight."""

    def steps(self, value: Value) -> Iterable[Move | Sink]:
        facts, node = self.facts, value.node
        above = facts.index.parents[node]
        if isinstance(above, ast.Call) and above.func is node:
            self.is_run = True
            return () if self._is_off(above) else [lost(above)]
        if isinstance(above, ast.Call) and wrapped_by(facts, above, facts.index.inner_scope_of(above)) is node:
            return [value.at(above)]
        if not isinstance(above, ast.Attribute) or not isinstance(above.ctx, ast.Load):
            return self.passes(value)
        call = facts.index.parents[above]
        if isinstance(call, ast.Call) and moved(call) is not None:
            return () if isinstance(facts.index.parents[call], ast.Expr) else [value.at(call)]
        return () if above.attr in _RUNNING_NOTHING or self._is_off(above) else [lost(above)]

    def _is_off(self, node: ast.expr) -> bool:
        owner = self.facts.class_of(self.facts.index.scope_of(node))
        return is_gradless(self.facts, node) or (owner is not None and self._is_ungraded(self.facts.full_name(owner)))


_RECORDERS = frozenset(
    {
        *("builtins.print", "pprint.pprint", "rich.print", "json.dump", "yaml.dump", "yaml.safe_dump"),
        *("mlflow.log_params", "wandb.init", "omegaconf.OmegaConf.save"),
    }
)
_DESCRIBING = frozenset(
    {
        *("builtins.vars", "builtins.str", "builtins.repr", "builtins.dict", "pprint.pformat"),
        *("json.dumps", "yaml.dump", "yaml.safe_dump", "omegaconf.OmegaConf.to_yaml"),
    }
)
_LOGGING = frozenset({"debug", "info", "warning", "warn", "error", "log", "add_text"})
_TEXT = (ast.keyword, ast.FormattedValue, ast.JoinedStr, ast.BinOp, ast.Dict, ast.Tuple, ast.List)


def is_recorded(facts: FileFacts, node: ast.expr) -> bool:
    """Whether a value ends in a call that prints or logs it, as it is or described."""
    for above, below in facts.index.ancestors(node):
        if isinstance(above, ast.Call):
            name = facts.names(above.func, facts.index.scope_of(above)).only or ""
            if above.func is not below and (name in _RECORDERS or _logs(above, name)):
                return name != "wandb.init" or not _is_read_back(facts, above)
            if above.func is not below and name not in _DESCRIBING and method_called(above) != "format":
                return False
        elif not isinstance(above, _TEXT) and not (isinstance(above, ast.Attribute) and above.attr.startswith("_")):
            break
    return False


def _logs(call: ast.Call, name: str) -> bool:
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in _LOGGING or is_of_project(name):
        return False
    return not (isinstance(call.func.value, ast.Name) and call.func.value.id in ("self", "cls"))


def _is_read_back(facts: FileFacts, init: ast.Call) -> bool:
    """Whether code may ask wandb for what it was given: a sweep answers with other values."""
    tree = facts.index
    asked = (node for word in ("config", "run") for node in tree.attributes(word))
    is_asked = any(name.startswith("wandb.") for node in asked for name in facts.names(node, tree.scope_of(node)).names)
    return is_asked or not isinstance(tree.parents[init], ast.Expr) or facts.source.mentions("from wandb import")
