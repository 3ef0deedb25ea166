"""What becomes of an order: of a listing, of a set, of results as they come. The rules TL401, TL402 and TL404 ask it.

The value that is followed is whatever has the order: a list, what goes through it, a file's lines. `sorted`, `len`,
membership and sums end the way; so does everything that is not understood.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping

from msgspec.structs import replace

from torchlint.catalogue.load import load_orders
from torchlint.facts.callees import names_called
from torchlint.facts.calls import targets
from torchlint.facts.definitions import seen_values
from torchlint.facts.file import FileFacts
from torchlint.facts.flow.expressions import left
from torchlint.facts.flow.tracker import Analysis, Sink
from torchlint.facts.flow.values import EACH, Exit, Item, Kept, Move, Value, Written
from torchlint.facts.notation import last_part
from torchlint.facts.order import files, loops, places
from torchlint.facts.tree import last_word, names_in
from torchlint.facts.words import says

_KEEPING = (ast.Add, ast.BitOr, ast.BitAnd, ast.BitXor, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Pow)
"""Operators of lists, sets and arrays whose result has the order of what they are given."""
For = ast.For | ast.AsyncFor
_NUMBERED = "numbered"
"""The label of pairs of a number and an entry, as `enumerate` makes them."""
_ZIPPED = "zipped"
"""The label of such pairs the other way round: `zip(names, range(9))`."""


def started(facts: FileFacts, made: ast.expr) -> Value:
    """An expression that gives an order, as the beginning of its way."""
    name = facts.names(made.func, facts.index.scope_of(made)).only if isinstance(made, ast.Call) else None
    return Value(made, label=_NUMBERED if name == loops.ENUMERATE else "")


_BY_NODE: Mapping[type, str] = {
    ast.Attribute: "_attribute",
    ast.BinOp: "_operated",
    ast.Subscript: "_subscript",
    ast.Starred: "_spread",
    ast.Dict: "_column",
    ast.comprehension: "_comprehension",
    **dict.fromkeys((ast.For, ast.AsyncFor), "_loop"),
}
"""What makes something of the order in a node, by name: an analysis that held its own methods would never be freed."""


class OrderAnalysis(Analysis):
    """Where an order decides something."""

    def __init__(self, facts: FileFacts, *, into_datasets: bool = True) -> None:
        """`into_datasets`: a list handed to a `...Dataset(...)` is its items, as files are; names are looked up."""
        super().__init__(facts)
        self.into_datasets = into_datasets

    def steps(self, value: Value) -> Iterable[Move | Sink]:
        above = self.facts.index.parents.get(value.node)
        if isinstance(above, ast.keyword):
            above = self.facts.index.parents[above]
        if value.label == files.SPELLED:
            return self._spelled(value, above)
        if isinstance(above, ast.Call):
            return self.called(value, above) if above.func is not value.node else ()
        handled = _BY_NODE.get(type(above))
        found: Iterable[Move | Sink] = self.passes(value) if handled is None else getattr(self, handled)(value, above)
        return found

    def sanitizes(self, node: ast.expr) -> bool:
        return places.is_sorted_in_place(self.facts, node)

    def beyond(self, move: Move) -> Iterator[Move | Sink]:
        """A file keeps the order for whoever reads it."""
        above = self.facts.index.parents.get(move.node) if isinstance(move, Value) else None
        if isinstance(move, Value) and isinstance(above, ast.Call) and above.func is not move.node:
            yield from self._into_files(move, above)

    def _into_files(self, value: Value, call: ast.Call) -> Iterator[Exit]:
        is_lost = value.label == loops.KEYED and files.sorts_keys(self.facts, call)
        file, scope = files.file_of(self.facts, call), self.facts.index.inner_scope_of(call)
        for name in () if is_lost else sorted(files.names_of_file(self.facts, file, scope)):
            yield Exit("", Written(name), value.path, "" if value.label == files.SPELLED else value.label)

    # -- what an enclosing node makes of the order ---------------------------------------------------------------------

    def _attribute(self, value: Value, above: ast.Attribute) -> Iterator[Move | Sink]:
        call = self.facts.index.parents[above]
        if value.label == loops.KEYED:
            if above.attr in loops.VIEWS and isinstance(call, ast.Call) and call.func is above:
                yield replace(value, node=call, label="")
        elif above.attr in load_orders().keeping_attributes:
            yield value.at(above)
        elif isinstance(call, ast.Call) and above.attr in load_orders().exporting:
            yield from [Sink(loops.LISTS, call)] if files.is_listed(self.facts, call) else self._into_files(value, call)
        elif isinstance(call, ast.Call) and call.func is above:
            if above.attr in load_orders().keeping_methods:
                yield value.at(call)
            elif above.attr == "index" and len(call.args) == 1 and says(last_word(above.value), "class_names"):
                yield Sink(loops.IDS, call)

    def _spelled(self, value: Value, above: ast.AST | None) -> Iterable[Move | Sink]:
        """A text of the entries may be cut and searched: nobody counts its letters."""
        if isinstance(above, (ast.BinOp, ast.FormattedValue, ast.JoinedStr)):
            return [value.at(above)]
        is_list = isinstance(above, ast.Call) and files.is_listed(self.facts, above)
        return [Sink(loops.LISTS, above)] if is_list else self.passes(value)  # type: ignore[arg-type]

    def _column(self, value: Value, above: ast.Dict) -> Iterable[Move | Sink]:
        """`pd.DataFrame({"path": files})`: the rows have the order of their columns."""
        call = self.facts.index.parents[above]
        is_table = isinstance(call, ast.Call) and self._names(call) in load_orders().tables
        return [value.at(call)] if is_table and isinstance(call, ast.Call) else self.passes(value)

    def _names(self, call: ast.Call) -> str | None:
        return self.facts.names(call.func, self.facts.index.scope_of(call)).only

    def _subscript(self, value: Value, above: ast.Subscript) -> Iterator[Move | Sink]:
        is_read = above.value is value.node and isinstance(above.ctx, ast.Load) and value.label != loops.KEYED
        if not is_read or places.is_shown(self.facts, above):
            return
        if isinstance(above.slice, ast.Slice):
            if not places.goes_on(self.facts, above.slice):
                yield from self.sliced(value, above, is_whole=places.is_whole(above))
        elif places.is_item(self.facts, above):
            yield Sink(loops.DATASET, above)
        elif places.is_place(self.facts, above.slice):
            # `[0]` mostly takes the only entry there is, and `[i]` of a loop goes through all of them.
            yield Sink(loops.INDEX, above)
        elif places.is_picked(self.facts, above.slice):
            yield Sink(loops.DRAW, above)
        elif places.is_sent_by_place(self.facts, above):
            yield Sink(loops.SPLIT, above)
        elif isinstance(above.slice, ast.Constant) and isinstance(above.slice.value, str):  # a column
            yield value.at(above)

    def sliced(self, value: Value, above: ast.Subscript, *, is_whole: bool) -> Iterator[Move | Sink]:
        """What a slice makes of the order."""
        yield value.at(above) if is_whole else Sink(loops.SPLIT, above)

    def called(self, value: Value, call: ast.Call) -> Iterable[Move | Sink]:
        """What a call makes of the order of an argument."""
        scope, orders = self.facts.index.inner_scope_of(call), load_orders()
        name = self.facts.names(call.func, scope).only or ""
        made = names_called(self.facts, call.func, scope).only if name.endswith(".__init__") else name  # of a base
        last = last_part(made or "") or getattr(call.func, "attr", "")
        decided = orders.decided_by.get(name) or self._written(value, call)
        if decided:
            return () if places.divides_work(call) else [Sink(decided, call)]
        if files.spells(self.facts, call):
            return [] if value.label == loops.KEYED else [replace(value, node=call, label=files.SPELLED)]
        if name == "builtins.dict" and value.label in (_NUMBERED, _ZIPPED):
            return () if loops.only_spells(self.facts, call) else [Sink(loops.IDS, call)]
        if name in ("builtins.next", "builtins.sorted"):
            return self._asked(value, call, name)
        if name in loops.MAKERS and value.node in call.args[:1]:
            return [replace(value, node=call, label=loops.KEYED)]
        if name == "builtins.zip" and len(call.args) > 1 and self.is_paired(call, value.node):
            return [Sink(loops.PAIRS, call)]
        is_table = name in orders.tables and value.label != loops.KEYED  # whose keys are columns
        if is_table or name in orders.kept_by:
            return [replace(value, node=call, label=self._label(value, call, name))]
        if name.startswith("torch.optim."):
            return [Sink(loops.GROUPS, call)]
        if self.into_datasets and last.endswith("Dataset") and not targets(self.facts, call, scope):
            return [Sink(loops.DATASET, call)]
        return self.passes(value)

    def _written(self, value: Value, call: ast.Call) -> str:
        """What a call writes for a training: a list, by the name of its file, or the rows of an array."""
        if files.is_listed(self.facts, call):
            return loops.LISTS
        return loops.DATA if value.label == files.JOINED and files.is_data(self.facts, call) else ""

    def _label(self, value: Value, call: ast.Call, name: str) -> str:
        """Whether a call gives pairs of a number and an entry."""
        others = (one.func for one in call.args if isinstance(one, ast.Call) and one is not value.node)
        is_numbered = name == "builtins.zip" and any(
            self.facts.names(other, self.facts.index.scope_of(call)).only in load_orders().numbers for other in others
        )
        kept = files.JOINED if name in load_orders().stacks else "" if value.label == loops.KEYED else value.label
        return _NUMBERED if name == loops.ENUMERATE else _ZIPPED if is_numbered else kept

    def is_paired(self, call: ast.Call, below: ast.expr) -> bool:
        """Whether `zip` pairs by chance: with a listing of its own."""
        scope, listed = self.facts.index.inner_scope_of(call), load_orders().listed
        others = (one for one in call.args if one is not below)
        made = (found for one in others for found in seen_values(self.facts, one, scope))
        return any(isinstance(node, ast.Call) and self.facts.names(node, where).names & listed for node, where in made)

    def _operated(self, value: Value, above: ast.BinOp) -> list[Value]:
        return [value.at(above)] if isinstance(above.op, _KEEPING) else []

    def _spread(self, value: Value, above: ast.Starred) -> Iterable[Move | Sink]:
        """`names, texts = zip(*pairs)`: each has the order of the pairs. `np.savez(path, *rows)` numbers the rows."""
        call = self.facts.index.parents[above]
        name = self._names(call) if isinstance(call, ast.Call) and not value.path else None
        if name == "builtins.zip":
            return [replace(value, node=call, path=(EACH,), label="")]
        return [Sink(loops.DATA, call)] if name in files.NUMBERING else self.passes(value)

    # -- loops ---------------------------------------------------------------------------------------------------------

    def _comprehension(self, value: Value, above: ast.comprehension) -> Iterator[Move | Sink]:
        if above.iter is not value.node or value.path:
            yield from self.passes(value)
            return
        made = self.facts.index.parents[above]
        if isinstance(made, ast.DictComp):
            index = loops.index_name(made.generators[0].target) if value.label == _NUMBERED else None
            is_numbered = index is not None and index in names_in(made.value) | names_in(made.key)
            yield Sink(loops.IDS, made) if is_numbered else replace(value, node=made, label=loops.KEYED)
        elif isinstance(made, (ast.ListComp, ast.GeneratorExp)):
            index = loops.index_name(above.target) if value.label == _NUMBERED else None
            is_numbered = index is not None and isinstance(made.elt, ast.Tuple) and index in names_in(made.elt)
            yield replace(value, node=made, label=_ZIPPED if is_numbered else "")

    def _loop(self, value: Value, above: For) -> Iterator[Move | Sink]:
        """What a loop makes of the order that it goes through: ids it hands out, lists it fills."""
        if above.iter is not value.node or value.path:
            yield from self.passes(value)
            return
        index = loops.index_name(above.target) if value.label == _NUMBERED else None
        kept = replace(value, label="")
        numbers = self.numbers_in(above, index)
        for statement in loops.statements_in(above):
            if loops.gets_ids(statement, numbers):
                yield Sink(loops.IDS, statement)
            elif places.splits(statement, above, numbers):
                yield Sink(loops.SPLIT, statement)
            elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Yield):
                yield from left(self.facts, kept.at(statement.value), statement)
            else:
                yield from self.filled(above, statement, index, kept)

    def _asked(self, value: Value, call: ast.Call, name: str) -> Iterator[Move]:
        """`_, folders, files = next(os.walk(root))`, the names in each of `sorted(os.walk(root))`; ties."""
        walked = (1, 2) if isinstance(value.node, ast.Call) and self._names(value.node) == "os.walk" else ()
        folders = (EACH,) if name == "builtins.sorted" else ()  # in order, unlike the names in each of them
        yield from (replace(value, node=call, path=(*folders, Item(place))) for place in walked)
        yield from [value.at(call)] if places.leaves_ties(call) else []

    def numbers_in(self, loop: For, index: str | None) -> set[str]:
        """The names by which a loop hands out numbers."""
        counted = {name for node in ast.walk(loop) if (name := loops.counted(node)) is not None}
        return counted | ({index} if index is not None else set())

    def filled(self, loop: For, statement: ast.stmt, index: str | None, value: Value) -> Iterator[Move | Sink]:
        """What a statement of a loop makes of the order."""
        yield from self.written(loop, statement, value)
        addition = loops.filled(statement)
        if addition is None:
            return
        container, element = addition
        if index is not None and element is not None and index in names_in(element):
            yield Sink(loops.IDS, statement)
        else:
            yield Kept(container, value.at(container), in_place=True)

    def written(self, loop: For, statement: ast.stmt, value: Value) -> Iterator[Move | Sink]:
        """What a statement of a loop writes of the order to a file."""
        call = loops.call_given(statement, loops.names_bound(loop))
        if call is not None and not files.is_of_entry(self.facts, call, loop):
            is_list = files.is_listed(self.facts, call)
            yield from [Sink(loops.LISTS, statement)] if is_list else self._into_files(value, call)
