"""How many dimensions a tensor evidently has. None is an honest answer."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from torchlint.facts import tensor_methods as methods
from torchlint.facts.reaching import reaching
from torchlint.facts.scopes import BindingKind
from torchlint.facts.tensors import called_name, operand
from torchlint.facts.values import argument_of

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

_CONVOLUTION = {f"{kind}{n}d": n + 2 for kind in ("conv", "conv_transpose") for n in (1, 2, 3)}


def rank_of(facts: FileFacts, expression: ast.expr | None, scope: int, depth: int = 10) -> int | None:
    """The number of dimensions of a tensor, by how it is made or how its shape is unpacked."""
    if expression is None or depth == 0:
        return None
    if isinstance(expression, ast.Name):
        found = {
            rank_of(facts, b.value, b.scope, depth - 1) if b.kind is BindingKind.ASSIGN else None
            for b in reaching(facts, expression.id, scope, expression.lineno)
        }
        known = found.pop() if len(found) == 1 else None
        return known if known is not None else _unpacked_rank(facts, expression, scope)
    if isinstance(expression, ast.Subscript):
        return _of_subscript(facts, expression, scope, depth)
    if isinstance(expression, ast.UnaryOp):
        return rank_of(facts, expression.operand, scope, depth - 1)
    if isinstance(expression, ast.BinOp):
        return _of_operation(facts, expression, scope, depth)
    if isinstance(expression, ast.Compare):
        return rank_of(facts, expression.left, scope, depth - 1)
    return _of_call(facts, expression, scope, depth) if isinstance(expression, ast.Call) else None


def _unpacked_rank(facts: FileFacts, name: ast.Name, scope: int) -> int | None:
    """`b, c, h, w = x.shape` says that `x` has four dimensions, where `x` is bound once."""
    owner = facts.resolver.owner(name.id, scope)
    if owner is None or len(owner.bindings[name.id]) != 1:
        return None
    return facts.once(_shape_unpackings).get((owner.index, name.id))


def _shape_unpackings(facts: FileFacts) -> dict[tuple[int, str], int]:
    found: dict[tuple[int, str], int] = {}
    for site in facts.reading.assign_sites:
        node = site.node
        if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Tuple):
            continue
        target = node.targets[0]
        tensor = _whose_shape(node.value)
        if tensor is None or any(isinstance(element, ast.Starred) for element in target.elts):
            continue
        owner = facts.resolver.owner(tensor.id, site.scope)
        if owner is not None:
            found[owner.index, tensor.id] = len(target.elts)
    return found


def _whose_shape(value: ast.expr) -> ast.Name | None:
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        is_size = value.func.attr == "size" and not value.args and not value.keywords
        value = value.func.value if is_size else value
    elif isinstance(value, ast.Attribute) and value.attr == "shape":
        value = value.value
    else:
        return None
    return value if isinstance(value, ast.Name) else None


def _of_operation(facts: FileFacts, expression: ast.BinOp, scope: int, depth: int) -> int | None:
    left, right = (rank_of(facts, side, scope, depth - 1) for side in (expression.left, expression.right))
    if isinstance(expression.op, ast.MatMult):
        return left if left == right else None
    if left is not None and right is not None:
        return max(left, right)
    other = expression.right if left is not None else expression.left
    return (left or right) if facts.value(other, scope).is_known else None


def _of_subscript(facts: FileFacts, expression: ast.Subscript, scope: int, depth: int) -> int | None:
    rank = rank_of(facts, expression.value, scope, depth - 1)
    if rank is None:
        return None
    for part in expression.slice.elts if isinstance(expression.slice, ast.Tuple) else [expression.slice]:
        if isinstance(part, ast.Constant) and part.value is None:
            rank += 1
        elif isinstance(part, ast.UnaryOp) or (isinstance(part, ast.Constant) and isinstance(part.value, int)):
            rank -= 1
        elif not isinstance(part, ast.Slice) and not (isinstance(part, ast.Constant) and part.value is Ellipsis):
            return None
    return rank if rank >= 0 else None


def _of_call(facts: FileFacts, call: ast.Call, scope: int, depth: int) -> int | None:
    name = called_name(facts, call, scope)
    if name is None:
        return None
    if name in methods.ONE_DIMENSION:
        return 1
    if name in methods.SIZED:
        return _of_sizes(facts, call, name, scope)
    if name in ("tensor", "as_tensor") and call.args:
        return _depth_of_display(call.args[0])
    if name in _CONVOLUTION:
        return _CONVOLUTION[name]
    inner = operand(facts, call, scope)
    rank = rank_of(facts, inner, scope, depth - 1)
    is_function = inner is not None and inner in call.args
    own = call.args[1:] if is_function else call.args
    if name == "flatten" and not own and not call.keywords:
        return 1
    if rank is None:
        return None
    if name in methods.KEEPS_RANK:
        return rank
    if name in ("unsqueeze", "unsqueeze_", "one_hot", "stack"):
        return rank + 1
    return _reduced(facts, call, name, own, rank, scope)


def _reduced(facts: FileFacts, call: ast.Call, name: str, own: list[ast.expr], rank: int, scope: int) -> int | None:
    """What is left of the dimensions after `sum(1)`, `squeeze(-1)` or `select(0, i)`."""
    if name == "select":
        return rank - 1
    dimension = own[0] if own else argument_of(call, "dim", None)
    if name not in (*methods.REDUCTIONS, "squeeze") or dimension is None:
        return 0 if name in methods.REDUCTIONS and not own and not call.keywords else None
    keeps = argument_of(call, "keepdim", None) or (own[1] if len(own) > 1 else None)
    if keeps is not None and facts.value(keeps, scope).constants != (False,):
        return rank if facts.value(keeps, scope).constants == (True,) else None
    return rank - (len(dimension.elts) if isinstance(dimension, ast.Tuple | ast.List) else 1)


def _of_sizes(facts: FileFacts, call: ast.Call, name: str, scope: int) -> int | None:
    is_function = operand(facts, call, scope) in call.args
    is_factory = name in ("zeros", "ones", "empty", "rand", "randn")
    sizes = call.args[1:] if is_function and not is_factory else call.args
    if not sizes or any(isinstance(size, ast.Starred) for size in sizes):
        return None
    if isinstance(sizes[0], ast.Tuple | ast.List):
        return None if any(isinstance(e, ast.Starred) for e in sizes[0].elts) else len(sizes[0].elts)
    if len(sizes) > 1 or isinstance(sizes[0], ast.Constant | ast.UnaryOp):
        return len(sizes)
    return 1 if facts.value(sizes[0], scope).is_known else None  # one name may hold a whole shape


def _depth_of_display(display: ast.expr) -> int | None:
    depth = 0
    while isinstance(display, ast.List | ast.Tuple) and display.elts:
        depth += 1
        display = display.elts[0]
    return depth if isinstance(display, ast.Constant | ast.UnaryOp) and depth else None
