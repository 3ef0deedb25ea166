"""What of a file's top level a line belongs to."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from torchlint.recording.messages import ProbedFinding, TargetKind


def target_at(tree: ast.Module, line: int) -> tuple[TargetKind, str]:
    """The class, function or object that is made there; else the statement itself, by its line."""
    for statement in tree.body:
        if statement.lineno <= line <= (statement.end_lineno or 0) or _is_decorated_at(statement, line):
            if isinstance(statement, ast.ClassDef):
                return "module", statement.name
            if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
                return "function", statement.name
            name = _assigned_name(statement)
            return ("object", name) if name else ("statement", f"line {line}")
    return "statement", f"line {line}"


def holding(tree: ast.Module, probed: Sequence[ProbedFinding]) -> tuple[str, ...]:
    """The functions and classes of the top level that hold the flagged lines."""
    definitions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return tuple(
        each.name
        for each in tree.body
        if isinstance(each, definitions) and any(each.lineno <= s.line <= (each.end_lineno or 0) for s in probed)
    )


def _is_decorated_at(statement: ast.stmt, line: int) -> bool:
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return any(decorator.lineno <= line <= (decorator.end_lineno or 0) for decorator in decorators)


def _assigned_name(statement: ast.stmt) -> str | None:
    """The one name that a statement of the top level makes."""
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1 and isinstance(statement.targets[0], ast.Name):
        return statement.targets[0].id
    if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        return statement.target.id
    return None
