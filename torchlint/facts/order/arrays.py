"""Arrays that are joined of an order's entries and written by what prepares data: their rows are numbered by it."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

JOINED = "joined"
"""The label of an array whose rows have the order."""
_WRITING = frozenset({"numpy.save", "numpy.savez", "numpy.savez_compressed", "torch.save"})
_NUMBERING = frozenset({"numpy.savez", "numpy.savez_compressed"})
"""They keep what is spread over them as `arr_0`, `arr_1`."""
_PREPARING = re.compile(r"(?<![a-z])data(?:sets?)?(?![a-z])|pre_?process|prepare")
"""Words of files that make the data for others."""


def is_data(facts: FileFacts, call: ast.Call) -> bool:
    """Whether a call writes an array that is data by the path of the file that writes it."""
    name = facts.names(call.func, facts.index.scope_of(call)).only
    return name in _WRITING and _PREPARING.search(facts.path.lower()) is not None


def is_numbered_by_place(name: str | None) -> bool:
    """Whether a function names what it is handed by its place."""
    return name in _NUMBERING
