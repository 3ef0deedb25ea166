"""What becomes of an order: of a listing, of a set, of results as they come. The rules TL401, TL402 and TL404 ask it.

The value that is followed is whatever has the order: a list, what goes through it, a file's lines. `sorted`, `len`,
membership and sums end the way; so does everything that is not understood.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from torchlint.catalogue.load import load_orders
from torchlint.facts.calls import targets
from torchlint.facts.definitions import definitions_of, seen_values
from torchlint.facts.ends import Definition
from torchlint.facts.flow.expressions import left
from torchlint.facts.flow.tracker import Analysis, Sink
from torchlint.facts.flow.values import Exit, Kept, Move, Value, Written
from torchlint.facts.order.arrays import JOINED, is_data
from torchlint.facts.order.files import sorts_keys, written_to
from torchlint.facts.order.loops import (
    call_given,
    counters_in,
    filled,
    hands_out_ids,
    index_name,
    names_bound,
    names_in,
    numbers_values,
    splits_by_number,
    statements_in,
)
from torchlint.facts.order.manifests import is_listed
from torchlint.facts.order.mappings import KEYED, MAKERS, VIEWS, is_empty_mapping, keyed
from torchlint.facts.order.numbering import only_finds_again, only_spells
from torchlint.facts.order.picked import PICKED, is_last, of_picked
from torchlint.facts.order.reads import (
    is_shown,
    is_sorted_in_place,
)
from torchlint.facts.order.rounds import stops_by_number, trains
from torchlint.facts.order.spelled import SPELLED, extended_text, of_spelled, spells
from torchlint.facts.order.words import DATA, DATASET, DRAW, ENUMERATE, GROUPS, IDS, INDEX, LISTS, PAIRS, SPLIT, TRAINED
from torchlint.facts.scopes import BindingKind
from torchlint.facts.tree import is_own, last_word
from torchlint.facts.words import says

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

_KEEPING = (ast.Add, ast.BitOr, ast.BitAnd, ast.BitXor, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Pow)
"""Operators of lists, sets and arrays whose result has the order of what they are given."""
_NUMBERED = "numbered"
"""The label of pairs of a number and an entry, as `enumerate` makes them."""
_ZIPPED = "zipped"
"""The label of such pairs the other way round: `zip(names, range(9))`."""

NO_LISTS = {SPELLED: of_spelled, PICKED: of_picked}
"""What becomes of values that an order decides and that are no lists themselves, by their label."""


def started(facts: FileFacts, made: ast.expr) -> Value:
    """An expression that gives an order, as the beginning of its way."""
    is_numbered = isinstance(made, ast.Call) and facts.names(made.func, facts.index.scope_of(made)).only == ENUMERATE
    return Value(made, label=_NUMBERED if is_numbered else "")


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
        if value.label in NO_LISTS:
            return NO_LISTS[value.label](self.facts, value, above) or self.passes(value)
        if isinstance(above, ast.Call):
            return self.called(value, above) if above.func is not value.node else ()
        if isinstance(above, ast.Attribute):
            return self._attribute(value, above)
        if isinstance(above, ast.BinOp):
            return [value.at(above)] if isinstance(above.op, _KEEPING) else ()
        if isinstance(above, ast.Subscript):
            return self._subscript(value, above)
        if isinstance(above, ast.comprehension):
            return self._comprehension(value, above)
        if isinstance(above, ast.For | ast.AsyncFor):
            return self._loop(value, above)
        if isinstance(above, ast.Dict):
            return self._column(value, above)
        return self.passes(value)

    def sanitizes(self, node: ast.expr) -> bool:
        return is_sorted_in_place(self.facts, node)

    def beyond(self, move: Move) -> Iterator[Move | Sink]:
        """A file keeps the order for whoever reads it."""
        above = self.facts.index.parents.get(move.node) if isinstance(move, Value) else None
        if isinstance(move, Value) and isinstance(above, ast.Call) and above.func is not move.node:
            yield from self._into_files(move, above)

    def _into_files(self, value: Value, call: ast.Call) -> Iterator[Exit]:
        is_lost = value.label == KEYED and sorts_keys(self.facts, call)
        for name in () if is_lost else sorted(written_to(self.facts, call)):
            yield Exit("", Written(name), value.path, "" if value.label == SPELLED else value.label)

    # -- what an enclosing node makes of the order ---------------------------------------------------------------------

    def _attribute(self, value: Value, above: ast.Attribute) -> Iterator[Move | Sink]:
        call = self.facts.index.parents[above]
        if value.label == KEYED:
            if above.attr in VIEWS and isinstance(call, ast.Call) and call.func is above:
                yield replace(value, node=call, label="")
        elif above.attr in load_orders().keeping_attributes:
            yield value.at(above)
        elif isinstance(call, ast.Call) and above.attr in load_orders().exporting:
            yield from [Sink(LISTS, call)] if is_listed(self.facts, call) else self._into_files(value, call)
        elif isinstance(call, ast.Call) and call.func is above:
            if above.attr in load_orders().keeping_methods:
                yield value.at(call)
            elif above.attr == "index" and len(call.args) == 1 and says(last_word(above.value), "class_names"):
                yield Sink(IDS, call)
            elif above.attr in ("sample", "head", "tail") and self._is_table(above.value):
                yield Sink(DRAW if above.attr == "sample" else SPLIT, call)

    def _is_table(self, expression: ast.expr) -> bool:
        names = self.facts.names(expression, self.facts.index.scope_of(expression)).names
        return any(name.startswith("pandas.") for name in names)

    def _column(self, value: Value, above: ast.Dict) -> Iterable[Move | Sink]:
        """`pd.DataFrame({"path": files})`: the rows have the order of their columns."""
        call = self.facts.index.parents[above]
        is_table = (
            isinstance(call, ast.Call) and self.facts.names(call.func, self._scope(call)).only in load_orders().tables
        )
        return [value.at(call)] if is_table and isinstance(call, ast.Call) else self.passes(value)

    def _scope(self, node: ast.expr) -> int:
        return self.facts.index.scope_of(node)

    def _subscript(self, value: Value, above: ast.Subscript) -> Iterator[Move | Sink]:
        is_read = above.value is value.node and isinstance(above.ctx, ast.Load) and value.label != KEYED
        if not is_read or is_shown(self.facts, above):
            return
        if isinstance(above.slice, ast.Slice):
            if not self._goes_on(above.slice):
                yield from self.sliced(value, above, is_whole=_is_whole(above.slice))
        elif self._is_item(above):
            yield Sink(DATASET, above)
        elif self._is_counted(above.slice) or self._is_parameter(above.slice):
            # `[0]` mostly takes the only entry there is, and `[i]` of a loop goes through all of them.
            yield Sink(INDEX, above)
        elif is_last(above.slice):
            yield replace(value, node=above, label=PICKED)
        elif self._is_picked(above.slice):
            yield Sink(DRAW, above)
        elif isinstance(above.slice, ast.Constant) and isinstance(above.slice.value, str):  # a column
            yield value.at(above)

    def _is_picked(self, index: ast.expr) -> bool:
        """`files[random.randint(0, 9)]`, `[files[i] for i in torch.randperm(len(files))]`."""
        ends = definitions_of(self.facts, index, self.facts.index.inner_scope_of(index))
        made = ((end.node, end.scope) for end in ends if isinstance(end, Definition))
        return any(self.facts.names(node, scope).names & load_orders().picked for node, scope in made)

    def _goes_on(self, bounds: ast.expr | None, depth: int = 3) -> bool:
        """`files[start : start + size]` in a loop over the starts: no entry is left out."""
        scope = 0 if bounds is None else self.facts.index.inner_scope_of(bounds)
        for name in names_in(bounds) if bounds is not None and depth else ():
            owner = self.facts.resolver.owner(name, scope)
            for one in owner.bindings[name] if owner is not None else ():
                is_made = one.kind is BindingKind.ASSIGN
                if one.kind is BindingKind.ELEMENT or (is_made and self._goes_on(one.value, depth - 1)):
                    return True
        return False

    def sliced(self, value: Value, above: ast.Subscript, *, is_whole: bool) -> Iterator[Move | Sink]:
        """What a slice makes of the order."""
        yield value.at(above) if is_whole else Sink(SPLIT, above)

    def _is_item(self, above: ast.Subscript) -> bool:
        """`self.files[index]` in `__getitem__`."""
        function = self.facts.function_of(self.facts.index.scope_of(above))
        in_item = function is not None and self.facts.symbols.scopes[function].name == "__getitem__"
        return in_item and is_own(above.value) and not isinstance(above.slice, ast.Constant)

    def _is_counted(self, index: ast.expr) -> bool:
        """`files[self.rank]`: an attribute that says a place, not a key of something else."""
        return isinstance(index, ast.Attribute) and says(index.attr, "place")

    def _is_parameter(self, index: ast.expr) -> bool:
        return self.facts.parameter_named(index, self.facts.index.scope_of(index)) is not None

    def called(self, value: Value, call: ast.Call) -> Iterable[Move | Sink]:
        """What a call makes of the order of an argument."""
        scope, orders = self.facts.index.inner_scope_of(call), load_orders()
        name = self.facts.names(call.func, scope).only or ""
        last = name.rpartition("::")[2].rpartition(".")[2] or getattr(call.func, "attr", "")
        if name in orders.decided_by:
            return [Sink(orders.decided_by[name], call)]
        written = self._written(value, call)
        if written:
            return [Sink(written, call)]
        if spells(self.facts, call):
            return [] if value.label == KEYED else [replace(value, node=call, label=SPELLED)]
        if name == "builtins.dict" and value.label in (_NUMBERED, _ZIPPED):
            return () if only_spells(self.facts, call) else [Sink(IDS, call)]
        if name in MAKERS and value.node in call.args[:1]:
            return [replace(value, node=call, label=KEYED)]
        if name == "builtins.zip" and len(call.args) > 1 and self.is_paired(call, value.node):
            return [Sink(PAIRS, call)]
        is_table = name in orders.tables and value.label != KEYED  # whose keys are columns
        if is_table or name in orders.keeping or name in orders.stacks:
            return [replace(value, node=call, label=self._label(value, call, name))]
        if name.startswith("torch.optim."):
            return [Sink(GROUPS, call)]
        if self.into_datasets and last.endswith("Dataset") and not targets(self.facts, call, scope):
            return [Sink(DATASET, call)]
        return self.passes(value)

    def _written(self, value: Value, call: ast.Call) -> str:
        """What a call writes for a training: a list, by the name of its file, or the rows of an array."""
        if is_listed(self.facts, call):
            return LISTS
        return DATA if value.label == JOINED and is_data(self.facts, call) else ""

    def _label(self, value: Value, call: ast.Call, name: str) -> str:
        """Whether a call gives pairs of a number and an entry."""
        others = (one.func for one in call.args if isinstance(one, ast.Call) and one is not value.node)
        is_numbered = name == "builtins.zip" and any(
            self.facts.names(other, self._scope(call)).only in load_orders().numbers for other in others
        )
        kept = JOINED if name in load_orders().stacks else "" if value.label == KEYED else value.label
        return _NUMBERED if name == ENUMERATE else _ZIPPED if is_numbered else kept

    def is_paired(self, call: ast.Call, below: ast.expr) -> bool:
        """Whether `zip` pairs by chance: with a listing of its own."""
        scope, listed = self.facts.index.inner_scope_of(call), load_orders().listed
        others = (one for one in call.args if one is not below)
        made = (found for one in others for found in seen_values(self.facts, one, scope))
        return any(isinstance(node, ast.Call) and self.facts.names(node, where).names & listed for node, where in made)

    # -- loops ---------------------------------------------------------------------------------------------------------

    def _comprehension(self, value: Value, above: ast.comprehension) -> Iterator[Move | Sink]:
        if above.iter is not value.node:
            return
        made = self.facts.index.parents[above]
        if isinstance(made, ast.DictComp):
            is_numbered = value.label == _NUMBERED and numbers_values(made)
            yield Sink(IDS, made) if is_numbered else replace(value, node=made, label=KEYED)
        elif isinstance(made, ast.ListComp | ast.GeneratorExp):
            index = index_name(above.target) if value.label == _NUMBERED else None
            is_numbered = index is not None and isinstance(made.elt, ast.Tuple) and index in names_in(made.elt)
            yield replace(value, node=made, label=_ZIPPED if is_numbered else "")

    def _loop(self, value: Value, above: ast.For | ast.AsyncFor) -> Iterator[Move | Sink]:
        """What a loop makes of the order that it goes through: ids it hands out, lists it fills."""
        if above.iter is not value.node:
            return
        index = index_name(above.target) if value.label == _NUMBERED else None
        scope, kept = self.facts.index.scope_of(above), replace(value, label="")
        numbers = {index, *self.counters_in(above)}
        for statement in statements_in(above):
            if isinstance(statement, ast.Assign) and hands_out_ids(statement, index, self.counters_in(above)):
                if not only_finds_again(self.facts, statement, above, scope):
                    yield Sink(IDS, statement)
            elif splits_by_number(statement, numbers) or stops_by_number(above, statement, numbers):
                yield Sink(SPLIT, statement)
            elif trains(self.facts, above, statement):
                yield Sink(TRAINED, statement)
            elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Yield):
                yield from left(self.facts, statement, kept.at(statement.value))
            else:
                yield from self.filled(above, statement, index, kept)

    def counters_in(self, loop: ast.For | ast.AsyncFor) -> set[str]:
        """The names by which a loop hands out numbers."""
        return counters_in(loop)

    def filled(
        self, loop: ast.For | ast.AsyncFor, statement: ast.stmt, index: str | None, value: Value
    ) -> Iterator[Move | Sink]:
        """What a statement of a loop makes of the order."""
        yield from self.written(loop, statement, value)
        mapping, addition = keyed(statement), filled(statement) or self._extended(statement)
        if mapping is not None and is_empty_mapping(self.facts, mapping):
            yield Kept(mapping, replace(value, node=mapping, label=KEYED), in_place=True)
        if addition is None:
            return
        container, element = addition
        if index is not None and element is not None and index in names_in(element):
            yield Sink(IDS, statement)
        else:
            yield Kept(container, value.at(container), in_place=True)

    def written(self, loop: ast.For | ast.AsyncFor, statement: ast.stmt, value: Value) -> Iterator[Move | Sink]:
        """What a statement of a loop writes of the order, to a file or to the end of a text."""
        call, text = call_given(statement, names_bound(loop)), extended_text(self.facts, statement)
        if call is not None:
            yield from [Sink(LISTS, statement)] if is_listed(self.facts, call) else self._into_files(value, call)
        if text is not None and names_in(text.value) & names_bound(loop):
            yield Kept(text.target, replace(value, node=text.target, label=SPELLED), in_place=True)

    def _extended(self, statement: ast.stmt) -> tuple[ast.expr, ast.expr] | None:
        """The list in `rows += work(name)`, and what it gets."""
        if not isinstance(statement, ast.AugAssign) or not isinstance(statement.op, ast.Add):
            return None
        bound = self.facts.bindings(statement.target, self.facts.index.scope_of(statement.target))
        made = [one.value for one in bound if one.statement is not statement]
        return (statement.target, statement.value) if made and all(isinstance(one, ast.List) for one in made) else None


def _is_whole(bounds: ast.Slice) -> bool:
    """`files[:]`, `files[::-1]`: `files[::8]` leaves entries out."""
    return bounds.lower is None and bounds.upper is None and (bounds.step is None or is_last(bounds.step))
