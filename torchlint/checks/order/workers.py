"""Processes and threads that a file starts, what each is handed, and the queues that several of them fill."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from torchlint.facts.calls import Target, started
from torchlint.facts.control.blocks import Loop, loops_around
from torchlint.facts.control.conditions import tests_around
from torchlint.facts.scopes import Binding, BindingKind, CallSite, Scope
from torchlint.facts.starters import handed_arguments, starter_of
from torchlint.facts.values import argument_of, may_be_hidden

if TYPE_CHECKING:
    from torchlint.catalogue.programs import Starter
    from torchlint.facts.file import FileFacts
    from torchlint.facts.tree import TreeIndex

_Comprehension = ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
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


class WorkerStart(msgspec.Struct, frozen=True):
    """One call that makes workers."""

    site: CallSite
    is_of_several: bool
    """Whether it makes more than one, and lets them run side by side."""
    loop: Loop | None
    """The loop that makes one worker a round; None where a comprehension does."""
    target: Target | None
    """The function of this file that the workers run, and what it is given."""
    arguments: tuple[ast.expr, ...]
    """All that the workers are handed."""

    def is_handed(self, read: ast.Name, tree: TreeIndex) -> bool:
        """Whether a name stands among the arguments of the workers."""
        node: ast.AST = read
        while node is not self.site.node and node in tree.parents and not isinstance(node, ast.stmt):
            if node in self.arguments:
                return True
            node = tree.parents[node]
        return False

    def repeats(self, facts: FileFacts, statement: ast.stmt) -> bool:
        """Whether a statement runs again for each worker."""
        return self.loop is not None and self.loop in loops_around(facts, statement)


def worker_starts(facts: FileFacts) -> list[WorkerStart]:
    """Every call that makes processes or threads."""
    found = []
    for site in facts.symbols.calls:
        starter = starter_of(facts, site.node, site.scope)
        if starter is not None and starter.worker:
            found.append(_start(facts, site, starter))
    return found


def _start(facts: FileFacts, site: CallSite, starter: Starter) -> WorkerStart:
    run = started(facts, site.node, site.scope)
    target = run[0] if len(run) == 1 else None
    positional, keywords = handed_arguments(starter, site.node)
    arguments = tuple(one for one in (*positional, *(value for _, value in keywords)) if one is not None)
    if starter.rank:
        return WorkerStart(site, _is_several(facts, site), None, target, arguments)
    loop = None if comprehension_around(facts, site) is not None else next(loops_around(facts, site.statement), None)
    is_of_several = is_repeated(facts, site) and facts.function_of(site.scope) not in facts.cached(_starting_in_turn)
    return WorkerStart(site, is_of_several, loop, target, arguments)


def _is_several(facts: FileFacts, site: CallSite) -> bool:
    """Whether `spawn` starts more than one process."""
    count = argument_of(site.node, "nprocs", 2)
    values = facts.value(count, site.scope)
    is_one = (count is None and not may_be_hidden(site.node, 2)) or (values.is_known and set(values.constants) == {1})
    return not is_one


def _starting_in_turn(facts: FileFacts) -> set[int | None]:
    """The functions with a loop that starts a worker and waits for it before the next round."""
    found: dict[str, set[tuple[Loop | None, str]]] = {"start": set(), "join": set()}
    for site in facts.symbols.calls:
        function = site.node.func
        if isinstance(function, ast.Attribute) and function.attr in found:
            found[function.attr].add((next(loops_around(facts, site.statement), None), ast.unparse(function.value)))
    loops = {loop for loop, _ in found["start"] & found["join"] if loop is not None}
    return {facts.function_of(facts.symbols.scope_of[loop]) for loop in loops}


def is_repeated(facts: FileFacts, site: CallSite) -> bool:
    """Whether a call runs several times: in a comprehension, or in a loop of more than one round."""
    around = comprehension_around(facts, site)
    loop = next(loops_around(facts, site.statement), None) if around is None else None
    iterated = around.generators[0].iter if around is not None else getattr(loop, "iter", None)
    if around is None and loop is None:
        return False
    return iterated is None or not _is_single(facts, iterated, site.scope)


def comprehension_around(facts: FileFacts, site: CallSite) -> _Comprehension | None:
    """The innermost comprehension around a call."""
    above = (node for node, _ in facts.index.ancestors(site.node))
    return next((node for node in above if isinstance(node, _Comprehension)), None)


def _is_single(facts: FileFacts, iterated: ast.expr, scope: int) -> bool:
    """`range(1)`, or a display of one element."""
    if isinstance(iterated, ast.Tuple | ast.List):
        return len(iterated.elts) == 1
    if not isinstance(iterated, ast.Call) or facts.names(iterated.func, scope).only != "builtins.range":
        return False
    values = facts.value(iterated.args[0], scope) if len(iterated.args) == 1 else None
    return values is not None and values.is_known and set(values.constants) == {1}


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
