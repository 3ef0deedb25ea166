"""Whether an index tensor evidently names every place at most once, evidently names some twice, or may do either."""

from __future__ import annotations

import ast
import enum
import re

from torchlint.facts.definitions import only_end, only_value, step_back
from torchlint.facts.file import FileFacts
from torchlint.facts.flow.values import EACH, Definition, End, Item
from torchlint.facts.memoizing import followed
from torchlint.facts.tensors.elements import element_of
from torchlint.facts.tensors.methods import method_named
from torchlint.facts.tensors.operands import beside_operand, called_name, made_by, operand
from torchlint.facts.tensors.ranks import rank_of
from torchlint.facts.tree import MethodCall, index_parts, is_ellipsis, is_literal_none, is_method_call, last_word
from torchlint.facts.values import argument_of


class Repeats(enum.Enum):
    NO = "no"
    YES = "yes"
    ROWS = "rows"
    """One for each row, or in each row: over several rows they recur, within one they may not."""
    GROUPS = "groups"
    """The inverse of `unique`: what recurs is one group, and code mostly writes one value for all of it."""
    NAMED = "named"
    """Nothing shows it but the name: `labels`, `edge_index`."""
    UNKNOWN = "unknown"


_SPLITTING = frozenset({"where", "nonzero"})
"""What these return, unpacked, is one tensor for each coordinate."""
_PLACES = frozenset({"nonzero", "argwhere"})
"""What these return is a matrix with a row for each place, and names none twice."""
_OF_ROWS = frozenset({"argmax", "argmin", "bucketize", "searchsorted"})
"""What these return holds values again and again, though perhaps one only in each row."""
_PAIRS = frozenset({"topk", "sort"})
"""What these return second are the places of different entries, along one dimension."""
_SQUEEZING = frozenset({"squeeze", "squeeze_", "unsqueeze", "unsqueeze_"})
_NAMED_STRICTLY = re.compile(r"(?:^|_)(?:labels?|targets?|edge_index|edges?|neighbou?rs?)$")
"""Of overwriting writes: who writes through one of these means places that recur."""
_NAMED = re.compile(
    r"(?:^|_)(?:labels?|targets?|edge_index|edges?|src|dst|row|col|neighbou?rs?|batch|"
    r"segments?|segment_ids|clusters?|cluster_ids|assignments?|groups?|group_ids?|buckets?|bins?|voxels?|faces?|inverse|senders|receivers|"
    r"node_ids|graph_ids?|parents?)$"
)


@followed(otherwise=Repeats.UNKNOWN)
def repeats_of(facts: FileFacts, index: ast.expr | None, scope: int) -> Repeats:
    """Whether `index` names a place twice. For a tuple of indices: no, as soon as one part names none twice."""
    if index is None:
        return Repeats.UNKNOWN
    if isinstance(index, (ast.Slice, ast.Constant, ast.Compare)):
        return Repeats.NO
    if isinstance(index, ast.List) and len({ast.dump(element) for element in index.elts}) == len(index.elts):
        return Repeats.NO if all(isinstance(element, ast.Constant) for element in index.elts) else Repeats.UNKNOWN
    if element_of(facts, index, scope) == "bool":
        return Repeats.NO
    if isinstance(index, ast.Tuple):
        return _of_parts(facts, index, scope)
    steps = step_back(facts, Definition(index, scope))
    if steps is not None:
        found = {_of_step(facts, one) for one in steps}
        known = found.pop() if len(found) == 1 else Repeats.UNKNOWN
        return _named(index) if known is Repeats.UNKNOWN and not _is_chosen(facts, index, scope) else known
    return _of_call(facts, index, scope) if isinstance(index, ast.Call) else _of_part(facts, index, scope)


def _is_chosen(facts: FileFacts, index: ast.expr, scope: int) -> bool:
    """`targets = torch.where(valid, slots, spare + positions)`: made for this write, whatever its name."""
    call, where = made_by(facts, index, scope)
    return call is not None and called_name(facts, call, where) == "where" and len(call.args) > 1


def _named(index: ast.expr) -> Repeats:
    return Repeats.NAMED if _NAMED.search(last_word(index).lower()) else Repeats.UNKNOWN


def _of_parts(facts: FileFacts, index: ast.Tuple, scope: int) -> Repeats:
    parts = [part for part in index.elts if not isinstance(part, (ast.Slice, ast.Constant))]
    found = {repeats_of(facts, part, scope) for part in parts}
    origins = {_found_by(facts, part, scope) for part in parts}
    are_whole_places = len(origins) == 1 and None not in origins  # `rows, cols = torch.where(mask)`
    if not found or Repeats.NO in found or are_whole_places:
        return Repeats.NO
    if found <= {Repeats.YES, Repeats.ROWS, Repeats.GROUPS}:
        return Repeats.YES
    return Repeats.UNKNOWN if Repeats.UNKNOWN in found else Repeats.NAMED


