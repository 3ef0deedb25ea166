"""What stands around a statement: the tests that decide over it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

_VERSIONED = re.compile(r"version|torch_?v?\d|torch_?(?:ge|gt|lt|le)_")
"""Names of version tests: `torch.__version__`, `TORCH_2_2`, `TORCH_GE_2_1`."""
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def tests_around(facts: FileFacts, statement: ast.stmt) -> Iterator[ast.expr]:
    """The conditions of the `if` and `while` statements around a statement, inside its function, innermost first."""
    for outer in enclosing(facts, statement):
        if isinstance(outer, ast.If | ast.While):
            yield outer.test


def enclosing(facts: FileFacts, statement: ast.stmt) -> Iterator[ast.stmt]:
    """The statements around a statement up to, and without, the function it runs in."""
    current = facts.reading.parents[statement]
    while current is not None and not isinstance(current, _FUNCTIONS):
        yield current
        current = facts.reading.parents[current]


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
