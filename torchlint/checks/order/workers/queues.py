"""Queues that several workers of one function fill: what comes out of them comes as the workers finish."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from torchlint.checks.order.workers.starts import WorkerStart, worker_starts
from torchlint.facts.control.conditions import tests_around
from torchlint.facts.scopes import Binding, BindingKind, Scope

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
