"""Whom a call runs, and with what: the functions of a file that a call may run, and which argument each parameter gets.

A function is found through names, choices, attributes of `self`, bases, `super()`, partials and functions that make
functions; and where it is handed to what runs it (`Process(target=work, args=(model,))`, `pool.map(load, paths)`).
"""

from __future__ import annotations

import ast
import enum
from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from torchlint.catalogue.load import load_values
from torchlint.facts.classes import attribute_values, inherited_method, is_module_class, method_of, own_class
from torchlint.facts.full_names import Callee
from torchlint.facts.functions import (
    choices,
    decorators_of,
    is_method,
    is_plain,
    own_scope,
    parameters_by_keyword,
    positional_parameters,
    returned_values,
)
from torchlint.facts.grouping import grouped
from torchlint.facts.memoizing import followed
from torchlint.facts.moves import moved
from torchlint.facts.notation import Def, Member, Part, Result, is_result, maker_of, reference, result_of, root_of
from torchlint.facts.scopes import BindingKind, CallSite, Scope, ScopeKind
from torchlint.facts.tree import is_of_own, is_self, is_super
from torchlint.facts.values import Arguments, arguments_of, handed_arguments, handed_function, starter_of

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

Given = tuple[ast.expr, int]
"""An argument, and the scope that it is evaluated in."""

_MANY = 4
"""A name that is bound more often is not followed."""


class Way(enum.Enum):
    """How a call runs a function."""

    CALLED = "called"
    MADE = "made"
    """It makes an object, whose `__init__` runs."""
    STARTED = "started"
    """It hands the function to something that runs it: a process, a thread, a pool, `map`."""


class Target(msgspec.Struct, frozen=True):
    """A function of the file that runs, and what it is given."""

    function: Scope
    way: Way = Way.CALLED
    skipped: int = 0
    """The first parameters get what no argument says: the object of a method."""
    positional: tuple[Given | None, ...] = ()
    keywords: tuple[tuple[str | None, Given], ...] = ()

    def given(self, arguments: Arguments, scope: int) -> Target:
        """The same function, given more arguments."""
        positional, keywords = arguments
        return replace(
            self,
            positional=(*self.positional, *(None if one is None else (one, scope) for one in positional)),
            keywords=(*self.keywords, *((name, (one, scope)) for name, one in keywords)),
        )

    @property
    def is_open(self) -> bool:
        """Whether `*args` or `**kwargs` may give it more than is seen."""
        return self._is_starred(len(self.positional)) or any(name is None for name, _ in self.keywords)

    @property
    def unfilled(self) -> list[str]:
        """The parameters that are left to be filled by position."""
        return positional_parameters(self.function)[self.skipped + len(self.positional) :]

    def argument(self, parameter: str) -> Given | None:
        """What a parameter is given; None where it is left out, or not seen."""
        named = next((given for name, given in reversed(self.keywords) if name == parameter), None)
        if named is not None and parameter in parameters_by_keyword(self.function):
            return named
        names = positional_parameters(self.function)
        place = names.index(parameter) - self.skipped if parameter in names else -1
        is_seen = 0 <= place < len(self.positional) and not self._is_starred(place)
        return self.positional[place] if is_seen else None

    def parameter_of(self, argument: ast.expr) -> str | None:
        """The parameter that gets an argument; None where that is not certain."""
        for name, (given, _) in self.keywords:
            if given is argument:
                return name if name in parameters_by_keyword(self.function) else None
        place = next((i for i, one in enumerate(self.positional) if one is not None and one[0] is argument), None)
        names = positional_parameters(self.function)
        if place is None or self._is_starred(len(self.positional) - 1) or place + self.skipped >= len(names):
            return None
        return names[place + self.skipped]

    def parameter_at(self, place: int | str) -> str | None:
        """The parameter that takes an argument, by its position among the written ones or its keyword."""
        if isinstance(place, str):
            return place if place in parameters_by_keyword(self.function) else None
        left = self.unfilled
        return left[place] if place < len(left) else None

    def _is_starred(self, last: int) -> bool:
        """Whether `*args` fills an unknown number of parameters up to a place."""
        return any(one is not None and isinstance(one[0], ast.Starred) for one in self.positional[: last + 1])


# -- what an expression stands for ------------------------------------------------------------------------------------


