"""Names in a syntax tree: what a statement binds at its own level, and what it uses of the level around it.

Walks keep their own stack: generated files nest expressions by the thousand.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_NAMING = (
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef),
    *(ast.ExceptHandler, ast.MatchAs, ast.MatchStar, ast.MatchMapping),
)
_NO_NAMES: frozenset[str] = frozenset()


def bound_names(*statements: ast.AST) -> frozenset[str]:
    """The names that statements bind in their own scope, also in the blocks of an `if`, a loop or a `try`."""
    names: set[str] = set()
    waiting = [*statements]
    while waiting:
        node = waiting.pop()
        names.update(_bound_by(node))
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            continue
        if isinstance(node, _COMPREHENSIONS):  # `(last := x)` binds around it, its own variables do not
            waiting += [each.target for each in ast.walk(node) if isinstance(each, ast.NamedExpr)]
        else:
            waiting += ast.iter_child_nodes(node)
    return frozenset(names)


def _bound_by(node: ast.AST) -> Iterator[str]:
    """What a node binds by itself."""
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        yield from ((alias.asname or alias.name).partition(".")[0] for alias in node.names)
    elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id
    elif isinstance(node, _NAMING):
        name = node.rest if isinstance(node, ast.MatchMapping) else node.name
        yield from [] if name is None else [name]


def used_names(node: ast.AST) -> frozenset[str]:
    """The names that a statement reads and does not make itself in a function, a lambda or a comprehension inside."""
    names: set[str] = set()
    waiting: list[tuple[ast.AST, frozenset[str]]] = [(node, _NO_NAMES)]
    while waiting:
        each, local = waiting.pop()
        if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Store):
            names.update({each.id} - local)
        elif isinstance(each, ast.Global):
            names.update(each.names)
        names.update(_quoted_name(each) - local)
        for part, made in _parts(each):
            waiting.append((part, local | made if made else local))
    return frozenset(names)


def _parts(node: ast.AST) -> Iterator[tuple[ast.AST, frozenset[str]]]:
    """What a node holds, each with the names that are local to it."""
    inner: list[ast.AST] = []
    local = _NO_NAMES
    if isinstance(node, _FUNCTIONS):
        inner = [node.body] if isinstance(node, ast.Lambda) else [*node.body]
        local = (_parameters(node.args) | bound_names(*inner)) - _declared_outside(inner)
    elif isinstance(node, _COMPREHENSIONS):
        first, *others = node.generators
        made = [first.target, *first.ifs, *others]
        inner = [*made, *([node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt])]
        local = bound_names(*(generator.target for generator in node.generators))
        yield first.iter, _NO_NAMES
    yield from ((part, local) for part in inner)
    if not isinstance(node, _COMPREHENSIONS):
        held = {id(part) for part in inner}
        yield from ((part, _NO_NAMES) for part in ast.iter_child_nodes(node) if id(part) not in held)


def _parameters(arguments: ast.arguments) -> frozenset[str]:
    every = [*arguments.posonlyargs, *arguments.args, arguments.vararg, *arguments.kwonlyargs, arguments.kwarg]
    return frozenset(each.arg for each in every if each is not None)


def _declared_outside(body: Iterable[ast.AST]) -> frozenset[str]:
    """What a function's own `global` and `nonlocal` statements name."""
    names: set[str] = set()
    waiting = [*body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            names.update(node.names)
        elif isinstance(node, ast.stmt) and not isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            waiting += ast.iter_child_nodes(node)
        elif isinstance(node, (ast.ExceptHandler, ast.match_case)):
            waiting += node.body
    return frozenset(names)


def _quoted_name(node: ast.AST) -> frozenset[str]:
    """The name in an annotation that is a string."""
    annotation = getattr(node, "annotation", None)
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        return frozenset({annotation.value.partition("[")[0].partition(".")[0].strip()})
    return _NO_NAMES


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
