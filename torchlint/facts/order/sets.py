"""What becomes of the order of a set: what becomes of others, and which entry is taken out of it first."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from msgspec.structs import replace

from torchlint.facts.control.blocks import loops_around
from torchlint.facts.flow.values import Kept, Move, Value
from torchlint.facts.order.analysis import OrderAnalysis
from torchlint.facts.order.loops import is_number, names_in
from torchlint.facts.order.picked import TAKEN, is_last
from torchlint.facts.tree import last_word

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts
    from torchlint.facts.flow.tracker import Sink


class SetAnalysis(OrderAnalysis):
    """Where the order of a set decides something."""

    def steps(self, value: Value) -> Iterable[Move | Sink]:
        if not value.label and not _is_narrowed(value.node) and not _holds_one(self.facts, value.node):
            yield from self._taken(value)
        yield from super().steps(value)

    def _taken(self, value: Value) -> Iterator[Move]:
        """What gets one entry: `names.pop()`, `next(iter(names))`, `list(names)[0]`, `first, *_ = names`."""
        above, taken = self.facts.index.parents.get(value.node), replace(value, label=TAKEN)
        if isinstance(above, ast.Subscript) and above.value is value.node:
            yield from [taken.at(above)] if is_number(above.slice) or is_last(above.slice) else []
        elif isinstance(above, ast.Attribute) and above.attr == "pop":
            call = self.facts.index.parents[above]
            is_once = not any(True for _ in loops_around(self.facts, self.facts.index.statement_of(above)))
            yield from [taken.at(call)] if isinstance(call, ast.Call) and not call.args and is_once else []
        elif isinstance(above, ast.Call) and self._names(above) == "builtins.next":
            yield taken.at(above)
        elif isinstance(above, ast.Assign) and any(_spreads(target) for target in above.targets):
            named = (one for target in above.targets if isinstance(target, ast.Tuple | ast.List) for one in target.elts)
            yield from (Kept(one, taken) for one in named if not isinstance(one, ast.Starred))


def _spreads(target: ast.expr) -> bool:
    parts = target.elts if isinstance(target, ast.Tuple | ast.List) else []
    return any(isinstance(part, ast.Starred) for part in parts)


def _is_narrowed(entries: ast.expr) -> bool:
    """`[name for name in names if name.endswith(suffix)]`: mostly one is left."""
    return isinstance(entries, ast.ListComp | ast.GeneratorExp) and any(part.ifs for part in entries.generators)


def _holds_one(facts: FileFacts, entries: ast.expr) -> bool:
    """Whether the function asks whether there is one entry only: `assert len(names) == 1`."""
    names = names_in(entries)
    function = facts.function_of(facts.index.scope_of(entries))
    return any(
        names & names_in(call)
        for call in (site.node for site in facts.calls_in(function))
        if last_word(call.func) == "len" and _is_compared_with_one(facts, call)
    )


def _is_compared_with_one(facts: FileFacts, length: ast.Call) -> bool:
    test = facts.index.parents.get(length)
    return isinstance(test, ast.Compare) and any(
        isinstance(one, ast.Constant) and one.value == 1 for one in test.comparators
    )
