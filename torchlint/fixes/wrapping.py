"""Fixes that put a `sorted(...)` around what has no order of its own."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.catalogue.values import Kind
from torchlint.facts.definitions import definitions_of
from torchlint.facts.flow.values import Definition, Through
from torchlint.facts.order.salted import ADDRESSED
from torchlint.facts.tensors.kinds import kind_of
from torchlint.facts.tree import is_method_call, last_word
from torchlint.fixes.plan import Plan, plan
from torchlint.fixes.spot import Spot
from torchlint.source.edits import Replacement, insertion

_BY_NAME = ", key=lambda entry: entry.name"
_LISTS = frozenset({"os.listdir", "glob.glob", "glob.glob0", "glob.glob1"})
"""These give a list already: in its place a sorted one does all that it did."""
_ITERATING = frozenset(
    {"all", "any", "dict", "enumerate", "filter", "frozenset", "len", "list", "map", "max", "min", "reversed", "set",
     "sorted", "sum", "tuple", "zip"}
)  # fmt: skip
"""Built-in functions that take any iterable for what it holds."""
_WRAPPING = frozenset({"tqdm", "trange", "track", "progressbar", "enumerate", "zip"})
"""What shows how far an iteration is."""
_OF_TEXT = frozenset(
    {
        "split",
        "rsplit",
        "splitlines",
        "lower",
        "upper",
        "strip",
        "lstrip",
        "rstrip",
        "join",
        "format",
        "replace",
        "title",
    }
)


def sorted_listing(spot: Spot) -> Plan | None:
    """`os.listdir(root)` → `sorted(os.listdir(root))`. Names and paths have an order; entries are sorted by name."""
    call = spot.call
    if call is None or spot.diagnostic.variant not in ("default", "scandir") or not _can_be_wrapped(spot, call):
        return None
    key = _BY_NAME if spot.diagnostic.variant == "scandir" else ""
    if spot.full_name(call.func) in _LISTS:
        return plan(_wrapped(spot, call, key))
    uses = list(_uses(spot, call))
    if not uses or any(use is None for use in uses):
        return None
    return plan(_wrapped(spot, call, key), is_safe=all(uses))


def sorted_set(spot: Spot) -> Plan | None:
    """`enumerate(set(words))` → `enumerate(sorted(set(words)))`. Safe where the set evidently holds text."""
    expression = spot.node(ast.expr)
    if expression is None or not _can_be_wrapped(spot, expression) or _holds_objects(spot, expression):
        return None
    uses = list(_uses(spot, expression))
    if not uses or not all(uses):
        return None
    return plan(_wrapped(spot, expression, ""), is_safe=_holds_text(spot, expression))


def _can_be_wrapped(spot: Spot, expression: ast.expr) -> bool:
    return spot.is_builtin("sorted", expression) and not spot.code.is_in_string(expression)


def _wrapped(spot: Spot, expression: ast.expr, key: str) -> list[Replacement]:
    """`sorted(...)`; a `list(...)` around it becomes that, as both give a list."""
    code, parent = spot.code, spot.facts.index.parents[expression]
    is_listed = isinstance(parent, ast.Call) and parent.args == [expression] and not parent.keywords
    if is_listed and _is_builtin_call(spot, parent, "list"):
        assert isinstance(parent, ast.Call)
        behind = [] if not key else [insertion(*code.end(expression), key)]
        return [code.replaced(parent.func, "sorted"), *behind]
    return [insertion(*code.start(expression), "sorted("), insertion(*code.end(expression), f"{key})")]


def _is_builtin_call(spot: Spot, node: ast.AST, *names: str) -> bool:
    is_named = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names
    return is_named and spot.is_builtin(last_word(node.func), node)  # type: ignore[attr-defined]


def _uses(spot: Spot, expression: ast.expr) -> Iterator[bool | None]:
    """For each use of a value: True where any iterable does, False where a list may not, None where it does not.

    A value that is kept under one name is used where that is read.
    """
    parent = spot.facts.index.parents[expression]
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name):
        target = parent.targets[0]
        bindings = spot.facts.bindings(target, spot.scope_of(target))
        reads = spot.facts.index.reads_of(target)
        is_plain = len(bindings) == 1 and spot.facts.function_of(spot.scope_of(target)) is not None
        yield from (_use(spot, read) if is_plain else None for read in reads)
        return
    yield _use(spot, expression)


def _use(spot: Spot, expression: ast.expr) -> bool | None:
    parent = spot.facts.index.parents[expression]
    if isinstance(parent, ast.For | ast.AsyncFor | ast.comprehension):
        return True if parent.iter is expression else None
    if isinstance(parent, ast.Starred | ast.YieldFrom):
        return True
    if isinstance(parent, ast.Call) and expression in parent.args:
        is_iterating = _is_builtin_call(spot, parent, *_ITERATING) or last_word(parent.func) in _WRAPPING
        return True if is_iterating or is_method_call(parent, "extend", "join") else None
    return False if isinstance(parent, ast.Return) else None


def _holds_objects(spot: Spot, expression: ast.expr) -> bool:
    """Whether a set holds parameters or modules: these have no order."""
    scope = spot.scope_of(expression)
    given = expression.args[0] if isinstance(expression, ast.Call) and expression.args else expression
    ends = definitions_of(spot.facts, given, scope, Through.PARAMETERS | Through.RESULTS)
    shown = [expression, *(end.node for end in ends if isinstance(end, Definition))]
    return any(is_method_call(node, *ADDRESSED) for one in shown for node in ast.walk(one))


def _holds_text(spot: Spot, expression: ast.expr) -> bool:
    """Whether a set holds nothing but text, as far as its own expression shows."""
    match expression:
        case ast.Set(elts=elements):
            return all(_is_text(spot, one) for one in elements)
        case ast.SetComp(elt=element):
            return _is_text(spot, element)
        case ast.Call(
            func=ast.Name(id="set" | "frozenset"), args=[ast.GeneratorExp(elt=element) | ast.ListComp(elt=element)]
        ):
            return _is_text(spot, element)
        case ast.Call(func=ast.Name(id="set" | "frozenset"), args=[given]):
            return _is_text(spot, given) or _gives_text(spot, given)
    return False


def _gives_text(spot: Spot, given: ast.expr) -> bool:
    """Whether going through an expression gives text: `line.split()`, a name for that, or a list of literals."""
    for end in definitions_of(spot.facts, given, spot.scope_of(given)) or [None]:
        if not isinstance(end, Definition) or end.parts:
            return False
        elements = end.node.elts if isinstance(end.node, ast.List | ast.Tuple) else []
        is_text = bool(elements) and all(_is_text(spot, one) for one in elements)
        if not is_text and not is_method_call(end.node, "split", "rsplit", "splitlines"):
            return False
    return True


def _is_text(spot: Spot, expression: ast.expr) -> bool:
    if isinstance(expression, ast.JoinedStr) or is_method_call(expression, *_OF_TEXT):
        return True
    return kind_of(spot.facts, expression, spot.facts.index.inner_scope_of(expression)) is Kind.TEXT
