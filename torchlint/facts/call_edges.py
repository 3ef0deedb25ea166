"""Who calls whom: from the code of one file to the project's functions and classes."""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from types import EllipsisType

import msgspec
from msgspec.structs import replace

from torchlint.catalogue.programs import Loading, Starter
from torchlint.facts.callees import Holder, holder_of
from torchlint.facts.control.order import Moment, moment_of
from torchlint.facts.definitions import REFERRING
from torchlint.facts.differentiation import Passing, carried_by, passing_of
from torchlint.facts.entries import is_test
from torchlint.facts.file import FileFacts
from torchlint.facts.full_names import Names
from torchlint.facts.functions import decorators_of
from torchlint.facts.grouping import grouped
from torchlint.facts.memoizing import memoized
from torchlint.facts.namespaces import IMPORTING, TAKING
from torchlint.facts.notation import is_in, last_part
from torchlint.facts.objects import called_by, objects_of, project_names
from torchlint.facts.options.demands import Demand, demands_on
from torchlint.facts.places import Place, place_of
from torchlint.facts.registries import registrations
from torchlint.facts.scopes import Binding, BindingKind, CallSite, ScopeKind
from torchlint.facts.tree import is_own, last_word, nodes_in
from torchlint.facts.values import Arguments, Constant, all_given, argument_of, handed_arguments, handed_function
from torchlint.facts.watch import Watch

Argument = Constant | EllipsisType
"""A literal argument; `...` stands for one that is not a literal."""

_UNSEEN: Arguments = ((), ((None, ast.Constant(...)),))
"""`**` of something."""
_ANY: tuple[int | str, ...] = ("*",)
"""Whatever a function is given by what it is handed to."""
_PROPERTIES = frozenset({"builtins.property", "functools.cached_property"})
_BLANK = r"(?:\s|\\|#[^\n]*\n)*"
_OWN_ATTRIBUTE = re.compile(rf"\bself\b{_BLANK}\.{_BLANK}(\w+)")
"""As code writes it, be it over several lines."""
_MAY_BE_LITERAL = (ast.Constant, ast.UnaryOp, *REFERRING)
_GIVING_CODE = frozenset({"torch.compile", "functools.partial", "builtins.eval", "builtins.getattr", *IMPORTING})
"""Calls that may give a function or class; of others, only what picks from a table may."""
_IN_WORKERS = "worker_init_fn"
"""What data loaders call in processes of their own alone, whoever hands it on."""


