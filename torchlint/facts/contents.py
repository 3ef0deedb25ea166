"""What containers and objects hold, made with or put into them later; what loops over them give to a name."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from torchlint.catalogue.load import load_containers
from torchlint.facts.classes import dataclass_fields
from torchlint.facts.control.conditions import tests_around
from torchlint.facts.control.order import dominates, may_follow
from torchlint.facts.flow.values import EACH, Content, Field, Item, Path, fits
from torchlint.facts.grouping import grouped
from torchlint.facts.notation import hangs_on_call, maker_of
from torchlint.facts.reaching import reaching
from torchlint.facts.scopes import Binding, Variable
from torchlint.facts.tree import is_main_guard, is_own
from torchlint.facts.values import argument_of

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

Part = tuple[ast.expr, int, Path]
"""An expression, the scope it is evaluated in, and what leads to a value in it."""

_MOST = 100
"""Statements that are looked at for one read; machine-written files have thousands."""


class _Put(msgspec.Struct, frozen=True):
    """What puts a value into what a variable holds: `run["seed"] = 7`, `run.seed = 7`, `parts.append(x)`."""

    target: ast.expr
    holder: ast.expr
    path: Path
    value: ast.expr
    scope: int
    is_spread: bool = False
    """It puts in the entries of the value."""


def taken_from(facts: FileFacts, node: ast.expr, scope: int, parts: Path) -> list[Part] | None:
    """What an entry is that an expression reads, or is made with; None where it does not tell."""
    if isinstance(node, ast.Subscript):
        if isinstance(node.slice, ast.Slice):
            return None
        number = facts.value(node.slice, scope).only(int) if isinstance(node.slice, ast.UnaryOp) else None
        return [(node.value, scope, (Item.at(node.slice) if number is None else Item(number), *parts))]
    if isinstance(node, (ast.ListComp, ast.GeneratorExp, ast.DictComp)) and parts:
        inner, element = facts.index.inner_scopes[node], node.value if isinstance(node, ast.DictComp) else node.elt
        return [(element, inner.index, parts[1:])]
    return _of_call(facts, node, scope, parts) if isinstance(node, ast.Call) else None


def picked(display: ast.expr, scope: int, parts: Path) -> list[Part] | None:
    """An entry of what is written out; None where it may be any."""
    place, rest = parts[0], parts[1:]
    if not isinstance(place, Item):
        return []
    if isinstance(display, ast.Dict):
        pairs = zip(display.keys, display.values, strict=True)
        near = ((key, value) for key, value in pairs if key is None or fits(Item.at(key), place))
        return [(value, scope, parts if key is None else rest) for key, value in near]
    assert isinstance(display, (ast.Tuple, ast.List, ast.Set))
    if any(isinstance(element, ast.Starred) for element in display.elts):
        return None
    if place == EACH or isinstance(display, ast.Set):
        return [(element, scope, rest) for element in display.elts]
    is_inside = isinstance(place.key, int) and -len(display.elts) <= place.key < len(display.elts)
    return [(display.elts[place.key], scope, rest)] if is_inside else []  # type: ignore[index]


def _of_call(facts: FileFacts, call: ast.Call, scope: int, parts: Path) -> list[Part] | None:
    name, words = facts.names(call.func, scope).only or "", load_containers()
    if isinstance(call.func, ast.Attribute) and (hangs_on_call(name) or "." not in name):
        if call.func.attr in words.taking and call.args:
            defaults = [(one, scope, parts) for one in call.args[1:]]
            return [(call.func.value, scope, (Item.at(call.args[0]), *parts)), *defaults]
        if call.func.attr in words.copying and not call.args:
            return [(call.func.value, scope, parts)]
    if not parts:
        return None
    if name in words.mappings or name in words.objects:
        key = parts[0].key if isinstance(parts[0], Item) else getattr(parts[0], "name", None)
        named = [(one.value, scope, parts[1:]) for one in call.keywords if one.arg == key]
        is_open = any(one.arg is None for one in call.keywords)
        return named or (None if is_open else [(one, scope, parts) for one in call.args])
    if name in words.passing or name in words.flattening:
        inside = (EACH,) if name in words.flattening else ()
        return [(one, scope, (*inside, *parts)) for one in call.args[:1]]
    field, fields = getattr(parts[0], "name", ""), dataclass_fields(facts, name)
    given = argument_of(call, field, fields.index(field)) if field in fields else None
    return None if given is None else [(given, scope, parts[1:])]


def put_into(facts: FileFacts, holder: ast.expr, scope: int, parts: Path) -> tuple[tuple[Part, ...], bool] | None:
    """What statements put under a path of what a variable holds, before it is read there; None where too many may.

    With it comes whether that writes over what the container was made with.
    """
    variable, puts = facts.variable(holder, scope), facts.cached(_puts)
    near = (None,) if parts[0] == EACH else dict.fromkeys((parts[0], EACH))
    around = [one for key in near for one in puts.get((variable, key), ()) if len(one.path) <= len(parts)]
    leading = [one for one in around if all(map(fits, one.path, parts))]
    if len(leading) > _MOST:
        return None
    found = [one for one in leading if _may_be_read(facts, one, holder, scope)]
    sure = [one for one in found if EACH not in one.path and not one.is_spread and _is_settled(facts, one, holder)]
    if sure:
        last = max(sure, key=lambda one: one.target.lineno)
        found = [last, *(one for one in found if one not in sure and may_follow(facts, last.target, one.target))]
    read = tuple((one.value, one.scope, (*_spread(one, parts), *parts[len(one.path) :])) for one in found)
    return read, bool(sure)


def stored_by_others(facts: FileFacts, name: str, classes: set[str]) -> list[tuple[ast.expr, int]]:
    """What code stores under an attribute of objects that may be of some classes, not by `self`."""
    found = facts.cached(_by_field).get(name, ())
    made = [(one, maker_of(facts.names(one.holder, one.scope).only or "")) for one in found]
    return [(one.value, one.scope) for one, owner in made if owner in classes or not owner]


def _by_field(facts: FileFacts) -> dict[str, list[_Put]]:
    first = ((put.path[0], put) for put in _assigned(facts) if len(put.path) == 1)
    return grouped((content.name, put) for content, put in first if isinstance(content, Field))


def _spread(put: _Put, parts: Path) -> Path:
    """Where the entry lies in a container whose entries are put in: under its key, or at another place."""
    asked = parts[len(put.path) - 1] if put.is_spread else None
    return () if asked is None else (asked if isinstance(getattr(asked, "key", None), str) else EACH,)


def _may_be_read(facts: FileFacts, put: _Put, holder: ast.expr, scope: int) -> bool:
    """Whether the same object is read, after it was changed."""
    if not isinstance(holder, ast.Name):
        return True
    assert isinstance(put.holder, ast.Name)
    before = reaching(facts, holder.id, put.scope, put.holder)
    after = reaching(facts, holder.id, scope, holder)
    is_same = any(one is other for one in before for other in after)
    return is_same and (holder not in facts.index.parents or may_follow(facts, put.target, holder))


def _is_settled(facts: FileFacts, put: _Put, holder: ast.expr) -> bool:
    """Whether the statement has run whenever the container is read."""
    if holder not in facts.index.parents:
        return False
    own, other = (facts.index.statement_of(one) for one in (put.target, holder))
    homes = [facts.function_of(facts.symbols.scope_of[one]) for one in (own, other)]
    if homes[0] == homes[1]:
        return dominates(facts, own, other)
    return homes[0] is None and all(is_main_guard(test) for test in tests_around(facts, own))


def _puts(facts: FileFacts) -> dict[tuple[Variable | None, Content | None], list[_Put]]:
    """By the variable and the first content of it; under None, all that is put into the variable."""
    held = ((facts.variable(put.holder, put.scope), put) for put in (*_assigned(facts), *_added(facts)))
    known = ((variable, put) for variable, put in held if variable is not None)
    return grouped(((variable, key), put) for variable, put in known for key in (put.path[0], None))


def _assigned(facts: FileFacts) -> Iterator[_Put]:
    for one in facts.symbols.assignments:
        if one.value is not None and not is_own(one.target):
            holder, path = _held_by(one.target)
            yield _Put(one.target, holder, path, one.value, one.scope)


def _added(facts: FileFacts) -> Iterator[_Put]:
    words = load_containers()
    for store in facts.symbols.assign_sites:
        if isinstance(store.node, ast.AugAssign) and isinstance(store.node.op, ast.Add):  # `parts += [x]`
            holder, path = _held_by(store.node.target)
            yield _Put(store.node.target, holder, (*path, EACH), store.node.value, store.scope, is_spread=True)
    for site in facts.symbols.calls:
        function, given = site.node.func, site.node.args
        if not isinstance(function, ast.Attribute):
            continue
        place, (holder, path) = words.adding.get(function.attr), _held_by(function.value)
        if place is not None and place < len(given):
            key = Item.at(given[0]) if function.attr == "setdefault" else EACH
            yield _Put(site.node, holder, (*path, key), given[place], site.scope)
        elif function.attr in words.extending:
            for one in given:
                yield _Put(site.node, holder, (*path, EACH), one, site.scope, is_spread=True)
            for named in site.node.keywords:
                yield _Put(site.node, holder, (*path, Item(named.arg)), named.value, site.scope, named.arg is None)


def _held_by(target: ast.expr) -> tuple[ast.expr, Path]:
    """The variable that a target lies in, and what leads to it there."""
    path: list[Content] = []
    while isinstance(target, (ast.Attribute, ast.Subscript)) and not is_own(target):
        path.insert(0, Field(target.attr) if isinstance(target, ast.Attribute) else Item.at(target.slice))
        target = target.value
    return target, tuple(path)


_PASSING = frozenset({"tqdm", "trange", "iter", "islice", "track", "list", "tuple", "sorted", "reversed"})
"""Functions that give the elements of their first argument as they are, by their last names."""


def loops_of(facts: FileFacts, binding: Binding, owner: int, name: str) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The target and what is gone through, of the loop or the comprehension that binds a name."""
    loop = binding.statement if isinstance(binding.statement, (ast.For, ast.AsyncFor)) else None
    # The owner is a comprehension, or else binds by a statement.
    around = getattr(facts.symbols.scopes[owner].node, "generators", () if loop is None else (loop,))
    yield from ((one.target, one.iter) for one in around if place_in(one.target, name) is not None)


