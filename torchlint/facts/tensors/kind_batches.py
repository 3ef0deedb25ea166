"""Batches of which the file shows what they hold: `DataLoader(TensorDataset(x, y))` gives lists of tensors."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from torchlint.facts.classes import attribute_values
from torchlint.facts.tensors.elements import made_by
from torchlint.facts.values import argument_of

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

_LOADER = "torch.utils.data.DataLoader"
_BEFORE_COLLATE = 6
"""Parameters of a loader before `collate_fn`."""
_OF_TENSORS = "torch.utils.data.TensorDataset"


def gives_tensors(facts: FileFacts, source: ast.expr, scope: int) -> bool:
    """Whether a loop over `source` gets tensors each time: it loads a `TensorDataset`, and collates as usual."""
    made, scope = _maker_of(facts, source, scope)
    if made is None:
        return False
    name = facts.names(made.func, scope).only
    if name == _LOADER:
        if len(made.args) > _BEFORE_COLLATE or any(keyword.arg in (None, "collate_fn") for keyword in made.keywords):
            return False
        dataset = argument_of(made, "dataset", 0)
        made, scope = (None, scope) if dataset is None else _maker_of(facts, dataset, scope)
        name = None if made is None else facts.names(made.func, scope).only
    return name == _OF_TENSORS


def _maker_of(facts: FileFacts, expression: ast.expr, scope: int) -> tuple[ast.Call | None, int]:
    """The call that made what a name, or an attribute of `self`, stands for."""
    values = attribute_values(facts, expression, scope)
    if values is not None:
        return made_by(facts, *values[0]) if len(values) == 1 else (None, scope)
    return made_by(facts, expression, scope)
