"""What computes with a parameter, and what with the result: read off the autograd graph."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Any

from torch import nn

from torchlint.recording.tensors import tensors_in

_MOVES = (
    r"(Unsafe)?View|_?ReshapeAlias|Transpose|T|Permute|Unsqueeze|Squeeze|Alias|ToCopy|Clone|Contiguous|Expand"
    r"|Slice|Select|Split(WithSizes)?|Unbind|AsStrided"
)
_MOVING = re.compile(_MOVES)
_PASSING = re.compile(rf"{_MOVES}|Cat|Stack|Add|Sub|(Mkldnn|Adaptive)*(Max|Avg)Pool\w*|Upsample\w*")
"""Operators through which a constant added to a channel stays one, whatever the data: the numbers show padding."""
_OUTPUT = "the output"


def consumers(outputs: Any, parameter: nn.Parameter, *, next_only: bool = False) -> list[str]:  # noqa: ANN401
    """What takes the results that a parameter goes into, by the names of autograd.

    Moves are looked through, and sums and pooling as well unless only the next operator is asked for. Empty where the
    parameter is not in the graph.
    """
    passing = _MOVING if next_only else _PASSING
    readers = _readers(outputs)
    layers = {
        reader
        for node, nodes in readers.items()
        if getattr(node, "variable", None) is parameter
        for reader in _beyond(_MOVING, nodes, readers, also_ends=False)
    }
    found: set[str] = set()
    for layer in layers:
        for node in _beyond(passing, readers.get(layer, []), readers, also_ends=True):
            found.add(_OUTPUT if isinstance(node, str) else operator_name(node))
        if not readers.get(layer):
            found.add(_OUTPUT)
    return sorted(found)


def operator_name(node: Any) -> str:  # noqa: ANN401 - a node of the graph
    return re.sub(r"Backward\d*$", "", node.name().rpartition("::")[2])


def _readers(outputs: Any) -> dict[Any, list[Any]]:  # noqa: ANN401
    """For each node of the graph those that computed with its result."""
    readers: dict[Any, list[Any]] = defaultdict(list)
    waiting = [tensor.grad_fn for _, tensor in tensors_in(outputs) if tensor.grad_fn is not None]
    seen = set(waiting)
    while waiting:
        node = waiting.pop()
        for before, _ in node.next_functions:
            if before is None:
                continue
            readers[before].append(node)
            if before not in seen:
                seen.add(before)
                waiting.append(before)
    return readers


def _beyond(passing: re.Pattern[str], nodes: list[Any], readers: dict[Any, list[Any]], *, also_ends: bool) -> set[Any]:
    """The first nodes on each way that are not looked through; `the output` for a way that ends before one."""
    found: set[Any] = set()
    waiting, seen = list(nodes), set(nodes)
    while waiting:
        node = waiting.pop()
        if not passing.fullmatch(operator_name(node)):
            found.add(node)
            continue
        following = readers.get(node, [])
        if not following and also_ends:
            found.add(_OUTPUT)
        waiting += [after for after in following if after not in seen]
        seen.update(following)
    return found
