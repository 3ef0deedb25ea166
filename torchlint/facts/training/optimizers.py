"""What is an optimizer, or holds one: by what makes it, or else by what it is called."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from torchlint.facts.tree import last_word
from torchlint.facts.words import says

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts


def is_optimizer(facts: FileFacts, expression: ast.expr, scope: int) -> bool:
    """Whether an expression is an optimizer."""
    is_made = any(is_optimizer_class(name.removesuffix("()")) for name in facts.names(expression, scope).names)
    return is_made or says(last_word(expression), "optimizer")


def holds_optimizer(facts: FileFacts, expression: ast.expr, scope: int) -> bool:
    """Whether an expression is an optimizer, or what steps one for the code: a scaler, an engine, an accelerator."""
    return is_optimizer(facts, expression, scope) or says(last_word(expression), "optimizer_holder")


def is_optimizer_class(name: str) -> bool:
    """Whether a full name is one of torch's optimizers; schedulers of learning rates are none."""
    return name.rpartition(".")[0] == "torch.optim"
