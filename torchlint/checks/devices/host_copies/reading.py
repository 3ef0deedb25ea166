"""Where the values of a copy in host memory are read while they may still be on their way."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING

from torchlint.catalogue.load import load_host_copies
from torchlint.catalogue.values import Kind
from torchlint.checks.devices.host_copies.waits import Passages
from torchlint.facts.flow.containment import call_with
from torchlint.facts.flow.stores import other_stores
from torchlint.facts.flow.tracker import Analysis, Sink
from torchlint.facts.flow.values import Given, Item, Kept, Move, Stored, Value
from torchlint.facts.memory.words import SAME_MEMORY, joins, reads_all
from torchlint.facts.tensors.kinds import kind_of
from torchlint.facts.tensors.methods import function_named, method_named
from torchlint.facts.tree import is_literal_none, is_own

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

_IDENTITY = (ast.Is, ast.IsNot, ast.In, ast.NotIn)


class HostCopy(Analysis):
    """Follows a copy and its views until something waits for the device."""

    def __init__(self, facts: FileFacts) -> None:
        super().__init__(facts)
        self._passages = Passages(facts)

    def arrives(self, move: Move | None, value: Value) -> bool:
        if isinstance(value.node, ast.Call):  # it comes as a result, at once
            return True
        if isinstance(move, Kept | Stored):
            is_other = isinstance(move, Stored) and self._may_be_another(move, value)
            return not is_other and self._passages.is_open(move.value.node, value.node)
        if isinstance(move, Given) or (move is None and not is_own(value.node)):
            return self._passages.is_open(None, value.node)
        return move is not None

    def _may_be_another(self, move: Stored, read: Value) -> bool:
        """Whether another function may read an attribute when it has taken another value."""
        places = (move.value.node, read.node)
        functions = {self.facts.function_of(self.facts.index.scope_of(one)) for one in places}
        stores = (self.facts.index.statement_of(one) for one in other_stores(self.facts, move))
        return len(functions) > 1 and any(not is_literal_none(getattr(one, "value", None)) for one in stores)

    def passes(self, value: Value) -> Iterable[Move | Sink]:
        call = call_with(self.facts, value.node)
        is_read = call is not None and (joins(self.facts, call) or self._reads_entries(value, call))
        return self._read(value, call) if call is not None and is_read else super().passes(value)

    def _reads_entries(self, value: Value, call: ast.Call) -> bool:
        """`torch.save(state, path)`, where a container holds the copy; to ask whether it is empty reads nothing."""
        name = self.facts.names(call.func, self.facts.index.inner_scope_of(call)).only
        is_held = bool(value.path) and all(isinstance(one, Item) for one in value.path)
        return is_held and name != "builtins.bool" and name in load_host_copies().reading

    def steps(self, value: Value) -> Iterable[Move | Sink]:
        above, call = self.facts.index.parents[value.node], call_with(self.facts, value.node)
        if call is not None:
            return self._argument(value, call)
        if isinstance(above, ast.Attribute):
            return self._member(value, above)
        if isinstance(above, ast.Subscript):
            return self._subscript(value, above)
        if isinstance(above, ast.List | ast.Tuple):
            return self._in_display(value, above)
        if isinstance(above, ast.For | ast.comprehension) and above.iter is value.node:
            return [Kept(above.target, value)]  # its rows are views
        if isinstance(above, ast.BoolOp) and above.values[-1] is value.node:
            return [value.at(above)]
        if self._is_read_by(above, value.node):
            return self._read(value, above if isinstance(above, ast.expr) else value.node)
        return self.passes(value)

    def _is_read_by(self, above: ast.AST, node: ast.expr) -> bool:
        if isinstance(above, ast.Compare):
            return not any(isinstance(one, _IDENTITY) for one in above.ops)
        if isinstance(above, ast.If | ast.While | ast.Assert | ast.IfExp):
            return above.test is node
        if isinstance(above, ast.AugAssign):
            return above.value is node
        return isinstance(above, ast.BinOp | ast.UnaryOp | ast.FormattedValue | ast.BoolOp)

    def _member(self, value: Value, above: ast.Attribute) -> Iterable[Move | Sink]:
        call = self.facts.index.parents[above]
        if not isinstance(call, ast.Call) or call.func is not above:
            return [value.at(above)] if above.attr in SAME_MEMORY else ()
        called = method_named(above.attr)
        if called.views:
            return [value.at(call)]
        return self._read(value, call) if called.reads or (called.carries and not called.device) else ()

    def _argument(self, value: Value, call: ast.Call) -> Iterable[Move | Sink]:
        name = self.facts.names(call.func, self.facts.index.inner_scope_of(call)).only or ""
        if name in load_host_copies().viewing:
            return [value.at(call)]
        called = function_named(name)
        is_copied = called.carries and not called.memory
        is_of_numpy = name.startswith(("numpy.", "cv2.")) and not name.endswith("()")
        if name in load_host_copies().reading or reads_all(name) or is_copied or is_of_numpy:
            return self._read(value, call)
        return self.passes(value)

    def _subscript(self, value: Value, above: ast.Subscript) -> Iterable[Move | Sink]:
        if above.value is value.node:
            return [value.at(above)] if isinstance(above.ctx, ast.Load) else ()
        kind = kind_of(self.facts, above.value, self.facts.index.scope_of(above))
        return self._read(value, above) if kind in (Kind.TENSOR, Kind.NDARRAY) else ()

    def _in_display(self, value: Value, above: ast.List | ast.Tuple) -> Iterable[Move | Sink]:
        """`torch.cat([x, y])` reads both."""
        call = call_with(self.facts, above)
        return self._read(value, call) if call is not None and joins(self.facts, call) else self.passes(value)

    def _read(self, value: Value, node: ast.expr) -> Iterable[Sink]:
        return [Sink(ast.unparse(node), node)] if self._passages.is_open(value.node, node) else ()
