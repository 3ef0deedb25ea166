"""Which entry of an order a subscript takes: the one of a place that is given, drawn, or goes on with a loop."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from torchlint.catalogue.load import load_orders
from torchlint.facts.definitions import definitions_of
from torchlint.facts.ends import Definition
from torchlint.facts.order.loops import names_in
from torchlint.facts.order.picked import is_last
from torchlint.facts.scopes import BindingKind
from torchlint.facts.tree import is_method_call, is_own, last_word
from torchlint.facts.words import says

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

_DEPTH = 3


def is_picked(facts: FileFacts, index: ast.expr, depth: int = _DEPTH) -> bool:
    """`files[random.randint(0, 9)]`, `files[torch.randperm(len(files))[:100]]`, `[files[i] for i in places]`."""
    if isinstance(index, ast.Subscript):
        return depth > 0 and is_picked(facts, index.value, depth - 1)
    ends = definitions_of(facts, index, facts.index.inner_scope_of(index))
    made = [(end.node, end.scope) for end in ends if isinstance(end, Definition)]
    parts = (node for node, _ in made if isinstance(node, ast.Subscript) and node is not index)
    is_drawn = any(
        facts.names(node, scope).names & load_orders().picked or _is_from_shuffled(facts, node, scope)
        for node, scope in made
    )
    return is_drawn or (depth > 0 and any(is_picked(facts, part, depth - 1) for part in parts))


def _is_from_shuffled(facts: FileFacts, node: ast.expr, scope: int) -> bool:
    """`places.pop()`, where the same function shuffles them: `random.shuffle(places)`."""
    if not is_method_call(node, "pop"):
        return False
    places = ast.unparse(node.func.value)
    calls = (site.node for site in facts.calls_in(facts.function_of(scope)))
    return any(last_word(one.func) == "shuffle" and list(map(ast.unparse, one.args[:1])) == [places] for one in calls)


def goes_on(facts: FileFacts, bounds: ast.expr | None, depth: int = _DEPTH) -> bool:
    """`files[start : start + size]` in a loop over the starts: no entry is left out."""
    scope = 0 if bounds is None else facts.index.inner_scope_of(bounds)
    for name in names_in(bounds) if bounds is not None and depth else ():
        owner = facts.resolver.owner(name, scope)
        for one in owner.bindings[name] if owner is not None else ():
            is_made = one.kind is BindingKind.ASSIGN
            if one.kind is BindingKind.ELEMENT or (is_made and goes_on(facts, one.value, depth - 1)):
                return True
    return False


def in_item(facts: FileFacts, node: ast.expr) -> bool:
    """Whether code stands in `__getitem__`."""
    function = facts.function_of(facts.index.scope_of(node))
    return function is not None and facts.symbols.scopes[function].name == "__getitem__"


def is_item(facts: FileFacts, above: ast.Subscript) -> bool:
    """`self.files[index]` in `__getitem__`."""
    return in_item(facts, above) and is_own(above.value) and not isinstance(above.slice, ast.Constant)


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
    """`files[:]`, `files[::-1]`, `files[: min(most, len(files))]`, of which no option is given: `files[::8]` is not."""
    bounds = sliced.slice
    if not isinstance(bounds, ast.Slice) or bounds.lower is not None:
        return False
    is_in_order = bounds.step is None or is_last(bounds.step)
    return is_in_order and (bounds.upper is None or _is_at_most_all(bounds.upper, sliced.value))


def _is_at_most_all(upper: ast.expr, files: ast.expr) -> bool:
    limits = upper.args if isinstance(upper, ast.Call) and last_word(upper.func) == "min" else []
    return f"len({ast.unparse(files)})" in map(ast.unparse, limits)
