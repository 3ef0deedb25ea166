"""What is an optimizer, or holds one: by what makes it, or else by what it is called."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from torchlint.facts.definitions import definitions_of
from torchlint.facts.ends import Definition, Through
from torchlint.facts.tree import last_word
from torchlint.facts.words import says

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

_SEVERAL = re.compile(r"_?(?:\w+_)?optim(?:izer|iser)?s")
"""Names of what holds several."""
_WAYS = (Through.CHANGES, Through.CHANGES | Through.CONTENTS)
"""To the list that a loop takes one from, whose name may say what it holds; and to what is in it."""


def is_optimizer(facts: FileFacts, expression: ast.expr, scope: int) -> bool:
    """Whether an expression is an optimizer, perhaps one of several that a list or a table holds."""
    ends = (end for way in _WAYS for end in definitions_of(facts, expression, scope, way))
    held = (_is_one(facts, end.node, end.scope) for end in ends if isinstance(end, Definition))
    return _is_one(facts, expression, scope) or any(held)


def _is_one(facts: FileFacts, expression: ast.expr, scope: int) -> bool:
    holder = expression.value if isinstance(expression, ast.Attribute | ast.Subscript) else None
    if _SEVERAL.fullmatch(last_word(holder)):  # `self.optimizers[i]`, `optims.generator`
        return True
    is_made = any(is_optimizer_class(name.removesuffix("()")) for name in facts.names(expression, scope).names)
    return is_made or says(last_word(expression), "optimizer")


def holds_optimizer(facts: FileFacts, expression: ast.expr, scope: int) -> bool:
    """Whether an expression is an optimizer, or what steps one for the code: a scaler, an engine, an accelerator."""
    return is_optimizer(facts, expression, scope) or says(last_word(expression), "optimizer_holder")


def is_optimizer_class(name: str) -> bool:
    """Whether a full name is one of torch's optimizers; schedulers of learning rates are none."""
    return name.rpartition(".")[0] == "torch.optim"
