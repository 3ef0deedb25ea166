"""Where a value is read again that a name, an attribute, a parameter or a function has taken."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from torchlint.facts.calls import Way, callers, targets
from torchlint.facts.classes import base_names, family_of, own_class
from torchlint.facts.control.blocks import enclosing
from torchlint.facts.control.order import dominates, may_follow
from torchlint.facts.flow.chronology import as_usual, is_ruled_out
from torchlint.facts.flow.values import EACH, ELSEWHERE, Exit, Field, Given, Item, Kept, Move, Returned, Stored, Value
from torchlint.facts.functions import is_method, own_scope
from torchlint.facts.notation import maker_of, name_in
from torchlint.facts.reaching import lasting, reaching, reads_by_binding
from torchlint.facts.scopes import Binding, BindingKind, Scope, ScopeKind
from torchlint.facts.tree import is_own

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

Sanitizer = Callable[[ast.expr], bool]
"""Whether the statement around a read makes the value harmless where it lies: `names.sort()`."""


def kept(facts: FileFacts, move: Kept, sanitizes: Sanitizer) -> Iterator[Move]:
    """What reads a target that has taken a value."""
    target, value = move.target, move.value
    if isinstance(target, ast.Name):
        yield from _name(facts, move, target, sanitizes)
    elif isinstance(target, (ast.Tuple, ast.List)):
        yield from (Kept(target.elts[place], one) for place, one in value.unpacked(len(target.elts)))
    elif isinstance(target, ast.Subscript):
        within = value.inside(Item.at(target.slice), value.node)
        yield from (Kept(target.value, one, in_place=True) for one in within)
    elif isinstance(target, ast.Attribute):
        holder, scope = target.value, facts.index.scope_of(target)
        if isinstance(holder, ast.Name) and holder.id in ("self", "cls"):
            owner = facts.class_of(scope)
        else:
            owner = own_scope(facts, maker_of(facts.names(holder, scope).only or ""))
        if owner is not None and facts.symbols.scopes[owner].kind is ScopeKind.CLASS:
            yield Stored(owner, target.attr, value)
        else:
            yield from (Kept(holder, one, in_place=True) for one in value.inside(Field(target.attr), value.node))


def _name(facts: FileFacts, move: Kept, target: ast.Name, sanitizes: Sanitizer) -> Iterator[Move]:
    owner = facts.resolver.owner(target.id, facts.index.inner_scope_of(target))
    if owner is None:
        return
    if owner.kind is ScopeKind.CLASS:
        yield Stored(owner.index, target.id, move.value)
        return
    if owner.kind is ScopeKind.MODULE:
        yield Exit(name_in(facts.path), Field(target.id), move.value.path, move.value.label)
    statement = facts.index.statement_of(target)
    reads = _reads(facts, owner, target.id, None if move.in_place else statement)
    if move.in_place:
        held = reaching(facts, target.id, facts.index.scope_of(target), target)
        reads = [read for read in reads if may_follow(facts, target, read) and _shares(facts, target.id, read, held)]
        is_given = any(one.kind is BindingKind.PARAMETER for one in held)
        if is_given and not _is_made_harmless(facts, owner, target.id, move.value, sanitizes, target):
            # What a function puts into an argument, its callers have in it.
            *outer, last = move.value.calls or (None,)
            for site, run in callers(facts, owner.index):
                argument = run.argument(target.id)
                if argument is not None and last in (None, site.node):
                    yield Kept(argument[0], replace(move.value, calls=tuple(outer)), in_place=True)
    yield from unless_sanitized(facts, reads, move.value, statement, sanitizes)


def _reads(facts: FileFacts, owner: Scope, name: str, binding: ast.stmt | None) -> list[ast.expr]:
    """The reads of a name; where a statement is given that binds it, those that it may reach."""
    if owner.kind in (ScopeKind.LAMBDA, ScopeKind.COMPREHENSION):
        found = (one for one in ast.walk(owner.node) if isinstance(one, ast.Name) and one.id == name)
        return [one for one in found if isinstance(one.ctx, ast.Load)]
    reads = facts.index.reads(owner.index, name)
    reached = reads if binding is None else reads_by_binding(facts, owner.index, name).get(binding, ())
    return [one for one in reached if isinstance(one.ctx, ast.Load)]


def _shares(facts: FileFacts, name: str, read: ast.expr, held: list[Binding]) -> bool:
    """Whether a name may stand for the same object at another place."""
    found = reaching(facts, name, facts.index.scope_of(read), read)
    return not held or any(one is other for one in found for other in held)


def unless_sanitized(
    facts: FileFacts, reads: Sequence[ast.expr], value: Value, stored: ast.stmt | None, sanitizes: Sanitizer
) -> Iterator[Value]:
    """The reads that nothing sanitizes on every way to them. `stored` takes the value; a parameter has it at once."""
    landings = [(read, _landing(facts, read, value)) for read in reads]
    killers = [read for read, end in landings if not end.path and sanitizes(end.node)]
    helped = [read for read, end in landings if _is_sanitized_inside(facts, end, sanitizes)]
    killing = [facts.index.statement_of(one) for one in (*killers, *helped)]
    lasts = _lasting(facts, reads, stored, killing)
    for read in reads:
        statement = facts.index.statement_of(read)
        is_dead = read in killers or is_ruled_out(facts, statement, value.calls, stored) or not lasts(statement)
        if not is_dead and not any(_kills(facts, killer, statement, stored, value.calls) for killer in killing):
            yield value.at(read)


def _is_sanitized_inside(facts: FileFacts, value: Value, sanitizes: Sanitizer) -> bool:
    """Whether a function makes the value harmless that a caller gives it: `put_in_order(names)`."""
    call = facts.index.parents[value.node]
    run = targets(facts, call, facts.index.inner_scope_of(call)) if isinstance(call, ast.Call) else []
    name = run[0].parameter_of(value.node) if len(run) == 1 and run[0].way is Way.CALLED else None
    return name is not None and _is_made_harmless(facts, run[0].function, name, value, sanitizes)


def _is_made_harmless(
    facts: FileFacts, function: Scope, name: str, value: Value, sanitizes: Sanitizer, after: ast.expr | None = None
) -> bool:
    """Whether a function always makes harmless what a parameter holds, for its callers, too: `entries.sort()`."""
    if len(function.bindings[name]) > 1:
        return False
    reads, parents = facts.index.reads(function.index, name), facts.symbols.parents
    ends = [_landing(facts, one, value) for one in reads if after is None or may_follow(facts, after, one)]
    sure = [end for end in ends if parents[facts.index.statement_of(end.node)] is function.node]
    return any(not end.path and sanitizes(end.node) for end in sure)


def _lasting(
    facts: FileFacts, reads: Sequence[ast.expr], stored: ast.stmt | None, killing: Sequence[ast.stmt]
) -> Callable[[ast.stmt], bool]:
    """Whether no way leads to a statement but through one that sanitizes: `names.sort()` in each branch."""
    function = facts.function_of(facts.index.scope_of(reads[0] if stored is None else stored)) if killing else None
    beside = [one for one in killing if facts.function_of(facts.symbols.scope_of[one]) == function]
    if not beside:
        return lambda _: True
    named = reads[0].id if isinstance(reads[0], ast.Name) else ""
    owner = facts.symbols.scopes[function or 0]
    if named and named not in owner.bindings:
        return lambda _: True
    lasts = lasting(facts, owner, named, stored, beside)
    return lambda one: facts.function_of(facts.symbols.scope_of[one]) != function or lasts(one)


def _kills(
    facts: FileFacts, killer: ast.stmt, read: ast.stmt, stored: ast.stmt | None, calls: Sequence[ast.Call]
) -> bool:
    """Whether the value is sanitized whenever it is read: before the read, or once and for all where it is stored."""
    function, elsewhere = (facts.function_of(facts.symbols.scope_of[one]) for one in (killer, read))
    home = None if stored is None else facts.function_of(facts.symbols.scope_of[stored])
    if stored is not None and home == function and not may_follow(facts, stored, killer):
        return False
    if function == elsewhere:
        return any(dominates(facts, one, read) for one in as_usual(facts, killer, calls))
    around = set(() if stored is None else enclosing(facts, stored))
    return function != home or any(around.issuperset(enclosing(facts, one)) for one in as_usual(facts, killer, calls))


def _landing(facts: FileFacts, read: ast.expr, value: Value) -> Value:
    """As far as what stands around a read leads to the value: `run.names` where `run` holds it under `names`."""
    last, found = value, [value.at(read)]
    while found:
        last = found[0]
        above = facts.index.parents.get(last.node)
        if isinstance(above, ast.Attribute):
            found = [one.at(above) for one in last.taken(Field(above.attr))]
        elif isinstance(above, ast.Subscript) and above.value is last.node and isinstance(above.slice, ast.Constant):
            found = [one.at(above) for one in last.taken(Item.at(above.slice))]
        else:
            found = []
    return last


def given(facts: FileFacts, move: Given, sanitizes: Sanitizer) -> Iterator[Move]:
    """What reads a parameter."""
    function = facts.symbols.scopes[move.function]
    reads = _reads(facts, function, move.parameter, None)
    scopes = [(read, reaching(facts, move.parameter, facts.index.scope_of(read), read)) for read in reads]
    reached = [read for read, found in scopes if any(one.kind is BindingKind.PARAMETER for one in found)]
    if function.kind is ScopeKind.LAMBDA:
        reached = reads
    yield from unless_sanitized(facts, reached, move.value, None, sanitizes)


def stored(facts: FileFacts, move: Stored, sanitizes: Sanitizer) -> Iterator[Move]:
    """What reads an attribute of the objects of a class: its methods, those of heirs and bases, who has made one."""
    value = move.value
    family = family_of(facts, move.owner)
    own = _own_reads(facts, move.name, family)
    home = facts.index.statement_of(value.node)
    yield from unless_sanitized(facts, own, replace(value, calls=()), home, sanitizes)
    made = constructions_of(facts, {facts.full_name(one) for one in family})
    within = [call for call in value.calls if call in made]
    calls = value.calls[: value.calls.index(within[-1])] if within else ()
    for call in within[-1:] or made:
        yield from (replace(one, calls=calls) for one in value.inside(Field(move.name), call))
    yield Exit(facts.full_name(move.owner), Field(move.name), value.path, value.label)


def other_stores(facts: FileFacts, move: Stored) -> list[ast.Attribute]:
    """What else may bind the attribute, or delete it: in the methods of the family, or of whatever object."""
    family, home = family_of(facts, move.owner), facts.index.statement_of(move.value.node)
    changed = (one for one in facts.index.attributes(move.name) if not isinstance(one.ctx, ast.Load))
    others = (one for one in changed if facts.index.statement_of(one) is not home)
    return [one for one in others if not is_own(one) or facts.class_of(facts.index.scope_of(one)) in family]


def constructions_of(facts: FileFacts, classes: set[str]) -> list[ast.Call]:
    """The calls that make objects of some classes, by their full names."""
    return [
        site.node
        for site in facts.symbols.calls
        if facts.names(site.node.func, site.scope).only in classes
        or own_class(facts, site.node.func, site.scope) in classes
    ]


def reads_of_field(facts: FileFacts, symbol: str, name: str) -> list[ast.Attribute]:
    """What reads an attribute in the heirs of another file's class."""
    scopes = facts.symbols.scopes
    heirs = [s.index for s in scopes if s.kind is ScopeKind.CLASS and symbol in base_names(facts, s.index)]
    family = frozenset[int]().union(*(family_of(facts, heir) for heir in heirs))
    return _own_reads(facts, name, family)


