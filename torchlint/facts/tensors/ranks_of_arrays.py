"""How many dimensions arrays of NumPy have, by the sizes that they are made with."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from torchlint.facts.constants import display_of
from torchlint.facts.values import argument_of

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

TAKING_ARRAYS = frozenset({"from_numpy", "as_tensor", "asarray", "tensor", "from_dlpack"})
"""Functions of torch that give a tensor of an array's dimensions."""
_BY_NUMBERS = frozenset({"rand", "randn", "reshape"})
"""Each argument is a size: `np.random.rand(4, 3)`; a method may also be given all of them as one."""
_BY_SHAPE = {
    **dict.fromkeys(("zeros", "ones", "empty", "full"), ("shape", 0)),
    **dict.fromkeys(("random", "random_sample", "ranf", "standard_normal"), ("size", 0)),
    **dict.fromkeys(("normal", "uniform", "randint", "integers"), ("size", 2)),
}
"""The argument that is the shape, and its place."""
_KEEPING = frozenset({"astype", "copy", "clip"})


def array_behind(facts: FileFacts, call: ast.Call, scope: int) -> ast.expr | None:
    """The array that has as many dimensions: of `x.astype(float)` and `np.asarray(x)`."""
    name = facts.names(call.func, scope).only or ""
    last = name.rpartition(".")[2]
    if not name.startswith("numpy."):
        return None
    if last in _KEEPING and isinstance(call.func, ast.Attribute):
        return call.func.value
    return call.args[0] if last in ("asarray", "array", "ascontiguousarray") and call.args else None


def rank_of_array(facts: FileFacts, call: ast.Call, scope: int) -> int | None:
    """The number of sizes that a call of NumPy makes an array with: `np.zeros((4, 3))`, `rng.normal(size=(4, 3))`."""
    name = facts.names(call.func, scope).only or ""
    last = name.rpartition(".")[2]
    if not name.startswith("numpy."):
        return None
    if last in _BY_SHAPE:
        shape = argument_of(call, *_BY_SHAPE[last])
        return None if shape is None else _length(facts, [shape], scope)
    is_function = last == "reshape" and "()" not in name
    sizes = call.args[1:] if is_function else call.args
    return _length(facts, sizes, scope) if last in _BY_NUMBERS and sizes else None


def _length(facts: FileFacts, sizes: Sequence[ast.expr], scope: int) -> int | None:
    shown = display_of(facts, sizes[0], scope)[0] if len(sizes) == 1 else None
    if isinstance(shown, ast.Tuple | ast.List):
        sizes = shown.elts
    elif len(sizes) == 1 and not facts.value(sizes[0], scope).is_known:
        return None  # one name may hold a whole shape
    return None if any(isinstance(size, ast.Starred) for size in sizes) else len(sizes)
