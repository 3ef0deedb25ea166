"""What one statement does with a tensor whose memory nothing has written: the way up through its expressions.

Whatever may write it ends the way: an in-place method, a store, a call of a function that is not known to be pure,
another name for it, a place in a container or attribute.
"""

from __future__ import annotations

import ast
import enum
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torchlint.catalogue.values import Kind
from torchlint.facts.control.order import may_follow
from torchlint.facts.memory.words import METADATA, SAME_MEMORY, only_describes, reads_all
from torchlint.facts.tensors.kinds import kind_of
from torchlint.facts.tensors.methods import function_named, method_named
from torchlint.facts.tree import only_target

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

Parents = Mapping[ast.AST, ast.AST]

PARAMETER = "torch.nn.Parameter"
_LATER = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.IfExp, ast.BoolOp)
"""What stands inside these runs later, repeatedly or perhaps not at all."""
_IDENTITY = (ast.Is, ast.IsNot)
_CHANGING = ("out", "inplace", None)
"""Keywords of functions that write; `**options` may hold one."""
SCALED = frozenset({"addmm", "addmv", "addr", "addbmm", "baddbmm"})
"""With `beta=0` these leave their input unread."""


class Fate(enum.Enum):
    UNTOUCHED = "untouched"
    """Only described (`x.shape`), or dropped."""
    READ = "read"
    RETURNED = "returned"
    KEPT = "kept"
    """Assigned to a name, which is to be followed."""
    LOST = "lost"
    """Written, or no longer followed."""


@dataclass(frozen=True, slots=True)
class Use:
    """What happens to a value, and where."""

    fate: Fate
    node: ast.AST


def use_of(facts: FileFacts, value: ast.expr, statement: ast.stmt, scope: int) -> Use:
    """What `statement` does with `value`, one of its expressions."""
    parents = facts.index.within(statement)
    if value not in parents:
        return Use(Fate.LOST, value)  # in a guard of `match`, or after `except`
    above: ast.AST = value
    while above is not statement:
        above = parents[above]
        if isinstance(above, _LATER):
            return Use(Fate.LOST, above)
    climb = _Climb(facts, scope, parents)
    below: ast.AST = value
    while True:
        step = climb.step(parents[below], below)
        if isinstance(step, Use):
            return step
        below = step


