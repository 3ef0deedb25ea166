"""Tensors that hold counts by what they are called: their sums are whole numbers, and exact in any order."""

from __future__ import annotations

import ast
import re

from torchlint.facts.tree import last_word

_COUNTS = re.compile(
    r"^(?:num|n|nb)_|(?:^|_)(?:counts?|counters?|cnt|numel|flags?)(?:_tensor|_t)?$|^n(?:tokens|sentences|samples)$|"
    r"(?:^|_)total_(?:samples|tokens|examples|predictions|steps)$"
)


def is_named_count(expression: ast.expr | None) -> bool:
    """`num_tokens`, `self.total_count`, `done_flag`: as integers or as floats, which hold whole numbers exactly."""
    name = last_word(expression)
    return _COUNTS.search(name.lower()) is not None