def _own_reads(facts: FileFacts, name: str, family: frozenset[int]) -> list[ast.Attribute]:
    """What reads an attribute of `self` in the classes of a family."""
    reads = facts.index.own_attributes(name)
    return [read for read in reads if facts.class_of(facts.index.scope_of(read)) in family]


def returned(facts: FileFacts, move: Returned) -> Iterator[Move]:
    """What calls a function that gives the value back."""
    value, function = move.value, facts.symbols.scopes[move.function]
    if value.calls:
        call, calls = value.calls[-1], value.calls[:-1]
        if call is ELSEWHERE:
            return
        run = [one for one in targets(facts, call, facts.index.inner_scope_of(call)) if one.way is Way.CALLED]
        if any(one.function is function for one in run):
            yield replace(value, node=call, calls=calls)
        return
    for site, one in callers(facts, move.function):
        if one.way is Way.CALLED:
            yield value.at(site.node)
        elif facts.names(site.node.func, site.scope).only == "builtins.map":
            yield from value.inside(EACH, site.node)
    if is_method(facts, function):  # `self.names` of a property, `self.names()` in a class whose heir defines it
        for read in _own_reads(facts, function.name, family_of(facts, function.parent or 0)):
            above = facts.index.parents[read]
            yield value.at(above if isinstance(above, ast.Call) and above.func is read else read)
    yield Exit(facts.full_name(move.function), None, value.path, value.label)
