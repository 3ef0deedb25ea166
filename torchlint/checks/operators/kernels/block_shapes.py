"""Which names the dimensions of a Triton kernel's blocks have, and along which of them it adds up.

`tl.arange(0, BLOCK_N)[None, :]` has the dimensions 1 and BLOCK_N, and `tl.sum(x, axis=1)` of it adds along BLOCK_N.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from torchlint.facts.control.blocks import blocks_of, statements_in
from torchlint.facts.tree import index_parts, last_word
from torchlint.facts.values import argument_of

Dimension = frozenset[str]
"""The names in a dimension's length; empty for a length of 1."""
Shape = tuple[Dimension, ...]
"""Empty for a single number or pointer."""

_SUMS = frozenset({"sum", "cumsum", "reduce", "associative_scan"})
_REDUCING = frozenset({"sum", "max", "min", "argmax", "argmin", "xor_sum", "reduce"})
_MADE = frozenset({"zeros", "full", "ones", "reshape", "view", "broadcast_to", "zeros_like"})
_SAME = frozenset({"to", "cast", "load", "advance", "cumsum", "associative_scan", "flip", "sort", "multiple_of"})
_ONE: Dimension = frozenset()


def summed_along(kernel: ast.FunctionDef) -> set[str]:
    """The names along which the kernel's reductions add up, as far as its shapes are seen."""
    shapes = _Shapes()
    found: set[str] = set()
    inside = (one for top in kernel.body for one in statements_in(top))
    for statement in (one for one in inside if not any(blocks_of(one))):
        for node in ast.walk(statement):
            if isinstance(node, ast.Call) and last_word(node.func) in _SUMS and not shapes.picks(node):
                found.update(*shapes.reduced(node))
        shapes.bind(statement)
    return found


