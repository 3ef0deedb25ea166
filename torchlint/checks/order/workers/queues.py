"""Queues that several workers of one function fill, and the loops that collect what comes out as the workers finish."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from torchlint.checks.order.results import ResultsAnalysis
from torchlint.checks.order.workers.starts import WorkerStart, comprehension_around, is_repeated, worker_starts
from torchlint.facts.control.blocks import Loop, loops_around
from torchlint.facts.control.conditions import tests_around
from torchlint.facts.flow.tracker import Flow, follow
from torchlint.facts.order.analysis import started
from torchlint.facts.order.loops import ENUMERATE, filled, filled_by_number, index_name, names_in, statements_in
from torchlint.facts.scopes import Binding, BindingKind, CallSite, Scope

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

_MODULES = ("multiprocessing", "torch.multiprocessing")
_MAKERS = [f"{module}{context}" for module in _MODULES for context in ("", ".get_context()")]
_MANAGERS = frozenset(f"{maker}.Manager()" for maker in _MAKERS)
_KINDS = ("Queue", "SimpleQueue", "JoinableQueue")
# Neither `LifoQueue` nor `PriorityQueue`: one has an order of its own, and nobody collects with the other.
_QUEUES = frozenset(f"{maker}.{kind}" for maker in (*_MAKERS, *_MANAGERS) for kind in _KINDS) | {
    "queue.Queue",
    "queue.SimpleQueue",
}
_GETS = frozenset({"get", "get_nowait"})
_PUTS = frozenset({"put", "put_nowait"})
_ASKING = frozenset({"empty", "full", "qsize", "join", "task_done", "close", "join_thread", "cancel_join_thread"})
"""Methods of a queue that neither fill nor empty it."""


class _Reads(msgspec.Struct, frozen=True):
    """Where a name that holds a queue is read, by what is done with it."""

    gets: list[ast.Call]
    puts: list[ast.Call]
    others: list[ast.Name]
    """Handed on, or stored."""


def filled_by_workers(facts: FileFacts) -> dict[ast.Call, tuple[WorkerStart, ...]]:
    """The calls that take out of a queue which several workers fill and nobody else, with where the workers start."""
    starts = worker_starts(facts) if "Queue" in facts.source.text else []  # to resolve every call costs time
    found: dict[ast.Call, tuple[WorkerStart, ...]] = {}
    for owner, name, made in _queues(facts) if starts else ():
        reads = _reads(facts, owner.index, name)
        filling = None if reads is None else _filling(facts, reads, starts)
        if reads is not None and filling and not any(start.repeats(facts, made) for start in filling):
            found |= dict.fromkeys(reads.gets, filling)
    return found


def _queues(facts: FileFacts) -> Iterator[tuple[Scope, str, ast.stmt]]:
    """The names that hold one queue and nothing else, with the statement that makes it."""
    for scope in facts.symbols.scopes:
        for name, bindings in scope.bindings.items():
            made = bindings[0].statement
            if len(bindings) == 1 and made is not None and _is_queue(facts, bindings[0]):
                yield scope, name, made


def _is_queue(facts: FileFacts, binding: Binding) -> bool:
    made = binding.value if binding.kind is BindingKind.ASSIGN else None
    return isinstance(made, ast.Call) and facts.names(made.func, binding.scope).only in _QUEUES


def _reads(facts: FileFacts, owner: int, name: str) -> _Reads | None:
    """What is done with a queue; None where a method is called that is not known."""
    tree, found = facts.index, _Reads([], [], [])
    for read in tree.reads(owner, name):
        method = tree.parents[read]
        call = tree.parents[method]
        if not isinstance(method, ast.Attribute):
            found.others.append(read)
        elif not isinstance(call, ast.Call) or method.attr not in _GETS | _PUTS | _ASKING:
            return None
        elif method.attr not in _ASKING:
            (found.gets if method.attr in _GETS else found.puts).append(call)
    return found


def _filling(facts: FileFacts, reads: _Reads, starts: list[WorkerStart]) -> tuple[WorkerStart, ...]:
    """The starts of several workers that fill a queue; none where anything else may fill or empty it."""
    tree = facts.index
    found = []
    for read in reads.others:
        start = next((start for start in starts if start.is_handed(read, tree)), None)
        if start is None or not start.is_of_several or not _fills(facts, start, read):
            return ()
        found.append(start)
    for put in reads.puts:
        function = facts.function_of(tree.scope_of(put))
        around = [start for start in starts if start.target is not None and start.target.function.index == function]
        if not around or not all(start.is_of_several for start in around) or _is_of_one_rank(facts, put):
            return ()
        found += around
    functions = {facts.function_of(start.site.scope) for start in found}
    is_parent = all({facts.function_of(tree.scope_of(get))} == functions for get in reads.gets)
    return tuple(found) if is_parent else ()


def _fills(facts: FileFacts, start: WorkerStart, read: ast.Name) -> bool:
    """Whether the workers put into the queue they are handed: what cannot be looked into has no other use for it."""
    parameter = None if start.target is None else start.target.parameter_of(read)
    if start.target is None or parameter is None:
        return True
    reads = _reads(facts, start.target.function.index, parameter)
    if reads is None or reads.gets:
        return False
    return bool(reads.others) or any(not _is_of_one_rank(facts, put) for put in reads.puts)


def _is_of_one_rank(facts: FileFacts, put: ast.Call) -> bool:
    """`if rank == 0: results.put(...)`: one of the workers speaks for all."""
    statement = facts.index.statement_of(put)
    return any(_asks_for_rank(test) for test in tests_around(facts, statement))


def _asks_for_rank(test: ast.expr) -> bool:
    return isinstance(test, ast.UnaryOp) or any(
        isinstance(node, ast.Compare)
        and isinstance(node.ops[0], ast.Eq)
        and any(isinstance(side, ast.Constant) for side in node.comparators)
        for node in ast.walk(test)
    )


class _Collected(msgspec.Struct, frozen=True):
    """One call that takes results out of a queue of several workers, again and again."""

    site: CallSite
    loop: Loop | None
    """The loop around it; None where it stands in a comprehension."""
    flow: Flow
    """What the order of the results decides."""


def collected(facts: FileFacts) -> dict[ast.Call, _Collected]:
    """The calls that take results as the workers finish, where the results' places matter later."""
    filling = filled_by_workers(facts)
    found = {}
    for site in facts.symbols.calls if filling else ():
        if site.node not in filling or not is_repeated(facts, site):
            continue
        loop = loop_around(facts, site)
        flow = gathered(facts, site, loop)
        if flow.sink is not None or flow.exits:
            found[site.node] = _Collected(site, loop, flow)
    return found


