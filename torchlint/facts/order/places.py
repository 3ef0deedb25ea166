"""What reads of a list make of its order: which entry a subscript takes, where a loop sends it, what sorts it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.catalogue.load import load_orders
from torchlint.facts.control.blocks import loops_around
from torchlint.facts.control.order import may_follow
from torchlint.facts.definitions import definitions_of
from torchlint.facts.file import FileFacts
from torchlint.facts.flow.values import Definition
from torchlint.facts.memoizing import followed
from torchlint.facts.order.files import is_listed
from torchlint.facts.order.loops import filled
from torchlint.facts.scopes import BindingKind
from torchlint.facts.tree import is_method_call, is_own, last_word, names_in, words_in
from torchlint.facts.values import argument_of
from torchlint.facts.words import says

_SORTING = frozenset({"builtins.sorted", "natsort.natsorted", "natsort.os_sorted", "numpy.sort", "numpy.unique"})
_IS_THERE = frozenset({"exists", "isdir", "isfile", "is_dir", "is_file"})
"""Functions and methods that say whether a path is there."""


@followed(otherwise=False)
def is_picked(facts: FileFacts, index: ast.expr) -> bool:
    """`files[random.randint(0, 9)]`, `files[torch.randperm(len(files))[:100]]`, `[files[i] for i in places]`."""
    if isinstance(index, ast.Subscript):
        return is_picked(facts, index.value)
    ends = definitions_of(facts, index, facts.index.inner_scope_of(index))
    made = [(end.node, end.scope) for end in ends if isinstance(end, Definition)]
    parts = (node for node, _ in made if isinstance(node, ast.Subscript) and node is not index)
    is_drawn = any(
        facts.names(node, scope).names & load_orders().picked or _is_from_shuffled(facts, node, scope)
        for node, scope in made
    )
    return is_drawn or any(is_picked(facts, part) for part in parts)


def _is_from_shuffled(facts: FileFacts, node: ast.expr, scope: int) -> bool:
    """`places.pop()`, where the same function shuffles them: `random.shuffle(places)`."""
    if not is_method_call(node, "pop"):
        return False
    places = ast.unparse(node.func.value)
    calls = (site.node for site in facts.calls_in(facts.function_of(scope)))
    return any(last_word(one.func) == "shuffle" and list(map(ast.unparse, one.args[:1])) == [places] for one in calls)


@followed(otherwise=False)
def goes_on(facts: FileFacts, bounds: ast.expr | None) -> bool:
    """`files[start : start + size]` in a loop over the starts: no entry is left out."""
    scope = 0 if bounds is None else facts.index.inner_scope_of(bounds)
    for name in names_in(bounds) if bounds is not None else ():
        owner = facts.resolver.owner(name, scope)
        for one in owner.bindings[name] if owner is not None else ():
            is_made = one.kind is BindingKind.ASSIGN
            if one.kind is BindingKind.ELEMENT or (is_made and goes_on(facts, one.value)):
                return True
    return False


def is_item(facts: FileFacts, above: ast.Subscript) -> bool:
    """`self.files[index]` in `__getitem__`."""
    is_inside = facts.function_name(facts.index.scope_of(above)) == "__getitem__"
    return is_inside and is_own(above.value) and not isinstance(above.slice, ast.Constant)


def is_place(facts: FileFacts, index: ast.expr) -> bool:
    """`files[self.rank]`, `files[place]`, `files[step % len(files)]`: a place that is said, given, or goes round."""
    scope = facts.index.inner_scope_of(index)
    is_said = isinstance(index, ast.Attribute) and says(index.attr, "place")
    if is_said or facts.parameter_named(index, facts.index.scope_of(index)) is not None:
        return True
    ends = definitions_of(facts, index, scope)
    made = [end.node for end in ends if isinstance(end, Definition) and isinstance(end.node, ast.BinOp)]
    rests = [number.right for number in made if isinstance(number.op, ast.Mod)]
    return any(isinstance(rest, ast.Call) and last_word(rest.func) == "len" for rest in rests)


def is_whole(sliced: ast.Subscript) -> bool:
    """`files[:]`, `files[::-1]`."""
    bounds = sliced.slice
    is_all = isinstance(bounds, ast.Slice) and bounds.lower is None and bounds.upper is None
    return is_all and (bounds.step is None or ast.unparse(bounds.step) == "-1")  # type: ignore[attr-defined]


def splits(statement: ast.stmt, loop: ast.For | ast.AsyncFor, numbers: set[str]) -> bool:
    """Whether a test decides by what came before where an entry goes; `numbers` count the rounds."""
    if not isinstance(statement, ast.If):
        addition = filled(statement)  # `(test if i % 10 == 0 else train).append(path)`
        return addition is not None and isinstance(addition[0], ast.IfExp) and _asks_how_many(addition[0].test, numbers)
    if _is_first(statement):
        return _fills_two(statement) or (not statement.orelse and _sends_elsewhere(statement, loop))
    return _asks_how_many(statement.test, numbers) and _fills_two(statement)


def _is_first(statement: ast.If) -> bool:
    """`if kind not in seen: seen.add(kind)`, `if not isdir(folder): mkdir(folder)`."""
    test, calls = statement.test, [node for node in ast.walk(statement) if isinstance(node, ast.Call)]
    if isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.NotIn):
        seen = ast.unparse(test.comparators[0])
        added = (ast.unparse(call.func.value) for call in calls if is_method_call(call, "add", "append"))
        return seen in added
    makes_folder = any(last_word(call.func) in ("mkdir", "makedirs") for call in calls)
    is_asked = isinstance(test, ast.UnaryOp) and isinstance(test.operand, ast.Call)
    return is_asked and last_word(test.operand.func) in _IS_THERE and makes_folder  # type: ignore[attr-defined]


def _asks_how_many(test: ast.expr, numbers: set[str]) -> bool:
    """`i < 100`, `i % 10 == 0`, `i in held_out`, `len(train) < 100`, `counts[kind] < 5`."""
    asked = test.left if isinstance(test, ast.Compare) else test
    counted = asked.left if isinstance(asked, ast.BinOp) else asked
    if isinstance(counted, ast.Name):
        return counted.id in numbers
    if not isinstance(test, ast.Compare):
        return False
    is_less = isinstance(test.ops[0], (ast.Lt, ast.LtE, ast.Gt, ast.GtE))
    is_length = isinstance(counted, ast.Call) and getattr(counted.func, "id", "") == "len"
    return is_less and (is_length or isinstance(counted, ast.Subscript))


def _fills_two(statement: ast.If) -> bool:
    """`train.append(path)`, else `test.append(path)`."""
    first, second = (
        {ast.dump(one[0]) for s in side if (one := filled(s))} for side in (statement.body, statement.orelse)
    )
    return bool(first and second) and first.isdisjoint(second)


def _sends_elsewhere(statement: ast.If, loop: ast.For | ast.AsyncFor) -> bool:
    """`folder = held_out` in what is done for the first alone, where `folder` is used further down."""
    before = {name for one in ast.walk(loop) if one is not statement for name in _assigned(one)}
    again = {name for one in statement.body for name in _assigned(one) if name in before}
    read = (one for one in ast.walk(loop) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load))
    end = statement.end_lineno or statement.lineno
    return bool(again) and any(one.id in again and one.lineno > end for one in read)


def _assigned(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Assign):
        yield from (target.id for target in node.targets if isinstance(target, ast.Name))


def divides_work(call: ast.Call) -> bool:
    """`np.array_split(paths, n_workers)`: parts for workers that each do the same with what they get."""
    parts = call.args[1:2] if last_word(call.func) == "array_split" else []
    return any(says(word, "workers") for word in words_in(*parts))


def is_sent_by_place(facts: FileFacts, entry: ast.Subscript) -> bool:
    """`names[i]` in a loop over places that asks `if i in held_out: ... else: ...`."""
    index = getattr(entry.slice, "id", None)
    loops = loops_around(facts, facts.index.statement_of(entry)) if index is not None else ()
    loop = next((one for one in loops if getattr(getattr(one, "target", None), "id", None) == index), None)
    if loop is None:
        return False
    tests = (node.test for node in ast.walk(loop) if isinstance(node, ast.If) and node.orelse)
    return any(
        isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.In) and getattr(test.left, "id", None) == index
        for test in tests
    )


def is_sorted_in_place(facts: FileFacts, node: ast.expr) -> bool:
    """`files.sort()`, `random.shuffle` aside; or `self.files = sorted(self.files)`, which takes its place."""
    statement = facts.index.statement_of(node)
    call = statement.value if isinstance(statement, (ast.Expr, ast.Assign)) else None
    if not isinstance(call, ast.Call) or leaves_ties(call):
        return False
    if isinstance(statement, ast.Assign):
        names = facts.names(call.func, facts.index.scope_of(node)).names
        same = any(ast.dump(one).replace("Store", "Load") == ast.dump(node) for one in statement.targets)
        return same and not _SORTING.isdisjoint(names)
    return is_method_call(call, "sort") and call.func.value is node


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
    return last_word(above) in load_orders().reducing | load_orders().showing


def is_shown(facts: FileFacts, part: ast.expr) -> bool:
    """`print(files[:20])`: the first few are only shown; a list for a training is more than that."""
    calls = [above for above, _ in facts.index.ancestors(part) if isinstance(above, ast.Call)]
    if any(is_listed(facts, call) for call in calls):
        return False
    return any(last_word(call.func) in load_orders().showing for call in calls)
