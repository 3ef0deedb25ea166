"""What goes into a value: the draws that decide it, followed back through names, changes in place and functions.

What only depends on the size of a drawn value, or on how long work with it took, is not decided by the draw. A draw of
an order decides nothing about the single element that a loop takes; it decides about a slice.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

import msgspec

from torchlint.catalogue.load import load_orders
from torchlint.facts.callees import names_called
from torchlint.facts.calls import arguments_for, known_functions
from torchlint.facts.contents import gone_through, loops_of, place_in
from torchlint.facts.control.conditions import tests_around
from torchlint.facts.control.order import may_follow
from torchlint.facts.definitions import step_back
from torchlint.facts.file import FileFacts
from torchlint.facts.flow.values import EACH, Definition, Through
from torchlint.facts.functions import is_plain, own_scope, returned_values, yielded_values
from torchlint.facts.grouping import grouped
from torchlint.facts.notation import hangs_on_call, is_in, plain
from torchlint.facts.randomness.draws import Draw
from torchlint.facts.reaching import reaching
from torchlint.facts.scopes import Binding, BindingKind, ScopeKind
from torchlint.facts.tensors.methods import METADATA, method_named, only_describes
from torchlint.facts.tree import is_own, last_word, method_called

_ORDERLESS = frozenset(
    {
        *(f"builtins.{name}" for name in ("sorted", "set", "frozenset", "sum", "min", "max", "any", "all")),
        *("natsort.natsorted", "numpy.sort", "numpy.unique", "torch.unique", "collections.Counter"),
    }
)
"""What gives the same for any order of its elements."""
_MEASURING = re.compile(
    r"trac|export|script|flop|macs|profil|summary|bench|latency|time|memory|compile|quantiz|prun|convert|count|check|"
    r"assert|allclose|path|name|state_dict"
)
"""Words of functions whose result hardly depends on the values they are given: a model's weights are its own,
whatever it was tried on."""
_CALLED_LATER = frozenset({"forward", "__call__"})
"""Methods of modules: what they draw mostly depends on whether they train."""
_FILLING = frozenset({"append", "appendleft", "extend", "add", "insert", "update"})
_MANY = 64
"""A name that is bound more often is not followed: which of its values holds would take long to say."""
_Holder = tuple[int, str, type[ast.expr]]
"""The scope that owns a name, or the class that has an attribute; `box.rows` belongs to whoever owns `box`."""


class Steps(msgspec.Struct):
    """How far all questions about one file may still go: machine-written files save thousands of values."""

    left: int = 200_000


class Drawn(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What goes into the result of a function or of a call that saves."""

    symbol: str
    """The function that returns the result, or what the call stands in."""
    draws: tuple[Draw, ...]
    callees: tuple[str, ...]
    """The functions of other files that make a part of it, by full name."""


