"""What a loop does with the entries of an order as they come: it trains with them, or takes so many and stops."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from torchlint.facts.order.loops import filled, names_bound, names_in, statements_in
from torchlint.facts.training.optimizers import holds_optimizer
from torchlint.facts.tree import is_method_call

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts


def trains(facts: FileFacts, loop: ast.For | ast.AsyncFor, statement: ast.stmt) -> bool:
    """Whether a statement of a loop steps an optimizer that goes on from round to round."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not is_method_call(call, "step") or names_in(call.func.value) & names_bound(loop):
        return False
    return holds_optimizer(facts, call.func.value, facts.index.scope_of(call))


def stops_by_number(loop: ast.For | ast.AsyncFor, statement: ast.stmt, numbers: set[str | None]) -> bool:
    """`if len(rows) == 100: break` in a loop that fills `rows`, or `if i >= count: break` in one that fills a list."""
    if not isinstance(statement, ast.If) or not isinstance(statement.test, ast.Compare):
        return False
    lists = {ast.dump(one[0]) for inner in statements_in(loop) if (one := filled(inner)) is not None}
    asked = statement.test.left
    is_length = isinstance(asked, ast.Call) and getattr(asked.func, "id", "") == "len" and len(asked.args) == 1
    is_filled = is_length and ast.dump(asked.args[0]) in lists  # type: ignore[attr-defined]
    is_counted = isinstance(asked, ast.Name) and asked.id in numbers and bool(lists)
    return any(isinstance(one, ast.Break) for one in statement.body) and (is_filled or is_counted)
