"""Where names and own attributes are read, and what sorts them on the spot."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from torchlint.facts.calls import functions_of
from torchlint.facts.control.order import may_follow
from torchlint.facts.order.words import REDUCTIONS, SHOWING
from torchlint.facts.scopes import ScopeKind
from torchlint.facts.starters import arguments_of

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts


def reads_in(facts: FileFacts, owner: int) -> Iterator[tuple[ast.expr, ast.stmt, int]]:
    """Every read of a name or own attribute inside a scope, with its statement and the scope it runs in."""
    for statement, scope in facts.reading.scope_of.items():
        if not _is_within(facts, scope, owner):
            continue
        for node in facts.index.within(statement):
            if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
                yield node, statement, scope


def _is_within(facts: FileFacts, scope: int, owner: int) -> bool:
    current: int | None = scope
    while current is not None:
        if current == owner:
            return True
        if facts.reading.scopes[owner].kind is not ScopeKind.CLASS and current != scope:
            return False
        current = facts.reading.scopes[current].parent
    return False


def is_sorted_in_place(facts: FileFacts, node: ast.expr, statement: ast.stmt, scope: int) -> bool:
    """`files.sort()`, `random.shuffle` aside; or `files = sorted(files)`, which rebinds the very name."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        function = statement.value.func
        if isinstance(function, ast.Attribute) and function.attr == "sort" and function.value is node:
            return True
        return _is_sorted_by(facts, statement.value, node, scope)
    if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call):
        names = facts.names(statement.value.func, scope).names
        sorts = bool(
            names & {"builtins.sorted", "natsort.natsorted", "natsort.os_sorted", "numpy.sort", "numpy.unique"}
        )
        same = any(ast.dump(t).replace("Store", "Load") == ast.dump(node) for t in statement.targets)
        return sorts and same
    return False


def _is_sorted_by(facts: FileFacts, call: ast.Call, node: ast.expr, scope: int) -> bool:
    """`put_in_order(files)`: a function of this file that sorts what it is given."""
    called = functions_of(facts, call.func, scope) if node in call.args else ()
    target = called[0] if len(called) == 1 else None
    if target is None:
        return False
    name = target.given(arguments_of(call), scope).parameter_of(node)
    return any(
        isinstance(one.func, ast.Attribute) and one.func.attr == "sort" and getattr(one.func.value, "id", "") == name
        for one in (inner.value for inner in ast.walk(target.function.node) if isinstance(inner, ast.Expr))
        if isinstance(one, ast.Call)
    )


def is_reordered(value: ast.expr | None, name: str) -> bool:
    """`rows = [rows[i] for i in order]`."""
    return value is not None and any(
        isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id == name
        for node in ast.walk(value)
    )


_ORDERINGS = frozenset({"builtins.sorted", "numpy.argsort", "torch.argsort", "numpy.lexsort"})


def is_asked_for_its_order(facts: FileFacts, node: ast.expr, scope: int) -> bool:
    """`places = np.argsort([place for place, _ in rows])`: the rows say themselves which comes first."""
    calls = (above for above, _ in facts.index.ancestors(node) if isinstance(above, ast.Call))
    return any(facts.names(call.func, scope).only in _ORDERINGS for call in calls)


def is_only_reduced(facts: FileFacts, rows: ast.Call, parents: Mapping[ast.AST, ast.AST], scope: int) -> bool:
    """Whether all that is asked of stacked rows is a sum, a mean or their number: `torch.cat(losses).mean()`."""
    above = parents.get(rows)
    if not isinstance(above, ast.Assign):
        return _is_reduced(rows, parents)
    name = getattr(above.targets[0], "id", "")
    owner = facts.resolver.owner(name, scope)
    if owner is None or len(above.targets) > 1:
        return False
    reads = [
        (node, statement)
        for node, statement, _ in reads_in(facts, owner.index)
        if isinstance(node, ast.Name) and node.id == name and may_follow(facts, above, node)
    ]
    return bool(reads) and all(_is_reduced(node, facts.index.within(statement)) for node, statement in reads)


def _is_reduced(rows: ast.expr, parents: Mapping[ast.AST, ast.AST]) -> bool:
    above = parents.get(rows)
    if isinstance(above, ast.Call) and rows in above.args:
        above = above.func
    word = above.attr if isinstance(above, ast.Attribute) else getattr(above, "id", "")
    return word in REDUCTIONS or word in SHOWING