class _Shapes:
    """What each name's block looks like, statement by statement."""

    def __init__(self) -> None:
        self.names: dict[str, Shape | None] = {}
        self.markers: set[str] = set()
        """Blocks that are true in one place: `tl.arange(0, BLOCK) == 0`."""
        self.seen: dict[ast.expr, Shape | None] = {}
        """What each expression was when it was first asked for: its statement comes once."""

    def bind(self, statement: ast.stmt) -> None:
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target = statement.targets[0]
            if isinstance(target, ast.Name):
                self.names[target.id] = self.of(statement.value)
                (self.markers.add if self._marks(statement.value) else self.markers.discard)(target.id)
            elif isinstance(target, ast.Tuple):
                self.names.update({element.id: None for element in target.elts if isinstance(element, ast.Name)})

    def of(self, expression: ast.expr) -> Shape | None:
        """The dimensions of an expression; None where they are not seen. Parameters are numbers and pointers."""
        if isinstance(expression, ast.Name):
            return self.names.get(expression.id, ())
        if expression not in self.seen:  # the owner of a method is asked for twice, and so at every link of a chain
            self.seen[expression] = self._worked_out(expression)
        return self.seen[expression]

    def _worked_out(self, expression: ast.expr) -> Shape | None:
        if isinstance(expression, ast.BinOp):
            return _broadcast([self.of(expression.left), self.of(expression.right)])
        if isinstance(expression, ast.Compare):
            return _broadcast([self.of(part) for part in (expression.left, *expression.comparators)])
        if isinstance(expression, ast.UnaryOp):
            return self.of(expression.operand)
        if isinstance(expression, ast.Subscript):
            return self._indexed(expression)
        if isinstance(expression, ast.Call):
            return self._called(expression)
        if isinstance(expression, ast.Attribute) and expression.attr == "T":
            base = self.of(expression.value)
            return base and base[::-1]
        return () if isinstance(expression, ast.Constant | ast.Attribute) else None

    def _indexed(self, expression: ast.Subscript) -> Shape | None:
        """`x[:, None]`; anything else inside the brackets is not followed."""
        base = self.of(expression.value)
        parts = index_parts(expression)
        if base is None or sum(isinstance(part, ast.Slice) for part in parts) != len(base):
            return None
        own = iter(base)
        return tuple(next(own) if isinstance(part, ast.Slice) else _ONE for part in parts)

    def _called(self, call: ast.Call) -> Shape | None:
        name, operands = last_word(call.func), self._operands(call)
        if name == "arange":
            return (_names_in(call.args[1]),) if len(call.args) == 2 else None
        if name in _MADE:
            return self._made(operands)
        if name in _REDUCING:
            return self._without_reduced(call, operands)
        if name in ("dot", "dot_scaled"):
            return self._product(call)
        if name == "trans":
            only = self.of(operands[0]) if len(operands) == 1 else None
            return only and only[::-1]
        if name in _SAME:
            return self.of(operands[0]) if operands else None
        return _broadcast([self.of(operand) for operand in operands])

    def _operands(self, call: ast.Call) -> Sequence[ast.expr]:
        """The arguments, behind the block that a method is called on; `tl` in `tl.sum(x)` is none."""
        owner = call.func.value if isinstance(call.func, ast.Attribute) else None
        return [owner, *call.args] if owner is not None and self.of(owner) else call.args

    def _made(self, operands: Sequence[ast.expr]) -> Shape | None:
        sizes = next((o.elts for o in operands if isinstance(o, ast.List | ast.Tuple)), None)
        return None if sizes is None else tuple(_names_in(size) for size in sizes)

    def _product(self, call: ast.Call) -> Shape | None:
        sides = [self.of(side) for side in call.args[:2]]
        left, right = sides if len(sides) == 2 else (None, None)
        return (left[0], right[1]) if left and right and len(left) == len(right) == 2 else None

    def _without_reduced(self, call: ast.Call, operands: Sequence[ast.expr]) -> Shape | None:
        shape = self.of(operands[0]) if operands else None
        axis = _axis(call, operands)
        if shape is None or axis is None or any(keyword.arg == "keep_dims" for keyword in call.keywords):
            return () if axis is None and len(operands) == 1 else None
        return tuple(size for index, size in enumerate(shape) if index != axis % max(len(shape), 1))

    def picks(self, call: ast.Call) -> bool:
        """Whether a sum only picks one entry: the others are multiplied by nothing, or replaced by it."""
        summed = next(iter(self._operands(call)), None)
        if isinstance(summed, ast.BinOp) and isinstance(summed.op, ast.Mult):
            return self._marks(summed.left) or self._marks(summed.right)
        return (
            isinstance(summed, ast.Call)
            and last_word(summed.func) == "where"
            and bool(summed.args)
            and self._marks(summed.args[0])
        )

    def _marks(self, expression: ast.expr) -> bool:
        if isinstance(expression, ast.Subscript):
            return self._marks(expression.value)
        if isinstance(expression, ast.Name):
            return expression.id in self.markers
        if not isinstance(expression, ast.Compare) or not isinstance(expression.ops[0], ast.Eq):
            return False
        counts = isinstance(expression.left, ast.Call) and last_word(expression.left.func) == "arange"
        return counts and len(expression.ops) == 1 and self.of(expression.comparators[0]) == ()

    def reduced(self, call: ast.Call) -> list[Dimension]:
        """The dimensions that a reduction adds along; none where its operand's shape is not seen."""
        operands = self._operands(call)
        shape = self.of(operands[0]) if operands else None
        if not shape:
            return []
        axis = _axis(call, operands)
        return list(shape) if axis is None else [shape[axis]] if -len(shape) <= axis < len(shape) else []


def _axis(call: ast.Call, operands: Sequence[ast.expr]) -> int | None:
    given = argument_of(call, "axis", None)
    given = operands[1] if given is None and len(operands) > 1 else given
    if isinstance(given, ast.UnaryOp) and isinstance(given.op, ast.USub) and isinstance(given.operand, ast.Constant):
        return -given.operand.value if isinstance(given.operand.value, int) else None
    return given.value if isinstance(given, ast.Constant) and isinstance(given.value, int) else None


def _broadcast(shapes: Sequence[Shape | None]) -> Shape | None:
    result: Shape = ()
    for shape in shapes:
        if shape is None:
            return None
        longest = max(len(shape), len(result))
        padded = [(_ONE,) * (longest - len(one)) + one for one in (result, shape)]
        result = tuple(left or right for left, right in zip(*padded, strict=True))
    return result


def _names_in(node: ast.AST) -> Dimension:
    return frozenset(child.id for child in ast.walk(node) if isinstance(child, ast.Name))