class Origins(msgspec.Struct):
    """Collects what goes into values of one file."""

    facts: FileFacts
    drawn: Mapping[ast.Call, Draw]
    """The calls of the file that draw values or an order."""
    steps: Steps
    draws: dict[Draw, None] = msgspec.field(default_factory=dict)
    callees: dict[str, None] = msgspec.field(default_factory=dict)
    """The functions of other files that make a part, by full name."""
    _seen: set[tuple[int, bool]] = msgspec.field(default_factory=set)

    def told(self, symbol: str) -> Drawn | None:
        """What goes into a result of a symbol; None where that is no draw."""
        is_any = self.draws or self.callees
        return Drawn(symbol, tuple(self.draws), tuple(self.callees)) if is_any else None

    def follow(self, node: ast.AST, scope: int, *, is_element: bool = False, keeping: ast.stmt | None = None) -> None:
        """Add what goes into `node`. `is_element`: it is one of many, whose order does not matter.

        `keeping` is a block in which elements are put down one after another, so that their order does.
        """
        self.steps.left -= 1
        is_described = isinstance(node, ast.Attribute) and node.attr in METADATA
        if is_described or isinstance(node, ast.Lambda) or self.steps.left < 0:
            return
        if isinstance(node, ast.Name):
            self._name(node, scope, is_element=is_element, keeping=keeping)
            return
        if isinstance(node, ast.Attribute):
            # What methods keep in `self.rows`, or another class in an object of its own.
            for one in step_back(self.facts, Definition(node, scope), Through.PARAMETERS) or ():
                if isinstance(one, Definition) and (id(one.node), is_element) not in self._seen:
                    self._seen.add((id(one.node), is_element))
                    self.follow(one.node, one.scope, is_element=is_element or EACH in one.parts, keeping=keeping)
            self._changed(node, scope, is_element=is_element, keeping=keeping)
        if isinstance(node, ast.Call):
            if self._called(node, scope, is_element=is_element):
                return
            is_reduced = method_called(node) in load_orders().reducing
            is_element = is_element or is_reduced or bool(self.facts.names(node.func, scope).names & _ORDERLESS)
        if isinstance(node, ast.Subscript):
            self.follow(node.value, scope, is_element=self._is_one_of_all(node, scope), keeping=keeping)
            self.follow(node.slice, scope, is_element=is_element, keeping=keeping)
            return
        for child in ast.iter_child_nodes(node):
            self.follow(child, scope, is_element=is_element, keeping=keeping)

    def _called(self, call: ast.Call, scope: int, *, is_element: bool) -> bool:
        """Add what a call brings in; whether its arguments bring in nothing."""
        self._drawn_by(call, is_element=is_element)
        names = names_called(self.facts, call.func, scope)
        word = last_word(call.func)
        is_told = method_named(word).describes or any(only_describes(name) for name in names.names)
        if is_told or "builtins.hasattr" in names.names or _MEASURING.search(word.lower()):
            return True
        functions = dict.fromkeys(known_functions(self.facts, call.func, scope))
        is_known = names.complete or len(names.callees) == 1  # one of many may draw, and not be the one that is called
        for name in map(plain, sorted(names.of_project)) if is_known else ():
            own = own_scope(self.facts, name)
            if own is not None and self.facts.symbols.scopes[own].kind is ScopeKind.FUNCTION:
                functions[own] = None
            elif not is_in(name, self.facts.path) and not hangs_on_call(name):
                self.callees[name] = None
        for function in functions:
            self._returned(function, is_element=is_element)
        return False

    def _drawn_by(self, call: ast.Call, *, is_element: bool) -> None:
        draw = self.drawn.get(call)
        if draw is not None and not (is_element and draw.makes == "order"):
            self.draws[draw] = None

    def _returned(self, function: int, *, is_element: bool) -> None:
        scope = self.facts.symbols.scopes[function]
        given = [*returned_values(self.facts, function)] if is_plain(self.facts, scope) else []
        given += yielded_values(self.facts, function)
        if (function, is_element) not in self._seen and scope.name not in _CALLED_LATER:
            self._seen.add((function, is_element))
            for value in given:
                self.follow(value, function, is_element=is_element)

    def _name(self, name: ast.Name, scope: int, *, is_element: bool, keeping: ast.stmt | None) -> None:
        owner = self.facts.resolver.owner(name.id, scope)
        if owner is None or len(owner.bindings[name.id]) > _MANY:
            return
        for binding in reaching(self.facts, name.id, scope, name):
            if (id(binding), is_element) not in self._seen:
                self._seen.add((id(binding), is_element))
                if binding.kind is BindingKind.PARAMETER:
                    for given in filter(None, arguments_for(self.facts, name.id, owner.index)):
                        self.follow(*given, is_element=is_element)
                else:
                    value = binding.value or self._gone_through(name.id, owner.index, binding)
                    self._bound(binding, value, is_element=is_element, keeping=keeping)
        self._changed(name, scope, is_element=is_element, keeping=keeping)

    def _changed(self, held: ast.expr, scope: int, *, is_element: bool, keeping: ast.stmt | None) -> None:
        """What is put into the object that a name or an attribute stands for."""
        for change in self.facts.cached(_changes).get(_holder(self.facts, held, scope), ()):
            key = (id(change), is_element)
            is_change = bool(change.parts) or change.call in self.drawn  # `print(rows)` leaves them as they are
            if is_change and may_follow(self.facts, change.statement, held) and key not in self._seen:
                self._seen.add(key)
                self._tested(change.statement)
                if change.call is not None:
                    self._drawn_by(change.call, is_element=is_element)
                for part in change.parts:
                    self.follow(part, change.scope, is_element=is_element, keeping=keeping)

    def _gone_through(self, name: str, owner: int, binding: Binding) -> ast.expr | None:
        """What one name of several is an element of: `for prompt, output in zip(prompts, outputs)`."""
        target, iterated = next(loops_of(self.facts, binding, owner, name), (None, None))
        if target is None or not isinstance(iterated, ast.Call):
            return None
        found = gone_through(self.facts, iterated, binding.scope, place_in(target, name) or ())
        return None if found is None else found[0]

    def _bound(self, binding: Binding, value: ast.expr | None, *, is_element: bool, keeping: ast.stmt | None) -> None:
        if value is None or binding.kind not in (BindingKind.ASSIGN, BindingKind.ELEMENT, BindingKind.PART):
            return
        statement = binding.statement
        if isinstance(statement, (ast.For, ast.AsyncFor)):
            is_element = not (keeping is not None and statement in ast.walk(keeping))
        elif statement is not None:
            self._tested(statement)
        self.follow(value, binding.scope, is_element=is_element, keeping=keeping)

    def _is_one_of_all(self, subscript: ast.Subscript, scope: int) -> bool:
        """Whether `x[...]` goes through all elements in turn: a slice of fixed bounds, or a fixed place, chooses."""
        for node in ast.walk(subscript.slice):
            bindings = self.facts.bindings(node, scope)
            is_counted = any(binding.kind is BindingKind.ELEMENT for binding in bindings)
            if isinstance(node, ast.Name) and (is_counted or not bindings):
                return True  # the variable of a loop, or of the comprehension around
        return not isinstance(subscript.slice, (ast.Slice, ast.Constant))

    def _tested(self, statement: ast.stmt) -> None:
        """A draw that decides whether a statement runs decides what it makes."""
        for test in tests_around(self.facts, statement):
            for node in ast.walk(test):
                if isinstance(node, ast.Call) and node in self.drawn:
                    self.draws[self.drawn[node]] = None