def place_in(target: ast.expr, name: str) -> Path | None:
    """The positions that lead to a name in a target: 1, 0 for `x` in `i, (x, y)`; None where it is not there."""
    if isinstance(target, ast.Name):
        return () if target.id == name else None
    for position, element in enumerate(target.elts if isinstance(target, (ast.Tuple, ast.List)) else ()):
        inner = place_in(element, name)
        if inner is not None:
            return (Item(position), *inner)
    return None


def gone_through(facts: FileFacts, iterated: ast.Call, scope: int, parts: Path) -> tuple[ast.expr, Path] | None:
    """What `enumerate(x)`, `zip(x, y)` or `tqdm(x)` takes a part of an element from, and the part of its own."""
    last = (facts.names(iterated.func, scope).only or "").rpartition(".")[2]
    given = iterated.args
    if not given or any(isinstance(argument, ast.Starred) for argument in given):
        return None
    if last in _PASSING:
        return given[0], parts
    place = parts[0].key if parts and isinstance(parts[0], Item) else None
    if last == "enumerate" and place == 1:
        return given[0], parts[1:]
    if last == "zip" and isinstance(place, int) and place < len(given):
        return given[place], parts[1:]
    return None


def entries_gone_through(iterated: ast.Call, parts: Path) -> tuple[ast.expr, Path] | None:
    """The table that `x.values()` or the second part of `x.items()` takes an entry from, and the part of that."""
    if iterated.args or not isinstance(iterated.func, ast.Attribute):
        return None
    if iterated.func.attr == "values":
        return iterated.func.value, parts
    is_value = iterated.func.attr == "items" and parts[:1] == (Item(1),)
    return (iterated.func.value, parts[1:]) if is_value else None
