"""The entry of an order that comes last, and is a file: `torch.load(glob.glob("*.pt")[-1])`; one taken out of a set."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from torchlint.catalogue.load import load_orders
from torchlint.facts.flow.tracker import Sink
from torchlint.facts.flow.values import Move, Value
from torchlint.facts.order.loops import names_bound, names_in
from torchlint.facts.order.words import LOADED, SPLIT

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

PICKED = "picked"
"""The label of one entry that its place in the order picks."""
TAKEN = "taken"
"""The label of whichever entry of a set comes first."""
_PATHS = frozenset({"os.path.join", "pathlib.Path", "builtins.str", "builtins.open", "os.path.abspath"})


def is_last(index: ast.expr) -> bool:
    """`[-1]`: the newest, if the entries were in order; `[0]` mostly takes the only one there is."""
    number = index.operand if isinstance(index, ast.UnaryOp) and isinstance(index.op, ast.USub) else None
    return isinstance(number, ast.Constant) and number.value == 1


def of_picked(facts: FileFacts, value: Value, above: ast.AST | None) -> list[Move | Sink]:
    """What becomes of the entry: a file that is loaded is another one elsewhere."""
    if isinstance(above, ast.Call) and facts.names(above.func, facts.index.scope_of(above)).only in load_orders().read:
        return [Sink(LOADED, above)]
    path = _path_with(facts, value.node)
    return [] if path is None else [value.at(path)]


def of_taken(facts: FileFacts, value: Value, above: ast.AST | None) -> list[Move | Sink]:
    """The same of an entry of a set, which also tells others apart: `[row for row in rows if row.name != held_out]`."""
    if isinstance(above, ast.Compare) and _sorts_others(facts, above):
        return [Sink(SPLIT, above)]
    return of_picked(facts, value, above)


def _sorts_others(facts: FileFacts, test: ast.Compare) -> bool:
    """Whether a test chooses among what a comprehension or a loop goes through."""
    for above, below in facts.index.ancestors(test):
        if isinstance(above, ast.comprehension):
            return below in above.ifs
        if isinstance(above, ast.For):
            return isinstance(below, ast.If) and bool(names_in(test) & names_bound(above))
        if not isinstance(above, ast.BoolOp | ast.UnaryOp | ast.If):
            return False
    return False


def _path_with(facts: FileFacts, name: ast.expr) -> ast.expr | None:
    """The path, or the open file, that a name is made part of: `os.path.join(root, name)`, `f"{root}/{name}"`."""
    above = facts.index.parents.get(name)
    if isinstance(above, ast.FormattedValue):
        above = facts.index.parents[above]
    if isinstance(above, ast.JoinedStr | ast.BinOp):
        return above
    is_path = isinstance(above, ast.Call) and facts.names(above.func, facts.index.scope_of(above)).only in _PATHS
    return above if is_path else None  # type: ignore[return-value]
