"""What becomes of memory that nothing has written: what reads it, and what may write it first."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import permutations

from msgspec.structs import replace

from torchlint.catalogue.tensor_methods import TensorMethod
from torchlint.catalogue.values import Kind
from torchlint.facts.calls import callers
from torchlint.facts.classes import is_module_class
from torchlint.facts.control.order import dominates
from torchlint.facts.file import FileFacts
from torchlint.facts.flow.chronology import Chronology
from torchlint.facts.flow.containment import Containment, call_with
from torchlint.facts.flow.stores import other_stores
from torchlint.facts.flow.tracker import Analysis, Sink, follow
from torchlint.facts.flow.values import Exit, Kept, Move, Returned, Stored, Value
from torchlint.facts.notation import is_result
from torchlint.facts.reaching import reaching
from torchlint.facts.tensors.kinds import kind_of
from torchlint.facts.tensors.methods import (
    METADATA,
    SAME_MEMORY,
    function_named,
    joins,
    method_named,
    only_describes,
    reads_all,
)

PARAMETER = "torch.nn.Parameter"
SCALED = frozenset({"addmm", "addmv", "addr", "addbmm", "baddbmm"})
"""With `beta=0` these leave their input unread."""
_CHANGING = frozenset({"out", "inplace", None})
"""Keywords of functions that write; `**options` may hold one."""
_COPY = "a copy"
"""The label of memory of its own that holds what was found in the first."""
_DOUBTFUL = "perhaps replaced"
"""The label of what a name stands for unless another value has taken its place."""


class Memory(Containment):
    """Follows memory through views, names, containers and functions.

    A write is whatever may give it values: what evidently does, and all that no step understands.
    """

    def __init__(self, facts: FileFacts, made: ast.expr | None = None, shown: ast.AST | None = None) -> None:
        """`made` makes the memory; the way to `shown` is asked for."""
        super().__init__(facts)
        self.reads: list[Value] = []
        self.updates: list[Value] = []
        """Computations in place, whose results stay in the memory for others: `total += x`."""
        self.writes: list[Value] = []
        self.returned: list[Returned] = []
        """By which functions callers get it."""
        self._handed: dict[Exit, list[Value]] = defaultdict(list)
        self._shown = shown
        self._chronology = Chronology(facts)
        if made is not None:
            self._chronology.made(facts.index.statement_of(made))

    @property
    def exposed(self) -> Value | None:
        """The first read that no write may precede; an update is one where others get the memory."""
        found = [*self.reads, *(self.updates if self.returned or self._handed else ())]
        return next((one for one in found if not self._is_filled(one)), None)

    def reaches_before(self, exit_: Exit, read: Value) -> bool:
        """Whether others may have the memory by an exit before a read."""
        handed = self._handed.get(exit_)
        return handed is None or any(self._chronology.may_precede(one, read) for one in handed)

    def _is_filled(self, read: Value) -> bool:
        """Whether anything may write the memory before a read; what writes a copy of it does not."""
        writes = (one for one in self.writes if one.label != _COPY or read.label == _COPY)
        return any(self._chronology.may_precede(one, read) for one in writes)

    # -- what the engine asks ------------------------------------------------------------------------------------------

    def passes(self, value: Value) -> Iterator[Move | Sink]:
        above = self.facts.index.parents[value.node]
        if isinstance(above, ast.Call) and value.node in above.args[:1] and _is_joined_in(self.facts, above):
            yield from self._read(value, above)
        else:
            yield from self._seen(value, super().passes(value))

    def beyond(self, move: Move) -> Iterator[Move | Sink]:
        if isinstance(move, (Value, Exit)):
            return
        if isinstance(move, Kept) and isinstance(move.target, ast.Name):
            # `x += 1`
            owner = self.facts.resolver.owner(move.target.id, self.facts.index.inner_scope_of(move.target))
            for one in owner.bindings[move.target.id] if owner is not None else ():
                if isinstance(one.statement, ast.AugAssign):
                    changed = self.writes if move.value.path else self.updates
                    changed.append(move.value.at(one.statement.target))
        elif isinstance(move, Stored):
            # Another value takes its place; a module's attributes are reached in many ways.
            self.writes += [move.value.at(one) for one in other_stores(self.facts, move)]
            if is_module_class(self.facts, move.owner):
                self.writes.append(move.value)
        elif isinstance(move, Returned) and not move.value.calls:
            self.returned.append(move)
            for site, _ in callers(self.facts, move.function):
                self._chronology.made(site.statement)
        yield from self._seen(move.value, super().beyond(move))

    def _seen(self, value: Value, found: Iterable[Move | Sink]) -> Iterator[Move]:
        """What goes on; where the memory gets out of sight, it may be written."""
        for one in found:
            if isinstance(one, Sink):
                self.writes.append(value)
                continue
            if isinstance(one, Exit):
                self._handed[one].append(value)
            yield one

    def steps(self, value: Value) -> Iterable[Move | Sink]:
        if self._is_doubtful(value.node):
            value = replace(value, label=_DOUBTFUL)
        above, call = self.facts.index.parents[value.node], call_with(self.facts, value.node)
        if call is not None:
            return self._argument(value, call)
        if isinstance(above, ast.Attribute):
            return self._member(value, above)
        if isinstance(above, ast.Subscript):
            return self._subscript(value, above)
        if isinstance(above, (ast.List, ast.Tuple)):
            # `x[rows, 0]` reads `rows`, `torch.cat([x, y])` both; other displays keep what is in them.
            outer = self.facts.index.parents[above]
            if isinstance(outer, ast.Subscript):
                return self._subscript(value.at(above), outer)
            if isinstance(outer, ast.Call) and outer.args[:1] == [above] and _is_joined_in(self.facts, outer):
                return self._read(value, outer)
            return self.passes(value)
        if isinstance(above, (ast.BinOp, ast.UnaryOp, ast.Compare)):
            return self._operation(value, above)
        if isinstance(above, ast.AugAssign) and above.value is value.node:
            return self._read(value, above.value)
        return self.passes(value)

    def _is_doubtful(self, node: ast.expr) -> bool:
        """Whether what a name stands for was perhaps replaced: `if start is not None: state = start`."""
        if not isinstance(node, ast.Name):
            return False
        here = self.facts.index.statement_of(node)
        found = reaching(self.facts, node.id, self.facts.index.scope_of(node), node)
        statements = [one.statement for one in found if one.statement is not None]
        # What replaces it only after it was read, for the next round of a loop: `total = total + x`.
        statements = [one for one in statements if one is not here and not dominates(self.facts, here, one)]
        return any(dominates(self.facts, one, other) for one, other in permutations(statements, 2))

    # -- what stands around it -----------------------------------------------------------------------------------------

    def _member(self, value: Value, above: ast.Attribute) -> Iterable[Move | Sink]:
        call = self.facts.index.parents[above]
        if not isinstance(call, ast.Call) or call.func is not above:
            if isinstance(above.ctx, ast.Load) and above.attr in SAME_MEMORY:
                return [value.at(above)]
            is_told = above.attr in METADATA or isinstance(call, ast.Expr)
            return () if isinstance(above.ctx, ast.Load) and is_told else self._written(value)
        called = method_named(above.attr)
        if called.describes or (above.attr == "type" and not call.args):
            return ()
        if called.values == "read" and not _is_unread(call, above.attr):
            if not called.writes:
                return self._read(value, call)
            self.updates.append(value.at(call))  # `x.mul_(2)` computes with what was found, and leaves it there
            return [value.at(call)]
        return [_carried(value, call, called)] if called.carries else self._written(value)

    def _argument(self, value: Value, call: ast.Call) -> Iterable[Move | Sink]:
        scope = self.facts.index.inner_scope_of(call)
        name = self.facts.names(call.func, scope).only or ""
        home, _, short = name.rpartition(".")
        called = function_named(name)
        if only_describes(name):
            return ()
        if name == PARAMETER:
            return [value.at(call)]
        if called.carries and value.node in call.args[:1]:
            return [_carried(value, call, called)]
        is_layer = home == "torch.nn" and short[0].isupper() and is_result(short)
        if (reads_all(name) or is_layer) and not _is_unread(call, short):
            return self._read(value, call)
        return self.passes(value)

    def _subscript(self, value: Value, above: ast.Subscript) -> Iterable[Move | Sink]:
        """A part of the memory, or what it is an index of."""
        if above.value is value.node:
            if isinstance(self.facts.index.parents[above], ast.AugAssign) and not isinstance(above.ctx, ast.Load):
                self.updates.append(value.at(above))
                return ()
            return [value.at(above)] if isinstance(above.ctx, ast.Load) else self._written(value)
        is_index = kind_of(self.facts, above.value, self.facts.index.scope_of(above)) is Kind.TENSOR
        return self._read(value, above) if is_index else self._written(value)

    def _operation(self, value: Value, above: ast.BinOp | ast.UnaryOp | ast.Compare) -> Iterable[Move | Sink]:
        if isinstance(above, ast.Compare):
            if all(isinstance(operator, (ast.Is, ast.IsNot)) for operator in above.ops):
                return ()
            if any(isinstance(operator, (ast.In, ast.NotIn, ast.Is, ast.IsNot)) for operator in above.ops):
                return self._written(value)
        if isinstance(above, ast.UnaryOp) and isinstance(above.op, ast.Not):
            return self._written(value)
        return self._read(value, above)

    def _written(self, value: Value) -> Iterable[Move | Sink]:
        self.writes.append(value)
        return ()

    def _read(self, value: Value, node: ast.expr) -> Iterator[Sink]:
        """A computation on the memory, which counts if somebody asks for what comes out of it."""
        asking = None if value.label == _DOUBTFUL else follow(_Asking(self.facts), Value(node))
        if asking is None or (asking.sink is None and not asking.exits):
            return
        self.reads.append(value.at(node))
        if node is self._shown:
            yield Sink("here it is read", node)


class _Asking(Analysis):
    """What asks for the values of a result: more than its shape, and not as a parameter's first content."""

    def steps(self, value: Value) -> Iterable[Move | Sink]:
        above = self.facts.index.parents[value.node]
        if isinstance(above, ast.Expr):
            return ()
        if isinstance(above, ast.Attribute) and (above.attr in METADATA or method_named(above.attr).describes):
            return ()
        if isinstance(above, (ast.Assign, ast.AnnAssign, ast.NamedExpr)) and above.value is value.node:
            return self.passes(value)
        call = call_with(self.facts, value.node)
        name = "" if call is None else self.facts.names(call.func, self.facts.index.inner_scope_of(call)).only or ""
        return () if name == PARAMETER or only_describes(name) else [Sink("asked for", above)]


def _carried(value: Value, call: ast.Call, called: TensorMethod) -> Value:
    return value.at(call) if called.memory else replace(value, node=call, label=_COPY)


def _is_joined_in(facts: FileFacts, call: ast.Call) -> bool:
    return joins(facts, call) and not _is_unread(call, "")


def _is_unread(call: ast.Call, name: str) -> bool:
    """`out=` and `inplace=` write; with `beta=0` the input of `addmm` and its relatives is left alone."""
    keywords = {keyword.arg for keyword in call.keywords}
    return bool(keywords & _CHANGING) or (name.removesuffix("_") in SCALED and "beta" in keywords)
