"""What a fix needs to be imported: the name that the file has for a module, or a new import."""

from __future__ import annotations

import ast
import sys

import msgspec

from torchlint.facts.scopes import BindingKind
from torchlint.fixes.code import FileCode
from torchlint.source.edits import Replacement, insertion


class Spelled(msgspec.Struct, frozen=True):
    """How code names a module, and the import that this needs first."""

    name: str
    changes: tuple[Replacement, ...] = ()


def spelled_module(code: FileCode, module: str, statement: ast.stmt) -> Spelled | None:
    """The name of a module for a statement: `th` after `import torch as th`. None where its own name is taken."""
    facts = code.facts
    scope = facts.symbols.scope_of[statement]
    for around in facts.around(scope):
        for name, bindings in facts.symbols.scopes[around].bindings.items():
            is_imported = all(one.kind is BindingKind.IMPORT for one in bindings)
            before = (
                one.statement
                for one in bindings
                if one.statement is not None and (one.statement.lineno < statement.lineno or around != scope)
            )
            has_run = is_imported and any(not _is_guarded(code, bound) for bound in before)
            if has_run and facts.resolver.name(name, scope).only == module:
                return Spelled(name)
    if facts.resolver.owner(module, scope) is not None:
        return None
    place = _place_for_import(code, module)
    return None if place is None else Spelled(module, (insertion(*place, f"import {module}\n"),))


def _is_guarded(code: FileCode, statement: ast.stmt) -> bool:
    """Whether an import may not have run: it stands in a `try` or under a test."""
    return isinstance(code.facts.symbols.parents[statement], ast.Try | ast.If)


def _place_for_import(code: FileCode, module: str) -> tuple[int, int] | None:
    """The beginning of a line behind the docstring and imports from `__future__`: before the first import.

    For what Python does not bring along it is the first import of the like, or else what follows the imports. In a
    notebook it stands by an import: cells above may be for other things.
    """
    body = code.facts.tree.body
    rest = [one for at, one in enumerate(body) if not (at == 0 and _is_docstring(one)) and not _is_future(one)]
    imports = [one for one in rest if isinstance(one, ast.Import | ast.ImportFrom)]
    if module in sys.stdlib_module_names:
        wanted = imports if code.facts.source.cells or rest[:1] == imports[:1] else rest
    else:
        others = [one for one in imports if not _is_of_python(one)]
        last = rest.index(imports[-1]) + 1 if imports else 0
        wanted = others or ([] if code.facts.source.cells else rest[last:])
    return next((_line_start(code, one) for one in wanted[:1]), None)


def _line_start(code: FileCode, statement: ast.stmt) -> tuple[int, int] | None:
    """The beginning of a statement's line; None where that is not the beginning of the line."""
    decorators = getattr(statement, "decorator_list", None) or [statement]
    line = min(statement.lineno, decorators[0].lineno)
    begins = not code.lines[line - 1][: code.start(decorators[0])[1] - 1].strip(" \t\f@")
    return (line, 1) if begins and not code.indent_of(line).strip("\f") else None


def _is_of_python(statement: ast.Import | ast.ImportFrom) -> bool:
    if isinstance(statement, ast.ImportFrom):
        return not statement.level and (statement.module or "").split(".")[0] in sys.stdlib_module_names
    return all(alias.name.split(".")[0] in sys.stdlib_module_names for alias in statement.names)


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _is_future(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
