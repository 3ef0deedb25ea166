"""Code that is for some releases only."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from torchlint.facts.control.blocks import enclosing
from torchlint.facts.control.conditions import tests_around

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

_RELEASE = re.compile(r"version|torch\w*\d|hasattr|getattr\(torch", re.IGNORECASE)
"""Words of tests for a release, or for what it has: `torch.__version__`, `TORCH_2_2`, `TORCH_GE_2_1`."""
_ABSENT = frozenset({"ImportError", "ModuleNotFoundError", "AttributeError", "Exception"})


def is_for_some_releases(facts: FileFacts, statement: ast.stmt) -> bool:
    """Whether code asks first whether a name exists: `hasattr(torch, ...)`, a version test, `except AttributeError`."""
    return any(asks_for_release(test) for test in tests_around(facts, statement)) or any(
        isinstance(outer, ast.Try) and any(_catches_absence(handler) for handler in outer.handlers)
        for outer in enclosing(facts, statement)
    )


def asks_for_release(test: ast.expr) -> bool:
    return _RELEASE.search(ast.unparse(test)) is not None


def _catches_absence(handler: ast.ExceptHandler) -> bool:
    names = ast.walk(handler.type) if handler.type is not None else iter(())
    return handler.type is None or any(isinstance(node, ast.Name) and node.id in _ABSENT for node in names)