def functions_of(facts: FileFacts, expression: ast.expr, scope: int) -> tuple[Target | None, ...]:
    """The functions of this file that run when an expression is called; None stands for one that is not known."""
    names = facts.names(expression, scope)
    is_unknown = isinstance(expression, ast.Attribute) and not names.callees and not is_of_own(expression)
    is_of_other = names.is_of_library or is_unknown
    return (None,) if is_of_other else _functions_of(facts, expression, scope)  # most calls


@followed(otherwise=(None,))
def _functions_of(facts: FileFacts, expression: ast.expr, scope: int) -> tuple[Target | None, ...]:
    if isinstance(expression, ast.IfExp):
        return tuple(one for choice in choices(expression) for one in functions_of(facts, choice, scope))
    if isinstance(expression, ast.Lambda):
        return (Target(facts.index.inner_scopes[expression]),)
    if is_self(expression):
        return (_instance(facts, facts.class_of(scope)),)
    made = own_class(facts, expression, scope)
    if made:
        return (function_named(facts, made),)
    if isinstance(expression, ast.Attribute):
        found = _attribute(facts, expression, scope)
        if found is not None:
            return found
    names = facts.names(expression, scope)
    known = tuple(_named(facts, callee) for callee in names.callees if not is_wrapper(callee.name))
    if names.complete and known and None not in known:
        return known
    # What has no name of its own: the function that a call makes, a lambda under a name, an entry of a table.
    if isinstance(expression, ast.Call):
        found = _made_by(facts, expression, scope)
    else:
        held = _held(facts, expression, scope)
        found = tuple(one for value, where in held for one in functions_of(facts, value, where))
    return tuple(dict.fromkeys((*known, *found))) or (None,)


def _attribute(facts: FileFacts, expression: ast.Attribute, scope: int) -> tuple[Target | None, ...] | None:
    """What `self.part`, `self.step` or `super().step` runs; None where it is another attribute."""
    if is_super(expression.value):
        owner = facts.class_of(scope)
        return (_bound(facts, None if owner is None else inherited_method(facts, owner, expression.attr)),)
    values = attribute_values(facts, expression, scope)
    if values is None:
        return None
    if not values:
        return (_bound(facts, method_of(facts, facts.class_of(scope), expression.attr)),)
    held = [(choice, where) for value, where in values for choice in choices(value)]
    return tuple(one for choice, where in held for one in functions_of(facts, choice, where))


def _named(facts: FileFacts, callee: Callee) -> Target | None:
    """What a name of this file means when it is called, after the arguments that partials give."""
    found = function_named(facts, callee.name)
    for partial in reversed(callee.partial):
        if found is None or partial not in facts.index.parents:
            return None
        found = found.given(arguments_of(partial, after=1), facts.index.scope_of(partial))
    return found


def function_named(facts: FileFacts, name: str) -> Target | None:
    """The function of this file that a full name means when it is called; for a class, its `__init__`."""
    owner = own_scope(facts, root_of(name))
    is_class = owner is not None and facts.symbols.scopes[owner].kind is ScopeKind.CLASS
    match reference(name):
        case Result(Def()):
            return _instance(facts, owner) if is_class else None
        case Member(Result(Def()), method):  # what a function returns is not told by its name
            return _bound(facts, method_of(facts, owner, method)) if owner is not None and is_class else None
        case Result() | Member() | Part():
            return None
    if is_class:
        made_by = _bound(facts, method_of(facts, owner, "__init__"))
        return None if made_by is None else replace(made_by, way=Way.MADE)
    function = None if owner is None else facts.symbols.scopes[owner]
    if function is None or function.kind is not ScopeKind.FUNCTION:
        return None
    takes_class = is_method(facts, function) and "builtins.classmethod" in decorators_of(facts, function)
    return Target(function, skipped=int(takes_class))


def _instance(facts: FileFacts, owner: int | None) -> Target | None:
    """What calling an object of a class runs."""
    name = "forward" if is_module_class(facts, owner) else "__call__"
    return _bound(facts, method_of(facts, owner, name))


def _bound(facts: FileFacts, method: int | None) -> Target | None:
    """A method that is read from an object."""
    function = None if method is None else facts.symbols.scopes[method]
    if function is None or function.kind is not ScopeKind.FUNCTION:
        return None
    return Target(function, skipped=int("builtins.staticmethod" not in decorators_of(facts, function)))


