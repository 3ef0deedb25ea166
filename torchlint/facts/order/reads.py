"""What the reads of a list do to its order: sort it on the spot, ask for it, leave it out."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from torchlint.catalogue.load import load_orders
from torchlint.facts.calls import functions_of
from torchlint.facts.control.order import may_follow
from torchlint.facts.order.manifests import is_listed
from torchlint.facts.starters import arguments_of
from torchlint.facts.values import argument_of

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts


def is_sorted_in_place(facts: FileFacts, node: ast.expr) -> bool:
    """`files.sort()`, `random.shuffle` aside; or `self.files = sorted(self.files)`, which takes its place."""
    statement, scope = facts.index.statement_of(node), facts.index.scope_of(node)
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        function = statement.value.func
        if isinstance(function, ast.Attribute) and function.attr == "sort" and function.value is node:
            return not leaves_ties(statement.value)
        return _is_sorted_by(facts, statement.value, node, scope)
    if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call):
        names = facts.names(statement.value.func, scope).names
        sorts = bool(
            names & {"builtins.sorted", "natsort.natsorted", "natsort.os_sorted", "numpy.sort", "numpy.unique"}
        )
        same = any(ast.dump(t).replace("Store", "Load") == ast.dump(node) for t in statement.targets)
        return sorts and same and not leaves_ties(statement.value)
    return False


def leaves_ties(call: ast.Call) -> bool:
    """Whether what sorts asks for nothing but a length, which many share: those stay in the order that they had."""
    key = argument_of(call, "key", None)
    measured = key.body.func if isinstance(key, ast.Lambda) and isinstance(key.body, ast.Call) else key
    return isinstance(measured, ast.Name) and measured.id == "len"


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


_ORDERINGS = frozenset({"builtins.sorted", "numpy.argsort", "torch.argsort", "numpy.lexsort"})


def is_asked_for_its_order(facts: FileFacts, node: ast.expr) -> bool:
    """`places = np.argsort([place for place, _ in rows])`: the rows say themselves which comes first."""
    scope = facts.index.scope_of(node)
    calls = (above for above, _ in facts.index.ancestors(node) if isinstance(above, ast.Call))
    return any(facts.names(call.func, scope).only in _ORDERINGS for call in calls)


def is_only_reduced(facts: FileFacts, rows: ast.Call) -> bool:
    """Whether all that is asked of stacked rows is a sum, a mean or their number: `torch.cat(losses).mean()`."""
    above = facts.index.parents[rows]
    if not isinstance(above, ast.Assign):
        return _is_reduced(facts, rows)
    target = above.targets[0]
    if not isinstance(target, ast.Name) or len(above.targets) > 1:
        return False
    reads = [node for node in facts.index.reads_of(target) if may_follow(facts, above, node)]
    return bool(reads) and all(_is_reduced(facts, node) for node in reads)


def _is_reduced(facts: FileFacts, rows: ast.expr) -> bool:
    above: ast.AST = facts.index.parents[rows]
    if isinstance(above, ast.Subscript) and _is_of_all_rows(above.slice):
        return _is_reduced(facts, above)
    if isinstance(above, ast.Call) and rows in above.args:
        above = above.func
    word = above.attr if isinstance(above, ast.Attribute) else getattr(above, "id", "")
    return word in load_orders().reducing or word in load_orders().showing


def _is_of_all_rows(index: ast.expr) -> bool:
    """`rows[:, 0]`: a column."""
    first = index.elts[0] if isinstance(index, ast.Tuple) else None
    return isinstance(first, ast.Slice) and first.lower is None and first.upper is None and first.step is None


def is_shown(facts: FileFacts, part: ast.expr) -> bool:
    """`print(files[:20])`: the first few are only shown; a list for a training is more than that."""
    calls = [above for above, _ in facts.index.ancestors(part) if isinstance(above, ast.Call)]
    if any(is_listed(facts, call) for call in calls):
        return False
    words = (call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "") for call in calls)
    return any(word in load_orders().showing for word in words)
