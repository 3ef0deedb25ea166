"""What an expression does with a tensor or array in host memory: read its values, give them a name, or neither."""

from __future__ import annotations

import ast
import enum
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torchlint.facts.memory.words import SAME_MEMORY, reads_all
from torchlint.facts.tensors.methods import function_named, method_named
from torchlint.facts.tree import only_target

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

_READING_BUILTINS = frozenset(
    f"builtins.{name}"
    for name in ("print", "str", "repr", "format", "float", "int", "bool", "sum", "max", "min", "round")
)
_READERS = _READING_BUILTINS | {"torch.save", "PIL.Image.fromarray", "torch.testing.assert_close"}
_VIEWERS = frozenset({"numpy.asarray", "numpy.ascontiguousarray", "numpy.frombuffer", "torch.from_numpy"})
_FILLING = frozenset({"append", "extend"})
_IDENTITY = (ast.Is, ast.IsNot, ast.In, ast.NotIn)


class Fate(enum.Enum):
    READ = "read"
    NAMED = "named"
    """Bound to a name, which stands for the same memory."""
    COLLECTED = "collected"
    """Put into a list that has a name."""
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Use:
    """What becomes of a value: `node` reads it, or is the name it goes on by."""

    fate: Fate
    node: ast.AST


def use_of(facts: FileFacts, value: ast.expr, scope: int, parents: Mapping[ast.AST, ast.AST]) -> Use:
    """What a statement does with one of its expressions."""
    climb = _Climb(facts, scope, parents)
    below: ast.AST = value
    while below in parents:
        step = climb.step(parents[below], below)
        if isinstance(step, Use):
            return step
        below = step
    return Use(Fate.OTHER, value)


@dataclass(frozen=True, slots=True)
class _Climb:
    facts: FileFacts
    scope: int
    parents: Mapping[ast.AST, ast.AST]

    def step(self, above: ast.AST, below: ast.AST) -> Use | ast.AST:
        """What an enclosing node does with the value, or the node whose value it then is."""
        if isinstance(above, ast.Attribute):
            return self._member(above)
        if isinstance(above, ast.Call):
            return self._argument(above)
        if isinstance(above, ast.keyword):
            call = self.parents[above]
            assert isinstance(call, ast.Call)
            return self._argument(call)
        if isinstance(above, ast.Subscript):
            return above if above.value is below and isinstance(above.ctx, ast.Load) else Use(Fate.OTHER, above)
        if isinstance(above, ast.List | ast.Tuple | ast.ListComp):
            return self._in_list(above, below)
        return self._operation(above, below)

    def _member(self, above: ast.Attribute) -> Use | ast.AST:
        call = self.parents[above]
        if not isinstance(call, ast.Call) or call.func is not above:
            return above if above.attr in SAME_MEMORY else Use(Fate.OTHER, above)
        called = method_named(above.attr)
        if called.views:
            return call
        is_read = called.reads or (called.carries and not called.device)
        return Use(Fate.READ if is_read else Fate.OTHER, call)

    def _argument(self, call: ast.Call) -> Use | ast.AST:
        name = self.facts.names(call.func, self.scope).only or ""
        if name in _VIEWERS:
            return call
        called = function_named(name)
        is_copied = called.carries and not called.memory
        is_of_numpy = name.startswith(("numpy.", "cv2.")) and not name.endswith("()")
        if name in _READERS or reads_all(name) or is_copied or is_of_numpy:
            return Use(Fate.READ, call)
        function = call.func
        if isinstance(function, ast.Attribute) and function.attr in _FILLING and isinstance(function.value, ast.Name):
            return Use(Fate.COLLECTED, function.value)
        return Use(Fate.OTHER, call)

    def _in_list(self, above: ast.List | ast.Tuple | ast.ListComp, below: ast.AST) -> Use:
        """`torch.cat([x, y])` reads both; `parts = [x.to(...) for x in batches]` collects them."""
        if isinstance(above, ast.ListComp) and above.elt is not below:
            return Use(Fate.OTHER, above)
        outer = self.parents[above]
        if isinstance(outer, ast.Call) and above in outer.args and self.joins(outer):
            return Use(Fate.READ, outer)
        target = only_target(outer)
        if isinstance(target, ast.Tuple) and isinstance(above, ast.Tuple) and len(target.elts) == len(above.elts):
            return _stored(target.elts[above.elts.index(below)], Fate.NAMED)  # type: ignore[arg-type]
        return Use(Fate.OTHER, above) if target is None else _stored(target, Fate.COLLECTED)

    def joins(self, call: ast.Call) -> bool:
        return function_named(self.facts.names(call.func, self.scope).only).values == "joined"

    def _operation(self, above: ast.AST, below: ast.AST) -> Use | ast.AST:
        if isinstance(above, ast.Compare):
            return Use(Fate.OTHER if any(isinstance(o, _IDENTITY) for o in above.ops) else Fate.READ, above)
        if isinstance(above, ast.BinOp | ast.UnaryOp | ast.FormattedValue):
            return Use(Fate.READ, above)
        if isinstance(above, ast.BoolOp):
            return above if above.values[-1] is below else Use(Fate.READ, below)
        if isinstance(above, ast.IfExp):
            return Use(Fate.READ, below) if above.test is below else above
        if isinstance(above, ast.If | ast.While | ast.Assert):
            return Use(Fate.READ if above.test is below else Fate.OTHER, below)
        if isinstance(above, ast.For) and above.iter is below:
            return _stored(above.target, Fate.NAMED)  # its rows are views
        if isinstance(above, ast.AugAssign):
            return Use(Fate.READ, above.value)
        target = above.target if isinstance(above, ast.AnnAssign) else only_target(above)
        return Use(Fate.OTHER, above) if target is None else _stored(target, Fate.NAMED)


def _stored(target: ast.expr, fate: Fate) -> Use:
    return Use(fate if isinstance(target, ast.Name) else Fate.OTHER, target)
