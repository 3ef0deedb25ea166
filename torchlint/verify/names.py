"""Names in a syntax tree: what a statement binds at its own level, and what it uses anywhere."""

from __future__ import annotations

import ast
from collections.abc import Iterator


def bound_names(statement: ast.stmt) -> frozenset[str]:
    """The names that a statement binds in its own scope, also in the blocks of an `if`, a loop or a `try`."""
    return frozenset(_bound(statement))


def _bound(node: ast.AST) -> Iterator[str]:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield node.name
        return
    if isinstance(node, (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
        return
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        yield from ((alias.asname or alias.name).partition(".")[0] for alias in node.names)
    elif isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
        yield node.id
    elif isinstance(node, ast.ExceptHandler) and node.name:
        yield node.name
    for child in ast.iter_child_nodes(node):
        yield from _bound(child)


def used_names(node: ast.AST) -> frozenset[str]:
    """Every name that is read anywhere inside, in nested functions too: more rather than fewer."""
    names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Store)}
    return frozenset(names | _quoted_names(node))


def _quoted_names(node: ast.AST) -> set[str]:
    """The names in annotations that are strings, and in `global` statements."""
    names: set[str] = set()
    for each in ast.walk(node):
        if isinstance(each, ast.Global):
            names.update(each.names)
        annotation = getattr(each, "annotation", None)
        if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
            names.add(annotation.value.partition("[")[0].partition(".")[0].strip())
    return names


def root_name(node: ast.expr) -> str | None:
    """`a` of `a.b[0].c`; None where no name is at the root."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else None


def is_main_guard(statement: ast.stmt) -> bool:
    """`if __name__ == "__main__":`, in either order."""
    if not isinstance(statement, ast.If) or not isinstance(statement.test, ast.Compare):
        return False
    sides = [statement.test.left, *statement.test.comparators]
    return any(isinstance(side, ast.Name) and side.id == "__name__" for side in sides)
