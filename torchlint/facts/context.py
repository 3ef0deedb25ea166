"""Code for releases in which a name may be absent."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from torchlint.facts.control.blocks import enclosing
from torchlint.facts.control.conditions import tests_around

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

_VERSIONED = re.compile(r"version|torch_?v?\d|torch_?(?:ge|gt|lt|le)_")
"""Names of version tests: `torch.__version__`, `TORCH_2_2`, `TORCH_GE_2_1`."""


def is_guarded_against_absence(facts: FileFacts, statement: ast.stmt) -> bool:
    """Whether code asks first whether a name exists: `hasattr(torch, ...)`, a version test, `except AttributeError`."""
    for test in tests_around(facts, statement):
        words = {node.id for node in ast.walk(test) if isinstance(node, ast.Name)}
        words |= {node.attr for node in ast.walk(test) if isinstance(node, ast.Attribute)}
        if words & {"hasattr", "getattr"} or any(_VERSIONED.search(word.lower()) for word in words):
            return True
    return any(
        isinstance(outer, ast.Try) and any(_catches_attribute_errors(handler) for handler in outer.handlers)
        for outer in enclosing(facts, statement)
    )


def _catches_attribute_errors(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    caught = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(isinstance(kind, ast.Name) and kind.id in ("AttributeError", "Exception") for kind in caught)