def _of_step(facts: FileFacts, one: End) -> Repeats:
    if not isinstance(one, Definition):
        return Repeats.UNKNOWN
    if not one.parts:
        return repeats_of(facts, one.node, one.scope)
    if isinstance(one.node, ast.Call) and EACH not in one.parts:
        name = called_name(facts, one.node, one.scope)
        if name in _PAIRS and one.parts == (Item(1),):
            return Repeats.NO
        if name in ("unique", "unique_consecutive"):
            return Repeats.NO if one.parts == (Item(0),) else Repeats.GROUPS
        if name in ("max", "min") and one.parts == (Item(1),):
            return Repeats.ROWS
        if name in _SPLITTING:
            # The parts of one index: each may repeat, all together they do not. A token is sent to an expert once.
            return Repeats.NO if "expert" in ast.unparse(one.node) else Repeats.UNKNOWN
    return Repeats.UNKNOWN


def _of_part(facts: FileFacts, index: ast.expr, scope: int) -> Repeats:
    if isinstance(index, ast.Subscript):
        # A column of `mask.nonzero()` names a row as often as it holds something.
        name = called_name(facts, index.value, scope) if isinstance(index.value, ast.Call) else None
        if name in _PAIRS:
            return Repeats.NO
        inner = repeats_of(facts, index.value, scope)
        if inner in (Repeats.YES, Repeats.GROUPS) and isinstance(index.slice, ast.Slice):
            return Repeats.NAMED  # what recurs may stand in the other part
        is_column = isinstance(index.slice, ast.Tuple) and any(not isinstance(e, ast.Slice) for e in index.slice.elts)
        return Repeats.UNKNOWN if is_column and inner is Repeats.NO else inner
    if isinstance(index, ast.BinOp):
        sides = [repeats_of(facts, side, scope) for side in (index.left, index.right)]
        shifted = [s for s, e in zip(sides, (index.left, index.right), strict=True) if not isinstance(e, ast.Constant)]
        return shifted[0] if len(shifted) == 1 and isinstance(index.op, (ast.Add, ast.Sub)) else Repeats.UNKNOWN
    if isinstance(index, ast.Attribute):
        if index.attr == "indices" and isinstance(index.value, ast.Call):
            return Repeats.NO if called_name(facts, index.value, scope) in _PAIRS else Repeats.UNKNOWN
        return _named(index)
    return Repeats.UNKNOWN


def _of_call(facts: FileFacts, call: ast.Call, scope: int) -> Repeats:
    name = called_name(facts, call, scope)
    if name in ("unique", "unique_consecutive") and any(k.arg == "return_inverse" for k in call.keywords):
        return Repeats.UNKNOWN
    called = method_named(name)
    if called.holds == "distinct values" or name in _PLACES or name == "argsort":
        return Repeats.NO
    if name in ("argmax", "argmin") and beside_operand(facts, call, scope, "dim") is None:
        return Repeats.NO  # one place
    if name == "randint":
        return Repeats.YES
    if name in _OF_ROWS:
        return Repeats.ROWS
    if name == "where" and len(call.args) == 1 and not call.keywords:
        return Repeats.NO
    if name == "multinomial":
        given = argument_of(call, "replacement", 2)
        return Repeats.YES if given is not None and facts.value(given, scope).constants == (True,) else Repeats.NO
    if name == "t" and _transposed_places(facts, call, scope) is not None:
        return Repeats.UNKNOWN  # its rows name each place's row, and each place's column
    inner = operand(facts, call, scope)
    known = repeats_of(facts, inner, scope)
    if called.values == "some":
        return known if known is Repeats.NO else Repeats.UNKNOWN
    is_mixed = known is Repeats.NO and _flattens(name) and not _is_flat(facts, inner, scope)
    return known if _keeps(name) and not is_mixed else Repeats.UNKNOWN


def _keeps(name: str | None) -> bool:
    """Whether an operation passes on the places of an index, in whatever order, and each as often or spread out."""
    called = method_named(name)
    return called.rearranges or called.values == "spread" or name == "tolist"


def _flattens(name: str | None) -> bool:
    """Whether what a method returns may hold the entries of several rows, or of one row several times."""
    called = method_named(name)
    return called.rearranges and called.shape not in ("same", "rank") and name not in _SQUEEZING


