"""Processes and threads that a file starts, one by one or several in a loop, and what each is handed."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import msgspec

from torchlint.facts.calls import Target, started
from torchlint.facts.control.blocks import Loop, loops_around
from torchlint.facts.scopes import CallSite
from torchlint.facts.values import argument_of, handed_arguments, may_be_hidden, starter_of

if TYPE_CHECKING:
    from torchlint.catalogue.programs import Starter
    from torchlint.facts.file import FileFacts
    from torchlint.facts.tree import TreeIndex

_Comprehension = ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp


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
