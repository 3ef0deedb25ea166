"""What becomes of the order in which results come."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from torchlint.catalogue.load import load_orders
from torchlint.facts.flow.tracker import Sink
from torchlint.facts.flow.values import Kept, Move, Value
from torchlint.facts.order.analysis import OrderAnalysis
from torchlint.facts.order.files import SPELLED
from torchlint.facts.order.loops import PAIRS, ROWS, SPLIT, filled, filled_by_number, names_bound, names_in
from torchlint.facts.order.places import is_only_reduced

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts


class ResultsAnalysis(OrderAnalysis):
    """Where the order decides something in which results come: they get joined to their inputs, or stacked."""

    def __init__(self, facts: FileFacts) -> None:
        super().__init__(facts)
        self._side_by_side: set[str] = set()
        """The lists that one loop fills, as they are written: one may hold the places of the others' rows."""

    def started_with(self, containers: list[ast.expr]) -> list[Move]:
        """Lists that a loop fills side by side, as the beginning of the way."""
        self._side_by_side |= {ast.unparse(container) for container in containers}
        return [Kept(container, Value(container), in_place=True) for container in containers]

    def steps(self, value: Value) -> Iterable[Move | Sink]:
        above = self.facts.index.parents.get(value.node)
        if value.label == SPELLED:
            return super().steps(value)
        if isinstance(above, ast.Assign) and any(self._is_column(target) for target in above.targets):
            return [Sink(PAIRS, above.targets[0])]
        if isinstance(above, ast.List):  # of tables that are put side by side
            return [value.at(above)]
        return super().steps(value)

    def _is_column(self, target: ast.expr) -> bool:
        if not isinstance(target, ast.Subscript):
            return False
        names = self.facts.names(target.value, self.facts.index.scope_of(target)).names
        return bool(names) and all(name.startswith("pandas.") for name in names)

    def called(self, value: Value, call: ast.Call) -> Iterable[Move | Sink]:
        scope = self.facts.index.scope_of(call)
        name = self.facts.names(call.func, scope).only or ""
        if name in load_orders().stacks or name in load_orders().arrays:
            is_harmless = len(self._side_by_side) > 1 or is_only_reduced(self.facts, call)
            return () if is_harmless else [Sink(ROWS, call)]
        if name in load_orders().tables:
            return [value.at(call)]
        if name.startswith("pandas."):
            axis = next((keyword.value for keyword in call.keywords if keyword.arg == "axis"), None)
            is_beside = bool(set(self.facts.value(axis, scope).constants) & {1, "columns"})
            return [Sink(PAIRS, call)] if name == "pandas.concat" and is_beside else ()
        return super().called(value, call)

    def is_paired(self, call: ast.Call, below: ast.expr) -> bool:
        """Whether `zip` pairs results with what came in another order."""
        others = [one for one in call.args if one is not below]
        numbers = load_orders().numbers | {"itertools.repeat"}
        scope = self.facts.index.scope_of(call)
        calls = [self.facts.names(one.func, scope).only for one in others if isinstance(one, ast.Call)]
        return not any(one in numbers for one in calls) and not any(
            ast.unparse(one) in self._side_by_side for one in others
        )

    def sliced(self, value: Value, above: ast.Subscript, *, is_whole: bool) -> Iterator[Move | Sink]:
        if is_whole:
            yield value.at(above)
        elif self._has_counterpart(above):  # else it is a look at the first few
            yield Sink(SPLIT, above)

    def _has_counterpart(self, above: ast.Subscript) -> bool:
        """`rows[:n]`, where `rows[n:]` stands beside it."""
        bound = _only_bound(above)
        if bound is None or not isinstance(above.value, ast.Name):
            return False
        reads = self.facts.index.reads(self.facts.index.scope_of(above), above.value.id)
        others = (self.facts.index.parents[read] for read in reads)
        return any(_only_bound(one) == (bound[0], not bound[1]) for one in others)

    def numbers_in(self, _loop: ast.For | ast.AsyncFor, index: str | None) -> set[str]:
        return {index} if index is not None else set()  # what else is counted is mostly progress

    def filled(
        self, loop: ast.For | ast.AsyncFor, statement: ast.stmt, index: str | None, value: Value
    ) -> Iterator[Move | Sink]:
        yield from self.written(loop, statement, value)
        addition = filled_by_number(statement, index) or filled(statement)
        if addition is not None:
            container, element = addition
            self._side_by_side.add(ast.unparse(container))
            if element is not None and names_bound(loop) & names_in(element):
                yield Kept(container, value.at(container), in_place=True)


def _only_bound(node: ast.AST) -> tuple[str, bool] | None:
    """The one bound of a slice, as it is written, and whether the slice begins there."""
    bounds = node.slice if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice) else None
    given = (bounds.lower or bounds.upper) if bounds is not None and bounds.step is None else None
    if bounds is None or given is None or (bounds.lower is not None and bounds.upper is not None):
        return None
    return ast.unparse(given), bounds.lower is not None