@followed(otherwise=False)
def _is_flat(facts: FileFacts, index: ast.expr | None, scope: int) -> bool:
    """Whether an index without repeats has one dimension, so that nothing mixes when it is flattened."""
    call, scope = made_by(facts, index, scope)
    if call is None:
        return False
    name = called_name(facts, call, scope)
    called = method_named(name)
    if called.shape == "line" or called.holds == "distinct values" or name in _PLACES:
        return True
    return called.rearranges and not _flattens(name) and _is_flat(facts, operand(facts, call, scope), scope)


@followed(otherwise=False)
def has_unit_dim(facts: FileFacts, index: ast.expr | None, dimension: int | None, scope: int) -> bool:
    """Whether an index tensor evidently has a length of 1 along a dimension: `labels.unsqueeze(1)` along 1."""
    index, scope = only_value(facts, index, scope)
    if dimension is None:
        return False
    if isinstance(index, ast.Subscript):
        parts = index_parts(index)
        place = dimension if dimension >= 0 or len(parts) >= -dimension else None
        found = parts[place] if place is not None and place < len(parts) else None
        return is_literal_none(found) and (dimension < 0 or not any(map(is_ellipsis, parts)))
    return is_method_call(index) and _is_made_one_deep(facts, index, dimension, scope)


def _is_made_one_deep(facts: FileFacts, call: MethodCall, dimension: int, scope: int) -> bool:
    function = call.func
    if function.attr in ("long", "int", "to", "cuda", "clone", "detach"):
        return has_unit_dim(facts, function.value, dimension, scope)
    if function.attr == "unsqueeze" and call.args:
        new = facts.value(call.args[-1], scope).constants
        if new == (dimension,):
            return True
        return new == (-1,) and dimension < -1 and has_unit_dim(facts, function.value, dimension + 1, scope)
    sizes: list[ast.expr] = []
    if function.attr in ("view", "reshape", "randint"):
        shape = next((a for a in reversed(call.args) if isinstance(a, ast.Tuple)), None)
        sizes = shape.elts if shape is not None else list(call.args) if function.attr != "randint" else []
    if not -len(sizes) <= dimension < len(sizes):
        return False
    return facts.value(sizes[dimension], scope).constants == (1,)


def is_named_strictly(index: ast.expr | None) -> bool:
    """Whether an index is called labels, targets, edges or neighbours."""
    while isinstance(index, (ast.Subscript, ast.Call)):
        index = index.func if isinstance(index, ast.Call) else index.value
        index = index.value if isinstance(index, ast.Attribute) and _keeps(index.attr) else index
    return _NAMED_STRICTLY.search(last_word(index).lower()) is not None


def _found_by(facts: FileFacts, part: ast.expr, scope: int) -> ast.Call | None:
    """The call that found the places of which `part` is one coordinate."""
    if isinstance(part, ast.Subscript):
        return _transposed_places(facts, part.value, scope)
    only = only_end(facts, part, scope)
    if not isinstance(only, Definition) or len(only.parts) != 1 or only.parts == (EACH,):
        return None
    if isinstance(only.node, ast.Call) and called_name(facts, only.node, only.scope) in _SPLITTING:
        return only.node
    return _transposed_places(facts, only.node, only.scope)


@followed(otherwise=None)
def _transposed_places(facts: FileFacts, matrix: ast.expr, scope: int) -> ast.Call | None:
    """The call behind `adjacency.nonzero().t()`: its rows hold one coordinate of all places, and of several each."""
    made, scope = only_value(facts, matrix, scope)
    if isinstance(made, ast.Attribute) and made.attr == "T":
        return _places(facts, made.value, scope)
    if not isinstance(made, ast.Call):
        return None
    inner, name = operand(facts, made, scope), called_name(facts, made, scope)
    is_copy = method_named(name).copies
    if inner is None or not (is_copy or name in ("t", "transpose")):
        return None
    follow = _transposed_places if is_copy else _places
    return follow(facts, inner, scope)


def _places(facts: FileFacts, matrix: ast.expr, scope: int) -> ast.Call | None:
    """The call that found places of a matrix or of more dimensions, whatever moved them since."""
    if not isinstance(matrix, ast.Call):
        return None
    inner, name = operand(facts, matrix, scope), called_name(facts, matrix, scope)
    if name in _PLACES and not matrix.keywords:
        return None if rank_of(facts, inner, scope) == 1 else matrix
    return _places(facts, inner, scope) if method_named(name).copies and inner is not None else None
