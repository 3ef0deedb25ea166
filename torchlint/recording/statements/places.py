"""Where the flagged statement stands: the smallest statement of the text, and what holds it."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from torchlint.recording.messages import ProbedFinding

Function = (ast.FunctionDef, ast.AsyncFunctionDef)
_Block = (*Function, ast.ClassDef)


@dataclass(frozen=True)
class Place:
    """The flagged statement, from the outside in: class, function, main guard, as far as it stands in one."""

    statement: ast.stmt
    owner: ast.ClassDef | None = None
    function: ast.FunctionDef | ast.AsyncFunctionDef | None = None
    """The outermost one, or the method of `owner`."""
    guard: ast.If | None = None

    @property
    def lines(self) -> range:
        """The lines that run when the statement does: its head, or the body of a function or a main guard."""
        statement = self.statement
        body = getattr(statement, "body", None)
        if not body:
            return range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)
        if isinstance(statement, _Block) or is_main_guard(statement):
            return range(body[0].lineno, (statement.end_lineno or statement.lineno) + 1)
        return range(statement.lineno, max(body[0].lineno, statement.lineno + 1))


def find_place(text: str, finding: ProbedFinding) -> Place | None:
    """None where the text has no statement in these lines: it was blanked out."""
    holders: list[ast.stmt] = []
    block: list[ast.stmt] = ast.parse(text).body
    while True:
        inner = next((statement for statement in block if _holds(statement, finding.line)), None)
        if inner is None:
            break
        holders.append(inner)
        block = [child for child in _children(inner) if isinstance(child, ast.stmt)]
    if not holders:
        return None
    functions = [holder for holder in holders if isinstance(holder, Function)]
    owner = holders[0] if isinstance(holders[0], ast.ClassDef) else None
    guard = next((holder for holder in holders if isinstance(holder, ast.If) and is_main_guard(holder)), None)
    return Place(holders[-1], owner, functions[0] if functions else None, guard)


def is_main_guard(statement: ast.stmt) -> bool:
    test = statement.test if isinstance(statement, ast.If) else None
    if not isinstance(test, ast.Compare) or len(test.comparators) != 1:
        return False
    sides = (test.left, test.comparators[0])
    is_name: bool = any(isinstance(side, ast.Name) and side.id == "__name__" for side in sides)
    return is_name and any(isinstance(side, ast.Constant) and side.value == "__main__" for side in sides)


def _holds(statement: ast.stmt, line: int) -> bool:
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    first: int = min([statement.lineno, *(decorator.lineno for decorator in decorators)])
    return first <= line <= (statement.end_lineno or statement.lineno)


def _children(statement: ast.stmt) -> list[ast.AST]:
    """Statements one floor down; those of `except` and `match` stand a floor deeper in the tree."""
    found: list[ast.AST] = []
    for child in ast.iter_child_nodes(statement):
        found.append(child)
        if isinstance(child, (ast.ExceptHandler, ast.match_case)):
            found.extend(child.body)
    return found


def made_names(statement: ast.stmt) -> tuple[str, ...]:
    """The names that a statement binds or fills: `ids` of `ids[key] = 1`, `files` of `files.append(file)`."""
    found: dict[str, None] = {}
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found[node.id] = None
        elif isinstance(node, (ast.Subscript, ast.Attribute)) and isinstance(node.ctx, ast.Store):
            found.update(dict.fromkeys(_root(node)))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            found.update(dict.fromkeys(_root(node.func)))
    loop_variables = {
        name.id
        for node in ast.walk(statement)
        if isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension))
        for name in ast.walk(node.target)
        if isinstance(name, ast.Name)
    }
    return tuple(name for name in found if name not in loop_variables)


def following_names(text: str, place: Place) -> tuple[str, ...]:
    """What the statement makes, then what later statements of the file make of it, in the order of the file."""
    names = dict.fromkeys(made_names(place.statement))
    for statement in ast.parse(text).body:
        is_later = statement.lineno > place.statement.lineno
        if is_later and not isinstance(statement, _Block) and read_names(statement) & names.keys():
            names.update(dict.fromkeys(made_names(statement)))
    return tuple(names)


def read_names(statement: ast.stmt) -> set[str]:
    return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}


def makes_set(statement: ast.stmt) -> bool:
    """A set is made in the statement itself: it may have no name by which it could be looked at."""
    return any(
        isinstance(node, (ast.Set, ast.SetComp))
        or (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in {"set", "frozenset"})
        for node in ast.walk(statement)
    )


def _root(node: ast.expr) -> list[str]:
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return [node.id] if isinstance(node, ast.Name) else []
