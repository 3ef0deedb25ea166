"""What loops and comprehensions make of an order: ids handed out one after another, lists filled."""

from __future__ import annotations

import ast
from collections.abc import Iterator


def is_number(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and isinstance(value.value, int)


def numbers_values(display: ast.DictComp) -> bool:
    """`{name: i for i, name in enumerate(...)}`: the number is the value, or the key."""
    index = index_name(display.generators[0].target)
    return index is not None and index in (names_in(display.value) | names_in(display.key))


def index_name(target: ast.expr) -> str | None:
    if isinstance(target, ast.Tuple) and target.elts and isinstance(target.elts[0], ast.Name):
        return target.elts[0].id
    return None


def names_in(expression: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(expression) if isinstance(node, ast.Name)}


def names_bound(loop: ast.For | ast.AsyncFor) -> set[str]:
    """The names that a loop binds: its target, and what its body assigns."""
    return {node.id for node in ast.walk(loop) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def hands_out_ids(assign: ast.Assign, index: str | None, counters: set[str]) -> bool:
    """`ids[name] = i`, `= len(ids)` or `= counter` inside the loop."""
    target = assign.targets[0]
    if not isinstance(target, ast.Subscript):
        return False
    value = assign.value
    if isinstance(value, ast.Name):
        return value.id == index or value.id in counters
    is_length = isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "len"
    return is_length and bool(value.args) and ast.dump(value.args[0]) == ast.dump(target.value)  # type: ignore[attr-defined]


def filled(node: ast.stmt) -> tuple[ast.expr, ast.expr | None] | None:
    """The list that a statement appends to, and what it appends."""
    if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add) and isinstance(node.value, ast.List):
        return node.target, node.value
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Attribute):
        call = node.value
        if call.func.attr in ("append", "extend") and len(call.args) == 1:  # type: ignore[attr-defined]
            return call.func.value, call.args[0]  # type: ignore[attr-defined]
    return None


def statements_in(loop: ast.For | ast.AsyncFor | ast.While) -> Iterator[ast.stmt]:
    """The statements a loop runs, also in inner loops that go on with its own elements (`os.walk`) or a listing."""
    own = set() if isinstance(loop, ast.While) else names_in(loop.target)
    waiting: list[ast.AST] = list(reversed(loop.body))
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.For | ast.AsyncFor | ast.While):
            iterated = getattr(node, "iter", None)
            if not (isinstance(iterated, ast.Call) or (isinstance(iterated, ast.Name) and iterated.id in own)):
                continue
        if isinstance(node, ast.If) and _picks_one(node.test):
            waiting += reversed(node.orelse)
            continue
        if isinstance(node, ast.stmt):
            yield node
        inner = [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.stmt | ast.ExceptHandler)]
        waiting += reversed(inner)


def _picks_one(test: ast.expr) -> bool:
    """`if name == "images":` takes one entry, wherever it comes in the order."""
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], ast.Eq):
        return False
    sides = (test.left, *test.comparators)
    return any(isinstance(side, ast.Constant) and isinstance(side.value, str) for side in sides)


def counters_in(loop: ast.For | ast.AsyncFor) -> set[str]:
    """The names by which a loop counts."""
    return {name for node in ast.walk(loop) if (name := _counted(node)) is not None}


def _counted(node: ast.AST) -> str | None:
    """The name in `i += 1` or `i = i + 1`."""
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) and is_number(node.value):
        return node.target.id
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.BinOp) and isinstance(node.value.op, ast.Add):
        target, sides = node.targets[0], (node.value.left, node.value.right)
        is_same = isinstance(target, ast.Name) and any(isinstance(s, ast.Name) and s.id == target.id for s in sides)
        return target.id if is_same and any(is_number(side) for side in sides) else None  # type: ignore[attr-defined]
    return None


def filled_by_number(node: ast.stmt, index: str | None) -> tuple[ast.expr, ast.expr | None] | None:
    """The container in `results[i] = value`, where `i` counts the round."""
    if not isinstance(node, ast.Assign) or index is None or not isinstance(node.targets[0], ast.Subscript):
        return None
    place = node.targets[0].slice
    return (node.targets[0].value, node.value) if isinstance(place, ast.Name) and place.id == index else None


def call_given(statement: ast.stmt, names: set[str]) -> ast.Call | None:
    """The call in a statement of its own that is given what a loop goes through."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if isinstance(call, ast.Call) and any(names_in(argument) & names for argument in call.args):
        return call
    return None


def splits_by_number(statement: ast.stmt, numbers: set[str | None]) -> bool:
    """`if i < 100: train.append(path)`, `else: test.append(path)`, where `i` counts the rounds."""
    if isinstance(statement, ast.If):
        first, second = (
            {ast.dump(one[0]) for s in side if (one := filled(s))} for side in (statement.body, statement.orelse)
        )
        is_split = bool(first and second) and first.isdisjoint(second)
        return is_split and _counts(statement.test, numbers)
    addition = filled(statement)  # `(test if i % 10 == 0 else train).append(path)`
    picked = None if addition is None else addition[0]
    return isinstance(picked, ast.IfExp) and _counts(picked.test, numbers)


def _counts(test: ast.expr, numbers: set[str | None]) -> bool:
    """`i < 100`, `i % 10 == 0`, `i % 10`."""
    asked = test.left if isinstance(test, ast.Compare) else test
    counted = asked.left if isinstance(asked, ast.BinOp) else asked
    return isinstance(counted, ast.Name) and counted.id in numbers
