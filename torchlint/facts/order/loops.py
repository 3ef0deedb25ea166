"""What an order can decide, and what loops and comprehensions make of it: ids handed out, lists and mappings filled."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.facts.file import FileFacts
from torchlint.facts.tree import is_method_call, last_word, names_in

IDS = "the class ids"
SPLIT = "the split"
INDEX = "what an index means"
DRAW = "what a draw picks"
PAIRS = "which entries are paired"
DATASET = "the items of the dataset"
GROUPS = "the parameter groups"
ROWS = "the order of the rows"
DATA = "the rows that are written"
LISTS = "the list that is written"

ENUMERATE = "builtins.enumerate"
KEYED = "keyed"
"""The label of a mapping whose keys have the order."""
VIEWS = frozenset({"keys", "values", "items"})
MAKERS = frozenset({"builtins.dict", "builtins.dict.fromkeys", "collections.OrderedDict"})


def is_number(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and isinstance(value.value, int)


def only_spells(facts: FileFacts, made: ast.expr) -> bool:
    """Whether `number_of = dict(zip(words, range(9)))` serves `chr(number_of[word])` alone: any letter will do."""
    assign = facts.index.parents[made]
    target = assign.targets[0] if isinstance(assign, ast.Assign) else None
    parents = facts.index.parents
    spelled = [parents[parents[read]] for read in facts.index.reads_of(target)] if isinstance(target, ast.Name) else []
    return bool(spelled) and all(isinstance(one, ast.Call) and last_word(one.func) == "chr" for one in spelled)


def index_name(target: ast.expr) -> str | None:
    if isinstance(target, ast.Tuple) and target.elts and isinstance(target.elts[0], ast.Name):
        return target.elts[0].id
    return None


def names_bound(loop: ast.For | ast.AsyncFor) -> set[str]:
    """The names that a loop binds: its target, and what its body assigns."""
    return {node.id for node in ast.walk(loop) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def gets_ids(statement: ast.stmt, counted: set[str]) -> bool:
    """`ids[name] = i`, where `i` counts, `= i + 4`, `= len(ids)`, `ids.setdefault(name, len(ids))`."""
    value = getattr(statement, "value", None)
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Subscript):
        mapping, number = statement.targets[0].value, value
    elif is_method_call(value, "setdefault"):
        mapping, number = value.func.value, value.args[-1] if value.args else None
    else:
        return False
    is_sum = isinstance(number, ast.BinOp) and isinstance(number.op, ast.Add)
    summands = [number.left, number.right] if is_sum else [number]  # type: ignore[union-attr]
    return any(one.id in counted if isinstance(one, ast.Name) else _is_length(one, mapping) for one in summands)


def _is_length(value: ast.expr | None, mapping: ast.expr) -> bool:
    is_length = isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "len"
    return is_length and bool(value.args) and ast.dump(value.args[0]) == ast.dump(mapping)  # type: ignore[union-attr]


def filled(node: ast.stmt) -> tuple[ast.expr, ast.expr | None] | None:
    """The list that a statement appends to, and what it appends."""
    if isinstance(node, ast.AugAssign):
        is_longer = isinstance(node.op, ast.Add) and isinstance(node.value, (ast.List, ast.ListComp))
        return (node.target, node.value) if is_longer else None
    call = node.value if isinstance(node, ast.Expr) else None
    is_addition = is_method_call(call, "append", "extend") and len(call.args) == 1
    return (call.func.value, call.args[0]) if is_addition else None  # type: ignore[union-attr]


def statements_in(loop: ast.For | ast.AsyncFor | ast.While) -> Iterator[ast.stmt]:
    """The statements a loop runs, also in inner loops that go on with its own elements (`os.walk`) or a listing."""
    own = set() if isinstance(loop, ast.While) else names_in(loop.target)
    waiting: list[ast.AST] = list(reversed(loop.body))
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
            iterated = getattr(node, "iter", None)
            if isinstance(iterated, (ast.ListComp, ast.GeneratorExp)):  # some of them
                iterated = iterated.generators[0].iter
            if not (isinstance(iterated, ast.Call) or (isinstance(iterated, ast.Name) and iterated.id in own)):
                continue
        if isinstance(node, ast.If) and _picks_one(node.test):
            waiting += reversed(node.orelse)
            continue
        if isinstance(node, ast.stmt):
            yield node
        inner = [child for child in ast.iter_child_nodes(node) if isinstance(child, (ast.stmt, ast.ExceptHandler))]
        waiting += reversed(inner)


def _picks_one(test: ast.expr) -> bool:
    """`if name == "images":` takes one entry, wherever it comes in the order; an ending (`ext == ".jpg"`) has many."""
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], ast.Eq):
        return False
    sides = (test.left, *test.comparators)
    texts = [side.value for side in sides if isinstance(side, ast.Constant) and isinstance(side.value, str)]
    is_of_part = any(isinstance(side, ast.Subscript) for side in sides)
    return bool(texts) and not is_of_part and not texts[0].startswith(".")


def counted(node: ast.AST) -> str | None:
    """The name by which a loop counts: in `i += 1` or `i = i + 1`."""
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
    return call if isinstance(call, ast.Call) and any(names_in(argument) & names for argument in call.args) else None