def loop_around(facts: FileFacts, site: CallSite) -> Loop | None:
    """The loop that makes a call again and again; None where a comprehension does."""
    return None if comprehension_around(facts, site) is not None else next(loops_around(facts, site.statement), None)


def gathered(facts: FileFacts, site: CallSite, loop: Loop | None) -> Flow:
    """What the order decides of what a loop or a comprehension puts together from the results of one call."""
    analysis = ResultsAnalysis(facts)
    around = comprehension_around(facts, site)
    if around is not None:
        is_element = isinstance(around, ast.ListComp | ast.GeneratorExp) and _holds(around.elt, site.node, set())
        return follow(analysis, started(facts, around)) if is_element else Flow()
    if loop is None:
        return Flow()
    return follow(analysis, *analysis.started_with(list(_filled_from(facts, site, loop))))


def _filled_from(facts: FileFacts, site: CallSite, loop: Loop) -> Iterator[ast.expr]:
    """The lists that a loop fills with what one of its calls gives, one element or one run of them a round."""
    index, results = _counter(facts, loop, site.scope), set[str]()
    for statement in statements_in(loop):
        results |= _bound_from(site.node, results, statement)
        addition = filled_by_number(statement, index) or filled(statement) or _extended(facts, statement, site.scope)
        if addition is not None and addition[1] is not None and _holds(addition[1], site.node, results):
            yield addition[0]


def _counter(facts: FileFacts, loop: Loop, scope: int) -> str | None:
    """The name that counts the rounds: of `for i in range(n)`, `for i, worker in enumerate(workers)`."""
    if isinstance(loop, ast.While) or not isinstance(loop.iter, ast.Call):
        return None
    name = facts.names(loop.iter.func, scope).only
    if name == ENUMERATE:
        return index_name(loop.target)
    return loop.target.id if name == "builtins.range" and isinstance(loop.target, ast.Name) else None


def _bound_from(call: ast.Call, results: set[str], statement: ast.stmt) -> set[str]:
    """The names that a statement binds to a part of the results."""
    if isinstance(statement, ast.For):
        value, targets = statement.iter, [statement.target]
    elif isinstance(statement, ast.Assign):
        value, targets = statement.value, statement.targets
    else:
        return set()
    return {name for target in targets for name in names_in(target)} if _holds(value, call, results) else set()


def _holds(value: ast.expr, call: ast.Call, results: set[str]) -> bool:
    return any(node is call for node in ast.walk(value)) or bool(names_in(value) & results)


def _extended(facts: FileFacts, statement: ast.stmt, scope: int) -> tuple[ast.expr, ast.expr] | None:
    """The list in `rows += part`; of other values it is a sum."""
    if not isinstance(statement, ast.AugAssign) or not isinstance(statement.target, ast.Name):
        return None
    owner = facts.resolver.owner(statement.target.id, scope)
    plain = [b for b in owner.bindings[statement.target.id] if b.kind is BindingKind.ASSIGN] if owner else []
    is_list = bool(plain) and all(isinstance(binding.value, ast.List) for binding in plain)
    return (statement.target, statement.value) if is_list else None
