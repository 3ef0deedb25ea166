"""What stands around a node: the tests that decide over a statement, and the expressions around an expression."""

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


def parents_within(statement: ast.stmt) -> dict[ast.AST, ast.AST]:
    """For every node of a statement's own expressions, the node it stands in; nested statements are left out."""
    parents: dict[ast.AST, ast.AST] = {}
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case):
                parents[child] = node
                waiting.append(child)
    return parents


def ancestors_of(node: ast.AST, statement: ast.stmt) -> Iterator[tuple[ast.AST, ast.AST]]:
    """Pairs of an ancestor and its child on the way down to `node`, innermost first, up to the statement."""
    parents = parents_within(statement)
    while node in parents:
        yield parents[node], node
        node = parents[node]