def _made_by(facts: FileFacts, call: ast.Call, scope: int) -> tuple[Target | None, ...]:
    """What calling the result of a call runs, where a function of this file makes it and returns nothing else."""
    inner = moved(call) or wrapped_by(facts, call, scope)
    if inner is not None:
        return functions_of(facts, inner, scope)
    found: list[Target | None] = []
    for maker in functions_of(facts, call.func, scope):
        if maker is None or maker.way is not Way.CALLED or not is_plain(facts, maker.function):
            found.append(None)
            continue
        values = returned_values(facts, maker.function.index)
        found += functions_of(facts, values[0], maker.function.index) if len(values) == 1 else [None]
    return tuple(found)


def wrapped_by(facts: FileFacts, call: ast.Call, scope: int) -> ast.expr | None:
    """`net` in `nn.DataParallel(net)`: the module that runs when what the call makes is called."""
    wraps = bool(call.args) and is_wrapper(result_of(facts.names(call.func, scope).only or ""))
    return call.args[0] if wraps else None


def is_wrapper(name: str) -> bool:
    """Whether a full name is an object that runs the module it was given."""
    return is_result(name) and maker_of(name) in load_values().wrapping


def _held(facts: FileFacts, expression: ast.expr, scope: int) -> Iterator[Given]:
    """What a name is bound to; the entries of a table, of which one is picked."""
    table = expression.value if isinstance(expression, ast.Subscript) else expression
    values = attribute_values(facts, table, scope)
    if values is None and isinstance(table, ast.Name):
        bindings = facts.bindings(table, scope)
        is_followed = len(bindings) < _MANY and all(binding.kind is BindingKind.ASSIGN for binding in bindings)
        values = [(b.value, b.scope) for b in bindings if b.value is not None] if is_followed else []
    for value, where in values or ():
        if table is expression and not isinstance(value, ast.Name):  # names bound to names are resolved by then
            yield value, where
        elif isinstance(value, ast.Dict):
            yield from ((entry, where) for entry in value.values)


# -- what a call runs -------------------------------------------------------------------------------------------------


def targets(facts: FileFacts, call: ast.Call, scope: int) -> list[Target]:
    """The functions of this file that a call may run, itself or by what it starts, and what they are given."""
    called = [one.given(arguments_of(call), scope) for one in functions_of(facts, call.func, scope) if one is not None]
    return [*called, *started(facts, call, scope)]


def known_functions(facts: FileFacts, expression: ast.expr, scope: int) -> list[int]:
    """The functions of this file that an expression stands for when it is called; empty where it may be another."""
    found = functions_of(facts, expression, scope)
    is_known = all(one and one.way is Way.CALLED and one.function.kind is ScopeKind.FUNCTION for one in found)
    return [one.function.index for one in found if one is not None] if is_known else []


def started(facts: FileFacts, call: ast.Call, scope: int) -> list[Target]:
    """The functions of this file that a call hands to processes, threads or `map`, with what these give them."""
    starter = starter_of(facts, call, scope)
    function = None if starter is None else handed_function(starter, call)
    if starter is None or function is None:
        return []
    found = (one for one in functions_of(facts, function, scope) if one is not None)
    return [replace(one.given(handed_arguments(starter, call), scope), way=Way.STARTED) for one in found]


def called_at(facts: FileFacts, function: Scope, parameter: str) -> int | None:
    """The place of a parameter among the arguments of a call, which does not write a method's object."""
    names = positional_parameters(function)
    skipped = _bound(facts, function.index) if is_method(facts, function) else None
    return names.index(parameter) - (skipped.skipped if skipped else 0) if parameter in names else None


def callers(facts: FileFacts, function: int) -> list[tuple[CallSite, Target]]:
    """The calls in this file that may run one of its functions, and what each gives it."""
    return facts.cached(_callers).get(function, [])


def arguments_for(facts: FileFacts, parameter: str, function: int | None) -> list[Given | None]:
    """What each call in this file gives for a parameter; None where it leaves it out, or it is not seen."""
    return [] if function is None else [target.argument(parameter) for _, target in callers(facts, function)]


def _callers(facts: FileFacts) -> dict[int, list[tuple[CallSite, Target]]]:
    known = facts.resolver.table.starters
    sites = (site for site, names in facts.calls.named if not names.is_of_library or names.only in known)  # the fewest
    run = ((site, target) for site in sites for target in targets(facts, site.node, site.scope))
    return grouped((target.function.index, (site, target)) for site, target in run)