class Edge(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A call of project code from `symbol`, or (`is_reference`) a mention of it that somebody else may call."""

    symbol: str
    callee: str
    number: int = -1
    """Among the edges of the symbol's calls, by which its details are known (`CallDetails`)."""
    is_reference: bool = False
    is_loading: bool = False
    """Data sets and loaders run it when they are iterated, maybe in worker processes."""
    starter: str = ""
    """What runs the callee in a fresh interpreter, which has none of the caller's generators."""
    worker: str = ""
    """What runs the callee in worker processes, where Python's `random` is seeded anew."""
    is_cached: bool = False
    """A second run on the same machine takes what the first has kept."""
    passing: Passing = Passing.NOTHING
    """What the call passes on of gradients."""
    objects: tuple[tuple[int | str, str], ...] = ()
    """The arguments that are objects of the project (facts/objects.py)."""
    holder: Holder | None = None
    """What holds the object whose method is called; `callee` is the method's name alone."""


class CallDetails(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Where a call stands, when it runs, and what it hands on.

    Arguments are given by position and keyword; `"*"` stands for `*args` and `**kwargs`.
    """

    place: Place | None = None
    moment: Moment | None = None
    literals: tuple[tuple[int | str, Constant], ...] = ()
    others: tuple[int | str, ...] = ()
    """The arguments that are no literals."""
    carried: tuple[int | str, ...] = ()
    """The arguments that may carry a gradient."""
    demands: tuple[Demand, ...] = ()
    """What options and parameters have to be for the call to run."""

    @property
    def arguments(self) -> dict[int | str, Argument]:
        """`f(x, 2, mode="sum")` gives `{0: ..., 1: 2, "mode": "sum"}`."""
        return {**dict.fromkeys(self.others, ...), **dict(self.literals)}


class _CallEdge(msgspec.Struct):
    """An edge of one call, and what that gives to what the edge leads to; None for what is not seen to be called."""

    edge: Edge
    given: Arguments | None = None
    is_handed: bool = False
    """Whether it leads to an argument of the call."""


@memoized
def edges_of(facts: FileFacts, watch: Watch) -> tuple[Edge, ...]:
    """The calls of project code in a file."""
    numbers, edges = Counter[str](), list[Edge]()
    for site, names in facts.calls.named:
        for one in _call_edges(facts, site, names, watch):
            edges.append(replace(one.edge, number=numbers[one.edge.symbol]))
            numbers[one.edge.symbol] += 1
    return tuple(edges)


def call_details(facts: FileFacts, watch: Watch, symbol: str) -> Iterator[CallDetails]:
    """What the calls of one symbol hand on, in the same order: few are asked."""
    is_for_tests = is_test(facts.path)
    for site in facts.cached(_calls_by_symbol).get(symbol, ()):
        for one in _call_edges(facts, site, facts.names(site.node.func, site.scope), watch):
            carries = one.edge.passing >= Passing.CARRIED
            yield CallDetails(
                place_of(facts, site.node, site.statement),
                moment_of(facts, site.statement),
                *_arguments(facts, one.given, site.scope),
                carried=_ANY if one.is_handed else carried_by(facts, site) if carries else (),
                demands=() if one.edge.is_reference or is_for_tests else demands_on(facts, site.statement, site.scope),
            )


def _calls_by_symbol(facts: FileFacts) -> dict[str, list[CallSite]]:
    return grouped((facts.symbol_of(site), site) for site in facts.symbols.calls)


def _call_edges(facts: FileFacts, site: CallSite, names: Names, watch: Watch) -> Iterator[_CallEdge]:
    """The edges of one call: a function that is handed to what starts functions, or to project code, is called too."""
    called, mentioned = list(called_by(facts, site, names)), list(_mentioned(facts, site))
    holder = None if called or names.callees or is_test(facts.path) else holder_of(facts, site)
    if not called and not mentioned and holder is None:
        return  # most calls
    symbol = facts.symbol_of(site)
    starter = facts.resolver.table.starters.get(names.only or "")
    is_started = (
        bool(called) or (starter is not None and not starter.cached) or bool(names.names & watch.command_decorators)
    )
    passing = Passing.RECORDED if is_started or holder is not None else Passing.NOTHING
    is_made = symbol.endswith(".__init__")  # where modules are made, there is no tensor yet
    callees = [*(name for name, _ in called), *(name for _, name in mentioned)]
    # What tests hand to other files says nothing of how those are used.
    counts = not is_test(facts.path) or any(is_in(name, facts.path) for name in callees)
    if passing and counts and not is_made:
        passing = passing_of(facts, site)
    is_of_another = any(not is_in(name, facts.path) for name, _ in called)
    objects = tuple(_objects(facts, site)) if is_of_another and not is_test(facts.path) else ()
    for callee, given in called:  # a large project calls few of its functions
        yield _CallEdge(Edge(symbol, sys.intern(callee), passing=passing, objects=objects), given)
    if holder is not None and isinstance(site.node.func, ast.Attribute):
        yield _CallEdge(Edge(symbol, site.node.func.attr, passing=passing, holder=holder))
    for argument, callee in mentioned:
        is_loading = _is_for_loading(site.node, argument, names, watch.loading)
        is_later = is_loading or _keyword(site.node, argument) == _IN_WORKERS
        if is_started and not is_later and _is_function(callee):
            yield _handed(facts, site, starter, argument, Edge(symbol, callee, passing=passing))
        else:
            mention = Edge(symbol, callee, is_reference=True, is_loading=is_loading, passing=passing)
            yield _CallEdge(_in_worker(facts, site, starter, mention), is_handed=True)


def _objects(facts: FileFacts, site: CallSite) -> Iterator[tuple[int | str, str]]:
    given = [*enumerate(site.node.args), *((one.arg, one.value) for one in site.node.keywords)]
    for key, value in given:
        if key is not None and isinstance(value, (ast.Name, ast.Attribute, ast.Call)):
            yield from ((key, name) for name in objects_of(facts, value, site.scope))


def _mentioned(facts: FileFacts, site: CallSite) -> Iterator[tuple[ast.expr, str]]:
    """The project's functions and classes that a call is given."""
    for argument in all_given(site.node):
        owner = facts.resolver.owner(argument.id, site.scope) if isinstance(argument, ast.Name) else None
        is_data = owner is not None and not _may_be_code(facts, owner.index, last_word(argument))
        maker = facts.names(argument.func, site.scope).only if isinstance(argument, ast.Call) else None
        if not is_data and (isinstance(argument, (ast.Name, ast.Attribute)) or maker == "functools.partial"):
            for callee in project_names(facts, argument, facts.names(argument, site.scope), site.scope):
                yield argument, callee


def _keyword(call: ast.Call, argument: ast.expr) -> str | None:
    return next((one.arg for one in call.keywords if one.value is argument), None)


def _is_for_loading(call: ast.Call, argument: ast.expr, names: Names, loading: Loading) -> bool:
    """Whether a data set or a loader is handed what it runs for each sample or batch."""
    if _keyword(call, argument) in loading.arguments:
        is_own_class = any(not _is_function(name) for name in names.of_project)
        return is_own_class or any(name.startswith(loading.modules) for name in names.names)
    place = loading.positions.get(names.only or "", len(call.args))
    return place < len(call.args) and call.args[place] is argument


def _handed(facts: FileFacts, site: CallSite, starter: Starter | None, argument: ast.expr, edge: Edge) -> _CallEdge:
    """The edge to a function that a call hands to what runs it, with what that gives."""
    is_run = starter is not None and argument is handed_function(starter, site.node)
    given = handed_arguments(starter, site.node) if is_run and starter is not None else _UNSEEN
    # It may start fresh interpreters: a start method that is given may be another.
    is_fresh = starter is not None and starter.fresh and all(one.arg != "start_method" for one in site.node.keywords)
    fresh = ast.unparse(site.node.func) if is_fresh else ""
    return _CallEdge(replace(_in_worker(facts, site, starter, edge), starter=fresh), given, is_handed=True)


def _in_worker(facts: FileFacts, site: CallSite, starter: Starter | None, edge: Edge) -> Edge:
    """The same, if a call runs it in worker processes: `Dataset.map` does with `num_proc=4`, not with 1."""
    if starter is None or not starter.reseeds:
        return edge
    if starter.only_with:
        given = argument_of(site.node, starter.only_with, None)
        if given is None or not {None, 0, 1}.isdisjoint(facts.value(given, site.scope).constants):
            return edge
    function = site.node.func
    is_long = isinstance(function, ast.Attribute) and not isinstance(function.value, ast.Name)
    shown = f".{last_word(function)}" if is_long else ast.unparse(function)
    return replace(edge, worker=shown, is_cached=starter.cached)


def _is_function(name: str) -> bool:
    """Whether a project name is written as functions are: a class that is handed on need not be called."""
    return not last_part(name)[:1].isupper()


def property_edges(facts: FileFacts) -> Iterator[Edge]:
    """`self.loss` runs the property of that name."""
    for scope in facts.symbols.scopes:
        methods = [facts.symbols.scopes[one] for one in scope.children] if scope.kind is ScopeKind.CLASS else []
        names = {one.name for one in methods if not _PROPERTIES.isdisjoint(decorators_of(facts, one))}
        for method in methods if names else ():
            node: ast.AST = method.node
            text = "\n".join(facts.source.lines[node.lineno - 1 : node.end_lineno])  # type: ignore[attr-defined]
            if not names.isdisjoint(_OWN_ATTRIBUTE.findall(text)):  # few are gone through
                read = names.intersection(one.attr for one in nodes_in(node) if is_own(one))
                yield from (Edge(method.qualname, f"{facts.full_name(scope.index)}.{name}") for name in sorted(read))


def group_edges(facts: FileFacts) -> Iterator[Edge]:
    """A command runs its group first."""
    for one in facts.cached(registrations):
        if one.decorator.endswith((".command", ".group")):
            yield Edge(one.symbol, one.decorator.rpartition(".")[0])


def _arguments(
    facts: FileFacts, arguments: Arguments | None, scope: int
) -> tuple[tuple[tuple[int | str, Constant], ...], tuple[int | str, ...]]:
    """The literals among some arguments, and the others."""
    given = {} if arguments is None else dict(_literals(facts, arguments, scope))
    literals = tuple((key, value) for key, value in given.items() if not isinstance(value, EllipsisType))
    return literals, tuple(key for key, value in given.items() if value is ...)


def _literals(facts: FileFacts, arguments: Arguments, scope: int) -> Iterator[tuple[int | str, Argument]]:
    positional, keywords = arguments
    for index, argument in enumerate(positional):
        if isinstance(argument, ast.Starred):
            yield "*", ...
            break
        yield index, _literal(facts, argument, scope)
    yield from ((name or "*", _literal(facts, value, scope) if name else ...) for name, value in keywords)


def _literal(facts: FileFacts, expression: ast.expr | None, scope: int) -> Argument:
    is_of_another = isinstance(expression, ast.Attribute) and not is_own(expression)
    if is_of_another or not isinstance(expression, _MAY_BE_LITERAL):
        return ...  # attributes of others are options and modules, mostly
    if isinstance(expression, ast.Name):
        owner = facts.resolver.owner(expression.id, scope)
        if owner is None or not _may_hold_literal(facts, owner.index, expression.id):
            return ...
    values = facts.value(expression, scope)
    return values.constants[0] if values.is_known and len(values.constants) == 1 else ...


@memoized
def _may_be_code(facts: FileFacts, owner: int, name: str) -> bool:
    """Whether a name may stand for a function or a class: most hold what calls and operators give."""
    return any(_may_give_code(facts, one) for one in facts.symbols.scopes[owner].bindings[name])


def _may_give_code(facts: FileFacts, binding: Binding) -> bool:
    value = binding.value
    if binding.kind not in (BindingKind.ASSIGN, BindingKind.PARAMETER):
        return binding.kind not in (BindingKind.PART, BindingKind.OPAQUE)
    if isinstance(value, ast.Call):
        return last_word(value.func) in TAKING or facts.names(value.func, binding.scope).only in _GIVING_CODE
    return isinstance(value, (ast.Name, ast.Attribute, ast.IfExp, ast.BoolOp, ast.Subscript))


@memoized
def _may_hold_literal(facts: FileFacts, owner: int, name: str) -> bool:
    """Most names hold parameters and results of calls: nothing is followed for them."""
    return any(
        isinstance(one.value, _MAY_BE_LITERAL)
        if one.kind is BindingKind.ASSIGN
        else one.kind in (BindingKind.PART, BindingKind.ELEMENT)
        for one in facts.symbols.scopes[owner].bindings[name]
    )
