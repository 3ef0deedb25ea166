"""What stands before a statement in the function or main guard that holds it, taken out of there."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from torchlint.source.syntax import first_line
from torchlint.verify.names import bound_names, used_names
from torchlint.verify.slicing import Slice, changed_name, closure, only


def slice_before(tree: ast.Module, text: str, line: int) -> Slice:
    """What the expressions of a statement need, taken out of the function or main guard that holds it.

    The statement itself is left out: its flagged expression is evaluated alone.
    """
    chain = _chain_to(tree.body, line)
    inner = _before(chain)
    parameters = _defaults(chain)
    needing = [*chain[-1:], *inner, *(default for _, default in parameters)]
    outer = [statement for statement in tree.body if statement not in chain]
    kept = closure(outer, {name for node in needing for name in used_names(node)})
    lines = only(text, kept).split("\n")
    for statement in inner:
        _paste(lines, text.split("\n"), statement)
    for place, assignments in _by_line(parameters).items():
        lines[place - 1] = assignments
    return Slice("\n".join(lines), len(kept) + len(inner))


def _chain_to(body: Sequence[ast.stmt], line: int) -> list[ast.stmt]:
    """The statements around a line, the outermost first, and last the one that is flagged."""
    for statement in body:
        if first_line(statement) <= line <= (statement.end_lineno or 0):
            for block in _blocks(statement):
                inner = _chain_to(block, line)
                if inner:
                    return [statement, *inner]
            return [statement]
    return []


def _blocks(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    if isinstance(statement, ast.ClassDef):
        return
    for name in ("body", "orelse", "finalbody"):
        block = getattr(statement, name, None)
        if isinstance(block, list):
            yield block
    for handler in getattr(statement, "handlers", []):
        yield handler.body


def _before(chain: Sequence[ast.stmt]) -> list[ast.stmt]:
    """The statements of the blocks around the flagged one that stand before it and that it needs, in their order."""
    if not chain:
        return []
    flagged = chain[-1]
    before = [s for outer in chain[:-1] for block in _blocks(outer) for s in block if s.lineno < flagged.lineno]
    kept: list[ast.stmt] = []
    needed = set(used_names(flagged))
    for statement in reversed(before):
        if statement in chain or isinstance(statement, (ast.Return, ast.Raise, ast.Pass)):
            continue
        if bound_names(statement) & needed or (changed_name(statement) or "") in needed:
            kept.insert(0, statement)
            needed |= used_names(statement)
    return kept


def _defaults(chain: Sequence[ast.stmt]) -> list[tuple[ast.arg, ast.expr]]:
    """The parameters of the functions around that have a default: it stands for what a caller would give."""
    found: list[tuple[ast.arg, ast.expr]] = []
    for function in chain:
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            parameters = [*function.args.posonlyargs, *function.args.args]
            given = function.args.defaults
            found += zip(parameters[len(parameters) - len(given) :], given, strict=True)
            named = zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True)
            found += [(parameter, default) for parameter, default in named if default is not None]
    return found


def _by_line(parameters: Iterable[tuple[ast.arg, ast.expr]]) -> dict[int, str]:
    lines: dict[int, str] = {}
    for parameter, default in parameters:
        assignment = f"{parameter.arg} = {ast.unparse(default)}"
        place = parameter.lineno
        lines[place] = f"{lines[place]}; {assignment}" if place in lines else assignment
    return lines


def _paste(lines: list[str], original: Sequence[str], statement: ast.stmt) -> None:
    """Put a statement of an inner block where it stands, without its indent."""
    indent = statement.col_offset
    for row in range(first_line(statement), (statement.end_lineno or 0) + 1):
        line = original[row - 1]
        lines[row - 1] = line[indent:] if not line[:indent].strip() else line
