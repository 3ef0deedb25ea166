"""Processes and threads that a file starts, one by one or several in a loop, and what each is handed."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torchlint.facts.control.blocks import Loop, loops_around
from torchlint.facts.own_functions import method_of, own_scope
from torchlint.facts.scopes import CallSite, Scope, ScopeKind
from torchlint.facts.tree import is_own
from torchlint.facts.values import argument_of, may_be_hidden

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts
    from torchlint.facts.tree import TreeIndex

_MODULES = ("multiprocessing", "torch.multiprocessing")
_WORKERS = frozenset(f"{m}{context}.Process" for m in _MODULES for context in ("", ".get_context()")) | {
    "threading.Thread"
}
_SPAWN = "torch.multiprocessing.spawn"
"""Starts `nprocs` processes at once, and gives each its rank before the other arguments."""
Comprehension = ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp


@dataclass(frozen=True, slots=True)
class WorkerStart:
    """One call that makes workers."""

    site: CallSite
    is_of_several: bool
    """Whether it makes more than one, and lets them run side by side."""
    loop: Loop | None
    """The loop that makes one worker a round; None where a comprehension does."""
    target: Scope | None
    """The function of this file that the workers run."""
    before: int
    """How many parameters of the target come before the `args`."""
    arguments: ast.expr | None
    keywords: ast.expr | None

    def is_handed(self, read: ast.Name, tree: TreeIndex) -> bool:
        """Whether a name stands among the arguments of the workers."""
        node: ast.AST = read
        while node is not self.site.node and node in tree.parents and not isinstance(node, ast.stmt):
            if node is self.arguments or node is self.keywords:
                return True
            node = tree.parents[node]
        return False

    def parameter_for(self, read: ast.Name) -> str | None:
        """The parameter of the target that gets a name."""
        given = self.keywords
        if isinstance(given, ast.Dict) and read in given.values:
            key = given.keys[given.values.index(read)]
            return key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else None
        if self.target is None or not isinstance(self.arguments, ast.Tuple | ast.List):
            return None
        items = self.arguments.elts
        if read not in items or any(isinstance(item, ast.Starred) for item in items):
            return None
        signature: ast.arguments = self.target.node.args  # type: ignore[attr-defined]
        names = [one.arg for one in (*signature.posonlyargs, *signature.args)]
        place = self.before + items.index(read)
        return names[place] if place < len(names) else None

    def repeats(self, facts: FileFacts, statement: ast.stmt) -> bool:
        """Whether a statement runs again for each worker."""
        return self.loop is not None and self.loop in loops_around(facts, statement)


def worker_starts(facts: FileFacts) -> list[WorkerStart]:
    """Every call that makes processes or threads."""
    found = []
    for site in facts.reading.calls:
        name = facts.names(site.node.func, site.scope).only
        if name in _WORKERS:
            found.append(_made(facts, site))
        elif name == _SPAWN:
            found.append(_spawned(facts, site))
    return found


def _made(facts: FileFacts, site: CallSite) -> WorkerStart:
    loop = None if comprehension_around(facts, site) is not None else next(loops_around(facts, site.statement), None)
    is_of_several = is_repeated(facts, site) and facts.function_of(site.scope) not in facts.once(_starting_in_turn)
    target, before = _target(facts, argument_of(site.node, "target", 1), site.scope)
    given, named = argument_of(site.node, "args", 3), argument_of(site.node, "kwargs", 4)
    return WorkerStart(site, is_of_several, loop, target, before, given, named)


def _spawned(facts: FileFacts, site: CallSite) -> WorkerStart:
    count = argument_of(site.node, "nprocs", 2)
    values = facts.value(count, site.scope)
    is_one = (count is None and not may_be_hidden(site.node, 2)) or (values.is_known and set(values.constants) == {1})
    target, before = _target(facts, argument_of(site.node, "fn", 0), site.scope)
    given = argument_of(site.node, "args", 1)
    return WorkerStart(site, not is_one, None, target, before + 1, given, None)


def _target(facts: FileFacts, target: ast.expr | None, scope: int) -> tuple[Scope | None, int]:
    """The function that workers run, and how many of its parameters are bound beforehand."""
    if target is None:
        return None, 0
    if is_own(target):
        index = method_of(facts, facts.class_of(scope), target.attr)
    else:
        index = own_scope(facts, facts.names(target, scope).only or "")
    function = None if index is None else facts.reading.scopes[index]
    if function is None or function.kind is not ScopeKind.FUNCTION:
        return None, 0
    is_static = any(getattr(one, "id", "") == "staticmethod" for one in function.node.decorator_list)  # type: ignore[attr-defined]
    return function, int(is_own(target) and not is_static)


def _starting_in_turn(facts: FileFacts) -> set[int | None]:
    """The functions with a loop that starts a worker and waits for it before the next round."""
    found: dict[str, set[tuple[Loop | None, str]]] = {"start": set(), "join": set()}
    for site in facts.reading.calls:
        function = site.node.func
        if isinstance(function, ast.Attribute) and function.attr in found:
            found[function.attr].add((next(loops_around(facts, site.statement), None), ast.unparse(function.value)))
    loops = {loop for loop, _ in found["start"] & found["join"] if loop is not None}
    return {facts.function_of(facts.reading.scope_of[loop]) for loop in loops}


def is_repeated(facts: FileFacts, site: CallSite) -> bool:
    """Whether a call runs several times: in a comprehension, or in a loop of more than one round."""
    around = comprehension_around(facts, site)
    loop = next(loops_around(facts, site.statement), None) if around is None else None
    iterated = around.generators[0].iter if around is not None else getattr(loop, "iter", None)
    if around is None and loop is None:
        return False
    return iterated is None or not _is_single(facts, iterated, site.scope)


def comprehension_around(facts: FileFacts, site: CallSite) -> Comprehension | None:
    """The innermost comprehension around a call."""
    above = (node for node, _ in facts.index.ancestors(site.node))
    return next((node for node in above if isinstance(node, Comprehension)), None)


def _is_single(facts: FileFacts, iterated: ast.expr, scope: int) -> bool:
    """`range(1)`, or a display of one element."""
    if isinstance(iterated, ast.Tuple | ast.List):
        return len(iterated.elts) == 1
    if not isinstance(iterated, ast.Call) or facts.names(iterated.func, scope).only != "builtins.range":
        return False
    values = facts.value(iterated.args[0], scope) if len(iterated.args) == 1 else None
    return values is not None and values.is_known and set(values.constants) == {1}
