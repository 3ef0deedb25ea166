"""What of a file is executed to get at a target: the syntax tree cut down to what the target needs.

Dropped statements leave blank lines, so that lines keep their numbers. This is no sandbox: what is kept runs.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from torchlint.verify.names import bound_names, is_main_guard, root_name, used_names

_MUTATORS = re.compile(r"(add|append|extend|insert|update|setdefault|register|set_defaults|set|put|load|merge)(_\w+)?")
"""Methods that fill an object which was made before: `parser.add_argument(...)`, `layers.append(...)`."""

_SURROUNDINGS = re.compile(
    r"use_deterministic|set_deterministic|torch\.backends|cudnn\.|manual_seed|\bseed\(|seed_everything|set_seed|environ|putenv|"
    r"set_num_threads|matmul_precision|set_default_dtype|cuda\.is_available|cuda\.init"
)
"""Statements that set switches, seeds and variables: they decide what a flagged switch does."""

_BLOCKS = (ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith)


@dataclass(frozen=True)
class Slice:
    """`text` has the lines of the file."""

    text: str
    kept: int
    """How many statements are left."""


def slice_for(tree: ast.Module, text: str, names: Iterable[str]) -> Slice:
    """All that the names of the file's top level need: imports, definitions, assignments, and what fills them."""
    kept = _closure(tree.body, set(names))
    return Slice(_only(text, kept), len(kept))


def names_to_import(tree: ast.Module) -> Iterator[str]:
    """All that another file may import from it: what its definitions, imports and assignments bind."""
    for statement in tree.body:
        if not isinstance(statement, _BLOCKS) and not is_main_guard(statement):
            yield from bound_names(statement)


def slice_for_statement(tree: ast.Module, text: str, line: int, *, surroundings: bool) -> Slice:
    """One statement with all that it needs, taken out of the function or main guard that holds it.

    `surroundings` keeps what sets switches, seeds and environment variables as well, in its order.
    """
    chain = _chain_to(tree.body, line)
    inner = _hoisted(chain, surroundings=surroundings)
    needed = {name for statement in inner for name in used_names(statement)}
    parameters = _defaults(chain)
    needed |= {name for _, default in parameters for name in used_names(default)}
    outer = [statement for statement in tree.body if statement not in chain]
    extra = [s for s in outer if surroundings and _touches_surroundings(s) and not is_main_guard(s)]
    needed |= {name for statement in extra for name in used_names(statement)}
    kept = [*_closure(outer, needed), *extra]
    lines = _only(text, [*kept, *(s for s in inner if s.col_offset == 0)]).split("\n")
    for statement in inner:
        if statement.col_offset:
            _paste(lines, text.split("\n"), statement)
    for place, assignments in _by_line(parameters).items():
        lines[place - 1] = assignments
    return Slice("\n".join(lines), len(kept) + len(inner))


def _closure(body: Sequence[ast.stmt], wanted: set[str]) -> list[ast.stmt]:
    """The statements that bind wanted names, those that these need, and those that fill what they make."""
    kept: dict[int, ast.stmt] = {index: s for index, s in enumerate(body) if _is_always_kept(s)}
    binders = {index: bound_names(statement) for index, statement in enumerate(body)}
    made_outside = {name for index, s in enumerate(body) if not isinstance(s, _BLOCKS) for name in binders[index]}
    reached: set[str] = set()
    while True:
        fresh = wanted - reached
        reached |= wanted
        for index, statement in enumerate(body):
            if index in kept or is_main_guard(statement):
                continue
            binds = binders[index] & reached
            if isinstance(statement, _BLOCKS):
                binds -= made_outside  # a loop is run only for what nothing else makes
            if binds or _fills(statement, reached, binders.values()):
                kept[index] = statement
                wanted = wanted | used_names(statement)
        if not fresh and not wanted - reached:
            return [kept[index] for index in sorted(kept)]


def _is_always_kept(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ImportFrom) and (
        statement.module == "__future__" or any(alias.name == "*" for alias in statement.names)
    )


def _fills(statement: ast.stmt, reached: set[str], binders: Iterable[frozenset[str]]) -> bool:
    """Whether it changes a kept object of the file: a call of a method that adds, or a stored attribute or item."""
    target = _changed(statement)
    return target is not None and target in reached and any(target in names for names in binders)


def _changed(statement: ast.stmt) -> str | None:
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        function = statement.value.func
        if isinstance(function, ast.Attribute) and _MUTATORS.fullmatch(function.attr):
            return root_name(function)
    if isinstance(statement, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        roots = [root_name(target) for target in targets if isinstance(target, (ast.Attribute, ast.Subscript))]
        return roots[0] if roots else None
    return None


def _only(text: str, kept: Sequence[ast.stmt]) -> str:
    """The text with all lines blank but those of the kept statements."""
    lines = text.split("\n")
    rows = {row for statement in kept for row in range(_first_line(statement), (statement.end_lineno or 0) + 1)}
    return "\n".join(line if row in rows else "" for row, line in enumerate(lines, 1))


def _first_line(statement: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(decorator.lineno for decorator in decorators)])


def _chain_to(body: Sequence[ast.stmt], line: int) -> list[ast.stmt]:
    """The statements around a line, the outermost first, and last the one that is flagged."""
    for statement in body:
        if _first_line(statement) <= line <= (statement.end_lineno or 0):
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


def _hoisted(chain: Sequence[ast.stmt], *, surroundings: bool) -> list[ast.stmt]:
    """The flagged statement, and what stands before it in the blocks around it that it needs."""
    if not chain:
        return []
    flagged = chain[-1]
    before = [s for outer in chain[:-1] for block in _blocks(outer) for s in block if s.lineno < flagged.lineno]
    simple = [s for s in before if s not in chain and not isinstance(s, (ast.Return, ast.Raise, ast.Pass))]
    kept = [flagged]
    needed = set(used_names(flagged))
    for statement in reversed(simple):
        touches = surroundings and _touches_surroundings(statement)
        if bound_names(statement) & needed or touches or (_changed(statement) or "") in needed:
            kept.insert(0, statement)
            needed |= used_names(statement)
    return kept


def _touches_surroundings(statement: ast.stmt) -> bool:
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)):
        return False
    return bool(_SURROUNDINGS.search(ast.unparse(statement)))


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
    for row in range(_first_line(statement), (statement.end_lineno or 0) + 1):
        line = original[row - 1]
        lines[row - 1] = line[indent:] if not line[:indent].strip() else line