class _Change(msgspec.Struct, frozen=True, eq=False):
    """A statement that changes the object a name stands for: the call that does it, and what it puts in."""

    statement: ast.stmt
    scope: int
    call: ast.Call | None
    parts: tuple[ast.expr, ...]


def _holder(facts: FileFacts, held: ast.expr, scope: int) -> _Holder | None:
    is_of_another = isinstance(held, ast.Attribute) and isinstance(held.value, ast.Name) and not is_own(held)
    variable = facts.variable(held.value if is_of_another else held, scope)  # type: ignore[attr-defined]
    if variable is None:
        return None
    owner, name = variable
    return owner, f"{name}.{last_word(held)}" if is_of_another else name, type(held)


def _changes(facts: FileFacts) -> dict[_Holder | None, list[_Change]]:
    """The statements that change an object in place, by what holds it."""
    changes = _changes_in(facts)
    held = ((_holder(facts, one, change.scope), change) for one, change in changes)
    return grouped((holder, change) for holder, change in held if holder is not None)


def _changes_in(facts: FileFacts) -> Iterator[tuple[ast.expr, _Change]]:
    """`kept.append(x)` and `shuffle(items)` alone in their statements, `rows[i] = x`, `box.rows = x`, `total += x`."""
    for site in facts.symbols.calls:
        call = site.node
        if not site.is_alone:
            continue
        if isinstance(call.func, ast.Attribute):
            parts = tuple(call.args) if call.func.attr in _FILLING else ()
            yield call.func.value, _Change(site.statement, site.scope, call, parts)
        yield from ((argument, _Change(site.statement, site.scope, call, ())) for argument in call.args[:1])
    for stored in facts.symbols.assignments:
        target, value = stored.target, stored.value
        if value is not None and isinstance(target, ast.Subscript):
            yield target.value, _Change(stored.statement, stored.scope, None, (value, target.slice))
        elif value is not None and not is_own(target):
            yield target, _Change(stored.statement, stored.scope, None, (value,))
    for store in facts.symbols.assign_sites:
        if isinstance(store.node, ast.AugAssign):
            yield store.node.target, _Change(store.node, store.scope, None, (store.node.value,))
