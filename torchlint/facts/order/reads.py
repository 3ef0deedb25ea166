"""What the reads of a list do to its order: sort it on the spot, ask for it, leave it out."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from torchlint.catalogue.load import load_orders
from torchlint.facts.control.order import may_follow
from torchlint.facts.order.written import is_listed
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
    if isinstance(above, ast.Subscript) and isinstance(above.slice, ast.Tuple):  # a column
        return _is_reduced(facts, above)
    if isinstance(above, ast.Call) and rows in above.args:
        above = above.func
    word = above.attr if isinstance(above, ast.Attribute) else getattr(above, "id", "")
    return word in load_orders().reducing or word in load_orders().showing


def is_shown(facts: FileFacts, part: ast.expr) -> bool:
    """`print(files[:20])`: the first few are only shown; a list for a training is more than that."""
    calls = [above for above, _ in facts.index.ancestors(part) if isinstance(above, ast.Call)]
    if any(is_listed(facts, call) for call in calls):
        return False
    words = (call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "") for call in calls)
    return any(word in load_orders().showing for word in words)