@dataclass(frozen=True, slots=True)
class _Climb:
    """The way of a value up through the expressions of one statement."""

    facts: FileFacts
    scope: int
    parents: Parents

    def step(self, above: ast.AST, below: ast.AST) -> Use | ast.AST:
        """What an enclosing node does with the value, or the node whose value it then is."""
        if isinstance(above, ast.Attribute):
            return self._member(above)
        if isinstance(above, ast.Call):
            return self._argument(above, below)
        if isinstance(above, ast.keyword):
            call = self.parents[above]
            assert isinstance(call, ast.Call)
            return self._argument(call, above) if above.arg == "input" else Use(Fate.LOST, above)
        if isinstance(above, ast.Subscript):
            return self._subscript(above, below)
        if isinstance(above, ast.List | ast.Tuple):
            return self._in_display(above)
        if isinstance(above, ast.BinOp | ast.UnaryOp | ast.Compare):
            return self._operation(above, below)
        return self._stored(above, below)

    def _subscript(self, above: ast.Subscript, below: ast.AST) -> Use | ast.AST:
        if above.value is below:
            return above if isinstance(above.ctx, ast.Load) else Use(Fate.LOST, above)
        is_index = kind_of(self.facts, above.value, self.scope) is Kind.TENSOR
        return self._read(above) if is_index else Use(Fate.LOST, above)

    def _in_display(self, above: ast.List | ast.Tuple) -> Use | ast.AST:
        """`x[rows, 0]` reads `rows`, `torch.cat([x, y])` copies `y`; other displays keep what is in them."""
        outer = self.parents[above]
        if isinstance(outer, ast.Subscript) and outer.slice is above:
            return above
        is_joined = isinstance(outer, ast.Call) and outer.args[:1] == [above]
        return outer if is_joined and self._joins(outer) else Use(Fate.LOST, above)

    def _joins(self, call: ast.AST) -> bool:
        assert isinstance(call, ast.Call)
        return function_named(self.facts.names(call.func, self.scope).only).values == "joined" and not _is_unread(
            call, ""
        )

    def _member(self, above: ast.Attribute) -> Use | ast.AST:
        call = self.parents[above]
        if not isinstance(above.ctx, ast.Load):
            return Use(Fate.LOST, above)
        if not isinstance(call, ast.Call) or call.func is not above:
            if above.attr in METADATA:
                return Use(Fate.UNTOUCHED, above)
            return above if above.attr in SAME_MEMORY else Use(Fate.LOST, above)
        called = method_named(above.attr)
        if called.describes or (above.attr == "type" and not call.args):
            return Use(Fate.UNTOUCHED, call)
        if called.carries:
            return call
        return self._read(call) if called.reads and not _is_unread(call, above.attr) else Use(Fate.LOST, call)

    def _argument(self, call: ast.Call, below: ast.AST) -> Use | ast.AST:
        name = self.facts.names(call.func, self.scope).only or ""
        home, _, short = name.rpartition(".")
        if only_describes(name):
            return Use(Fate.UNTOUCHED, call)
        if _is_unread(call, short):
            return Use(Fate.LOST, call)
        is_first = below is (call.args[0] if call.args else None) or isinstance(below, ast.keyword)
        if function_named(name).carries and is_first:
            return call
        is_layer = home == "torch.nn" and short[0].isupper() and short.endswith("()")
        if reads_all(name) or is_layer:
            return self._read(call)
        return Use(Fate.LOST, call)

    def _operation(self, above: ast.BinOp | ast.UnaryOp | ast.Compare, below: ast.AST) -> Use:
        if isinstance(above, ast.Compare):
            if all(isinstance(operator, _IDENTITY) for operator in above.ops):
                return Use(Fate.UNTOUCHED, above)
            if any(isinstance(operator, (ast.In, ast.NotIn, *_IDENTITY)) for operator in above.ops):
                return Use(Fate.LOST, above)
        if isinstance(above, ast.UnaryOp) and isinstance(above.op, ast.Not):
            return Use(Fate.LOST, above)
        if isinstance(above, ast.BinOp):
            other = above.right if above.left is below else above.left
            if any(_is_nan(node) for node in ast.walk(other)):
                return Use(Fate.LOST, above)  # the result is NaN throughout, whatever the memory holds
        return self._read(above)

    def _read(self, node: ast.expr) -> Use:
        """A computation on the memory, unless nobody asks for its values."""
        return Use(Fate.READ if self._matters(node) else Fate.LOST, node)

    def _matters(self, node: ast.expr) -> bool:
        """Whether the values of a result are asked for: not only its shape, and not as a parameter's first content."""
        above = self.parents[node]
        if isinstance(above, ast.Attribute):
            return above.attr not in METADATA and not method_named(above.attr).describes
        target = only_target(above)
        if isinstance(target, ast.Name) and isinstance(above, ast.Assign):
            reads = [read for read in self.facts.index.reads_of(target) if may_follow(self.facts, above, read)]
            is_global = self.facts.function_of(self.scope) is None  # other files may read it
            return (is_global and not reads) or any(self._asks_for_values(read) for read in reads)
        return not isinstance(above, ast.Expr) and not _is_parameter(self.facts, above, self.scope, self.parents)

    def _asks_for_values(self, read: ast.Name) -> bool:
        statement, scope = self.facts.index.statement_of(read), self.facts.index.scope_of(read)
        parents = self.facts.index.within(statement)
        is_parameter = _is_parameter(self.facts, parents[read], scope, parents)
        return not is_parameter and use_of(self.facts, read, statement, scope).fate is not Fate.UNTOUCHED

    def _stored(self, above: ast.AST, below: ast.AST) -> Use:
        if isinstance(above, ast.Return):
            return Use(Fate.RETURNED, above)
        if isinstance(above, ast.Expr):
            return Use(Fate.UNTOUCHED, above)
        if isinstance(above, ast.AugAssign) and above.value is below:
            return Use(Fate.READ, above)
        target = above.target if isinstance(above, ast.AnnAssign) else only_target(above)
        return Use(Fate.KEPT, target) if isinstance(target, ast.Name) else Use(Fate.LOST, above)


def _is_parameter(facts: FileFacts, above: ast.AST, scope: int, parents: Parents) -> bool:
    call = parents[above] if isinstance(above, ast.keyword) else above
    return isinstance(call, ast.Call) and facts.names(call.func, scope).only == PARAMETER


def _is_unread(call: ast.Call, name: str) -> bool:
    """`out=` and `inplace=` write; with `beta=0` the input of `addmm` and its relatives is left alone."""
    keywords = {keyword.arg for keyword in call.keywords}
    return bool(keywords & set(_CHANGING)) or (name in SCALED and "beta" in keywords)


def _is_nan(node: ast.AST) -> bool:
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and node.value.lower() == "nan"
    return isinstance(node, ast.Attribute) and node.attr.lower() == "nan"
