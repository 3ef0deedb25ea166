"""Whether an order is shown to decide nothing: every use of it ends in what has no order."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from torchlint.facts.file import FileFacts
from torchlint.facts.flow.tracker import Analysis, Flow, Sink, follow
from torchlint.facts.flow.values import Move, Value
from torchlint.facts.order.analysis import started
from torchlint.facts.order.places import is_sorted_in_place

_ENDING = frozenset(
    {
        *("builtins.sorted", "builtins.len", "builtins.set", "builtins.frozenset", "builtins.any", "builtins.all"),
        *("builtins.max", "builtins.min", "builtins.bool", "builtins.print", "numpy.unique", "numpy.sort"),
        *("natsort.natsorted", "natsort.os_sorted"),
    }
)
"""What they give is the same for any order."""
_LISTS = frozenset({"builtins.list", "builtins.tuple", "builtins.iter"})
_PURE = ("builtins.int", "builtins.len", "builtins.str", "builtins.float", "os.path.", "pathlib.Path")
_UNORDERED = (ast.In, ast.NotIn, ast.Eq, ast.NotEq, ast.Is, ast.IsNot)


class MustAnalysis(Analysis):
    """Where an order gets to a use that is not known to ignore it."""

    def steps(self, value: Value) -> Iterable[Move | Sink]:
        above = self.facts.index.parents.get(value.node)
        if self._ends(value.node, above):
            return ()
        kept = self._kept_in(value, above)
        if kept is not None:
            return () if isinstance(kept, ast.SetComp) else [value.at(kept)]
        return list(self.passes(value)) or [Sink("a use that is not known to ignore it", value.node)]

    def sanitizes(self, node: ast.expr) -> bool:
        return is_sorted_in_place(self.facts, node)

    def _kept_in(self, value: Value, above: ast.AST | None) -> ast.expr | None:
        """The list that has the same order: of `list(names)`, of `[name for name in names]`."""
        if value.path:
            return None
        if isinstance(above, ast.Call):
            return above if self._name(above) in _LISTS and above.func is not value.node else None
        made = self.facts.index.parents.get(above) if isinstance(above, ast.comprehension) else None
        is_listed = isinstance(made, ast.ListComp | ast.GeneratorExp | ast.SetComp) and above.iter is value.node  # type: ignore[union-attr]
        return made if is_listed and self._is_pure(made, value.node) else None  # type: ignore[arg-type,return-value]

    def _is_pure(self, made: ast.ListComp | ast.GeneratorExp | ast.SetComp, listed: ast.expr) -> bool:
        """Whether an entry depends on itself alone: calls may count, or draw."""
        parts = [made.elt, *(part for one in made.generators for part in (one.iter, *one.ifs) if part is not listed)]
        calls = [one for part in parts for one in ast.walk(part) if isinstance(one, ast.Call | ast.NamedExpr)]
        return all(isinstance(one, ast.Call) and self._name(one).startswith(_PURE) for one in calls)

    def _name(self, call: ast.Call) -> str:
        return self.facts.names(call.func, self.facts.index.inner_scope_of(call)).only or ""

    def _ends(self, node: ast.expr, above: ast.AST | None) -> bool:
        if isinstance(above, ast.Call) and above.func is not node:
            return self._name(above) in _ENDING
        if isinstance(above, ast.Compare):
            return all(isinstance(one, _UNORDERED) for one in above.ops)
        if is_sorted_in_place(self.facts, node):
            return True
        is_test = isinstance(above, ast.If | ast.While | ast.IfExp) and above.test is node
        return is_test or isinstance(above, ast.Expr | ast.Assert | ast.UnaryOp)


def open_uses(facts: FileFacts, made: ast.expr) -> Flow:
    """Where what gives an order gets to a use that is not known to ignore it, or leaves the file.

    Nowhere for `names = os.listdir(folder)` where all that follows is `len(names)` and `"a.txt" in names`.
    """
    return follow(MustAnalysis(facts), started(facts, made))
