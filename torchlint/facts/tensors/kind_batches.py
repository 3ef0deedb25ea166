"""Batches of which the file shows what they hold: `DataLoader(TensorDataset(x, y))` gives lists of tensors."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from torchlint.facts.data_loading.workers import LOADER
from torchlint.facts.tensors.operands import made_by
from torchlint.facts.values import argument_of

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

_BEFORE_COLLATE = 6
"""Parameters of a loader before `collate_fn`."""
_OF_TENSORS = "torch.utils.data.TensorDataset"


def gives_tensors(facts: FileFacts, source: ast.expr, scope: int) -> bool:
    """Whether a loop over `source` gets tensors each time: it loads a `TensorDataset`, and collates as usual."""
    made, scope = made_by(facts, source, scope)
    name = None if made is None else facts.names(made.func, scope).only
    if made is not None and name == LOADER:
        if len(made.args) > _BEFORE_COLLATE or any(keyword.arg in (None, "collate_fn") for keyword in made.keywords):
            return False
        dataset = argument_of(made, "dataset", 0)
        made, scope = made_by(facts, dataset, scope)
        name = None if made is None else facts.names(made.func, scope).only
    return name == _OF_TENSORS
