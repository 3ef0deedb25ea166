"""Where a value comes from: its definitions, followed back until what is no name, choice or attribute any more.

Every question about what an expression may be goes this way; what it makes of the literals, calls and operators at the
end of it is its own.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from itertools import starmap
from typing import TYPE_CHECKING, TypeVar

from msgspec.structs import replace

from torchlint.facts.callees import names_called
from torchlint.facts.calls import arguments_for, callers, is_wrapper, known_functions, wrapped_by
from torchlint.facts.classes import all_values_of, attribute_values, family_of, heirs, lineage, parts_of, values_of
from torchlint.facts.contents import (
    Part,
    entries_gone_through,
    gone_through,
    loops_of,
    picked,
    place_in,
    put_into,
    stored_by_others,
    taken_from,
)
from torchlint.facts.flow.values import CALLED, EACH, EVERYWHERE, Definition, End, Field, Item, Parameter, Path, Through
from torchlint.facts.functions import is_plain, own_scope, returned_values
from torchlint.facts.memoizing import memoized
from torchlint.facts.moves import moved
from torchlint.facts.notation import is_of_project, is_result, maker_of
from torchlint.facts.reaching import reaching
from torchlint.facts.scopes import Binding, BindingKind, ScopeKind
from torchlint.facts.tree import is_literal_none, is_own

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

Answer = TypeVar("Answer")
Question = Callable[[ast.expr, int], Answer]
"""What is asked of a value and the scope that it is evaluated in."""

_DECLARING = (BindingKind.IMPORT, BindingKind.DEFINITION)
_MANY = 64
"""Definitions of one value; machine-written files have thousands."""

REFERRING = (ast.Name, ast.Attribute, ast.IfExp, ast.BoolOp, ast.NamedExpr)
"""What stands for something else, besides calls; most expressions do not, and nothing is looked up for them."""


@memoized
def definitions_of(
    facts: FileFacts, expression: ast.expr, scope: int, through: Through = Through.CHANGES, parts: Path = ()
) -> tuple[End, ...]:
    """All that an expression, or a part of it, may be: literals, calls, operators, parameters given from elsewhere."""
    is_followed = isinstance(expression, (ast.Call, ast.Subscript)) and through & (Through.RESULTS | Through.CONTENTS)
    if not isinstance(expression, REFERRING) and not is_followed and not parts:
        return (Definition(expression, scope),)
    found: dict[End, None] = {}
    seen: set[Definition] = set()
    waiting: list[End] = [Definition(expression, scope, parts)]
    while waiting:
        one = waiting.pop(0)
        steps = step_back(facts, one, through) if isinstance(one, Definition) else None
        if not isinstance(one, Definition) or steps is None:
            found[one] = None
        elif one not in seen:  # `x = x or y` adds nothing the second time
            seen.add(one)
            waiting += steps
        if len(seen) > _MANY or len(found) > _MANY:
            return (None,)
    # Reading an entry that nothing was seen to put there: what did is out of sight.
    return tuple(found) or ((None,) if any(one.parts for one in seen) else ())


def seen_values(
    facts: FileFacts, expression: ast.expr, scope: int, through: Through = Through.CHANGES
) -> list[tuple[ast.expr, int]]:
    """The whole values among them, each with its scope; None, which stands for "not yet", is left out."""
    ends = definitions_of(facts, expression, scope, through)
    return [(e.node, e.scope) for e in ends if isinstance(e, Definition) and not e.parts and not is_none(e)]


def values_everywhere(facts: FileFacts, expression: ast.expr, scope: int) -> list[tuple[ast.expr, int]]:
    """All values that an expression may be, through whatever keeps them; nothing where one is not seen."""
    ends = definitions_of(facts, expression, scope, EVERYWHERE | Through.CHANGES)
    open_ones = [one for one in ends if not is_given_here(facts, one)]
    whole = [(one.node, one.scope) for one in open_ones if isinstance(one, Definition) and not one.parts]
    return whole if len(whole) == len(open_ones) and whole != [(expression, scope)] else []


def is_none(one: End) -> bool:
    """Whether a value stands for "not yet", which is never what the code goes on to use."""
    return isinstance(one, Definition) and is_literal_none(one.node)


def is_given_here(facts: FileFacts, one: End) -> bool:
    """Whether a value is a parameter of which calls in the file say what it is."""
    return isinstance(one, Parameter) and bool(callers(facts, one.function))


def only_end(facts: FileFacts, expression: ast.expr | None, scope: int, through: Through = Through.CHANGES) -> End:
    """All that an expression may be, where that is one value, part or parameter."""
    ends = () if expression is None else definitions_of(facts, expression, scope, through)
    return ends[0] if len(ends) == 1 else None


def only_value(
    facts: FileFacts, expression: ast.expr | None, scope: int, through: Through = Through.CHANGES
) -> tuple[ast.expr | None, int]:
    """The one whole value that an expression evidently is, with its scope; None where there may be several."""
    only = only_end(facts, expression, scope, through)
    return (only.node, only.scope) if isinstance(only, Definition) and not only.parts else (None, scope)


def every(facts: FileFacts, expression: ast.expr | None, scope: int, asked: Question[bool]) -> bool:
    """Whether something is so of every value that an expression may be, and all of them are seen."""
    return expression is not None and agreed(facts, expression, scope, asked) is True


def agreed(facts: FileFacts, expression: ast.expr, scope: int, asked: Question[Answer | None]) -> Answer | None:
    """What is so of each whole value that an expression may be; None where they differ, or one is not seen."""
    ends = definitions_of(facts, expression, scope)
    answers = {asked(one.node, one.scope) if isinstance(one, Definition) and not one.parts else None for one in ends}
    return answers.pop() if len(answers) == 1 else None


def step_back(facts: FileFacts, one: Definition, through: Through = Through.CHANGES) -> list[End] | None:
    """What a definition stands for; None where it is an end. For questions that names on the way answer too."""
    steps = _references(facts, one.node, one.scope, through)
    if steps is not None and one.parts:
        steps = [_part_of(step, one.parts, through) for step in steps]
        if Through.CONTENTS in through:
            found = put_into(facts, one.node, one.scope, one.parts)
            if found is None:
                return [None]
            later, is_written_over = found
            return [*(() if is_written_over else steps), *starmap(Definition, later)]
    if steps is not None:
        return steps
    if one.parts[:1] == (CALLED,):
        return _called(facts, one)
    if one.parts[:1] == (EACH,) and isinstance(one.node, ast.Call):
        through_it = gone_through(facts, one.node, one.scope, one.parts[1:])
        table = through_it or entries_gone_through(one.node, one.parts[1:])
        if table is not None:
            return [Definition(table[0], one.scope, (EACH, *table[1]))]
    if Through.CONTENTS in through:
        return _of_contents(facts, one, through)
    if one.parts and isinstance(one.node, (ast.Tuple, ast.List)):
        return _all(picked(one.node, one.scope, one.parts)) or [None]
    return None


def _all(parts: list[Part] | None) -> list[End]:
    return [None] if parts is None else [Definition(*part) for part in parts]


def _part_of(whole: End, parts: Path, through: Through) -> End:
    is_followed = Through.CONTENTS in through or parts[:1] == (CALLED,)
    is_kept = isinstance(whole, Definition) or (whole is not None and is_followed)
    return replace(whole, parts=(*whole.parts, *parts)) if is_kept else None  # type: ignore[union-attr,type-var]


def _of_contents(facts: FileFacts, one: Definition, through: Through) -> list[End] | None:
    """What an entry of a container or an attribute of an object is given where it is made."""
    if isinstance(one.node, (ast.Tuple, ast.List, ast.Set, ast.Dict)) and one.parts:
        return _all(picked(one.node, one.scope, one.parts))
    found = taken_from(facts, one.node, one.scope, one.parts)
    if found is not None:
        return _all(found)
    name = facts.names(one.node, one.scope).only or "" if isinstance(one.node, (ast.Call, ast.Name)) else ""
    field, *rest = one.parts or (None,)
    owner = own_scope(facts, maker_of(name)) if isinstance(field, Field) else None
    if owner is None or not isinstance(field, Field) or facts.symbols.scopes[owner].kind is not ScopeKind.CLASS:
        return None
    held = [_part_of(end, tuple(rest), through) for end in _of_class(facts, owner, field.name, through)]
    # What a call does not give a field is its default.
    return [end for end in held if end is not None] if isinstance(one.node, ast.Call) else held


def _references(facts: FileFacts, node: ast.expr, scope: int, through: Through) -> list[End] | None:
    if isinstance(node, ast.Name):
        return _of_name(facts, node, scope, through)
    if isinstance(node, ast.Attribute):
        return _of_attribute(facts, node, scope, through)
    if isinstance(node, ast.IfExp):
        return [Definition(node.body, scope), Definition(node.orelse, scope)]
    if isinstance(node, ast.BoolOp):
        return [Definition(value, scope) for value in node.values]
    if isinstance(node, ast.NamedExpr):
        return [Definition(node.value, scope)]
    if not isinstance(node, ast.Call) or Through.RESULTS not in through:
        return None
    returned = _given_back(facts, known_functions(facts, node.func, scope))
    if returned is not None:
        return [*returned]
    is_handed = Through.PARAMETERS in through and _may_be_handed(facts, node, scope)
    return [Definition(node.func, scope, (CALLED,))] if is_handed else None


def _of_name(facts: FileFacts, name: ast.Name, scope: int, through: Through) -> list[End] | None:
    owner = facts.resolver.owner(name.id, scope)
    if owner is None:
        return [None]
    bindings = reaching(facts, name.id, scope, name)
    if Through.CONTENTS in through and bindings and all(one.kind in _DECLARING for one in bindings):
        return None
    found = [end for one in bindings for end in _of_binding(facts, name.id, owner.index, one, through)]
    return [*found, None] if Through.CHANGES not in through and _is_changed(facts, owner.index, name.id) else found


@memoized
def _is_changed(facts: FileFacts, owner: int, name: str) -> bool:
    """Whether `x += y` changes a name of a scope."""
    return any(isinstance(one.statement, ast.AugAssign) for one in facts.symbols.scopes[owner].bindings[name])


def _of_binding(facts: FileFacts, name: str, owner: int, binding: Binding, through: Through) -> Iterator[End]:
    if binding.kind is BindingKind.PARAMETER:
        if Through.PARAMETERS in through:
            given = [(binding.value, binding.scope), *filter(None, arguments_for(facts, name, owner))]
            yield from (Definition(value, where) for value, where in given if value is not None)
        yield Parameter(owner, name)
    elif binding.kind is BindingKind.ELEMENT:
        for target, iterated in loops_of(facts, binding, owner, name):
            yield Definition(iterated, binding.scope, (EACH, *(place_in(target, name) or ())))
    elif binding.value is not None and binding.kind in (BindingKind.ASSIGN, BindingKind.PART):
        parts = (Item(binding.position),) if binding.kind is BindingKind.PART else ()
        yield Definition(binding.value, binding.scope, parts)
    else:
        yield None


def _of_attribute(facts: FileFacts, attribute: ast.Attribute, scope: int, through: Through) -> list[End] | None:
    if attribute_values(facts, attribute, scope) is not None:
        return _of_class(facts, facts.class_of(scope), attribute.attr, through) or [None]
    bound, made = facts.bindings(attribute.value, scope), facts.names(attribute.value, scope).only or ""
    annotation = bound[0].annotation if len(bound) == 1 else None
    if is_result(made):
        owner = own_scope(facts, maker_of(made))
    else:
        owner = None if annotation is None else own_scope(facts, facts.names(annotation, bound[0].scope).only or "")
    declared = list(_declared(facts, owner, attribute.attr, through))
    is_annotated = bool(declared) and any(one.annotation is not None for one in bound)
    if Through.CONTENTS in through and not is_annotated:
        return [Definition(attribute.value, scope, (Field(attribute.attr),))]
    return declared or None


def _of_class(facts: FileFacts, owner: int | None, name: str, through: Through) -> list[End]:
    """What the methods and the body of a class give an attribute of its objects."""
    if owner is None:
        return []
    own = next((one for one in lineage(facts, owner) if all_values_of(facts, one, name)), owner)
    if Through.CONTENTS not in through:
        return [*starmap(Definition, values_of(facts, own, name)), *_of_body(facts, owner, name, through)]
    others = [value for heir in heirs(facts, owner) for value in all_values_of(facts, heir, name)]
    others += stored_by_others(facts, name, {facts.full_name(one) for one in family_of(facts, owner)})
    declared = next(filter(None, (_of_body(facts, one, name, through) for one in lineage(facts, owner))), [])
    found = [*starmap(Definition, (*all_values_of(facts, own, name), *others)), *declared]
    return [one for one in found if not is_none(one)] or found


def _of_body(facts: FileFacts, owner: int, name: str, through: Through) -> list[End]:
    """What unpacking stores in an attribute, and what the body of the class gives it."""
    parts = [Definition(value, where, (Item(place),)) for value, where, place in parts_of(facts, owner, name)]
    return [*parts, *_declared(facts, owner, name, through)]


def _declared(facts: FileFacts, owner: int | None, name: str, through: Through) -> Iterator[End]:
    """What the body of a class gives an attribute; fields of dataclasses may be given others."""
    bindings = [] if owner is None else facts.symbols.scopes[owner].bindings.get(name, [])
    for binding in bindings:
        if binding.kind is BindingKind.ASSIGN and binding.value is not None:
            is_field = binding.annotation is not None
            if not is_field or Through.PARAMETERS in through:
                yield Definition(binding.value, binding.scope)
            if is_field:
                yield None


def _called(facts: FileFacts, one: Definition) -> list[End] | None:
    """What calling a function or an object gives, or what runs inside of it does."""
    moving = moved(one.node) or (wrapped_by(facts, one.node, one.scope) if isinstance(one.node, ast.Call) else None)
    if moving is not None:
        return [replace(one, node=moving)]
    returned = _given_back(facts, known_functions(facts, one.node, one.scope))
    return None if returned is None else [replace(value, parts=one.parts[1:]) for value in returned]


def _given_back(facts: FileFacts, functions: list[int]) -> list[Definition] | None:
    if not functions or not all(is_plain(facts, facts.symbols.scopes[function]) for function in functions):
        return None
    return [Definition(value, function) for function in functions for value in returned_values(facts, function)]


def _may_be_handed(facts: FileFacts, call: ast.Call, scope: int) -> bool:
    """Whether a call is of a function or an object that some caller gave: `self.model(images)`."""
    is_kept = isinstance(call.func, ast.Name) or is_own(call.func)
    names = names_called(facts, call.func, scope).names if is_kept else ()
    return is_kept and all((is_of_project(one) and is_result(one)) or is_wrapper(one) for one in names)
