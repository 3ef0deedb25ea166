"""What of a file is executed to get at a target: the syntax tree cut down to what the target needs.

Dropped statements leave blank lines, so that lines keep their numbers. This is no sandbox: what is kept runs.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from torchlint.source.syntax import first_line
from torchlint.verify.names import bound_names, is_main_guard, root_name, used_names

_MUTATORS = re.compile(r"(add|append|extend|insert|update|setdefault|register|set_defaults|set|put|load|merge)(_\w+)?")
"""Methods that fill an object which was made before: `parser.add_argument(...)`, `layers.append(...)`."""

_SURROUNDINGS = re.compile(
    r"use_deterministic|set_deterministic|torch\.backends|cudnn\.|manual_seed|\bseed\(|seed_everything|set_seed|environ|putenv|"
    r"set_num_threads|matmul_precision|set_default_dtype|cuda\.is_available|cuda\.init"
)
"""Statements that set switches, seeds and variables: they decide what a flagged switch does."""

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_BLOCKS = (ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith)


@dataclass(frozen=True)
class Slice:
    """`text` has the lines of the file."""

    text: str
    kept: int
    """How many statements are left."""


def slice_for(tree: ast.Module, text: str, names: Iterable[str]) -> Slice:
    """All that the names of the file's top level need: imports, definitions, assignments, and what fills them.

    Of the main guard come the statements that make a name which nothing else makes: a script's classes read it there.
    """
    guards = [statement for statement in tree.body if is_main_guard(statement)]
    outside = {name for statement in tree.body if statement not in guards for name in bound_names(statement)}
    inside = [each for guard in guards for each in _plain_statements(guard) if not bound_names(each) & outside]
    kept = closure([*tree.body, *inside], set(names))
    opened = [guard for guard in guards if any(each in kept for each in ast.iter_child_nodes(guard))]
    return Slice(_with_opened(only(text, kept), opened), len(kept))


def _plain_statements(guard: ast.stmt) -> list[ast.stmt]:
    """Those of the guard's own lines; loops train."""
    body: list[ast.stmt] = getattr(guard, "body", [])
    return [each for each in body if not isinstance(each, _BLOCKS) and each.lineno > guard.lineno]


def _with_opened(text: str, guards: Sequence[ast.stmt]) -> str:
    """Main guards that let everybody in."""
    lines = text.split("\n")
    for guard in guards:
        lines[guard.lineno - 1] = "if True:"
    return "\n".join(lines)


def names_to_import(tree: ast.Module) -> Iterator[str]:
    """All that another file may import from it: what its definitions, imports and assignments bind."""
    for statement in tree.body:
        if not isinstance(statement, _BLOCKS) and not is_main_guard(statement):
            yield from bound_names(statement)


def slice_around(tree: ast.Module, text: str, line: int, *, surroundings: bool, program: bool) -> Slice:
    """The statement of the top level that holds a line, whole, with all that it needs and what is made of it later.

    `surroundings` keeps what sets switches, seeds and environment variables as well; `program` the main guard, or all
    of a script that has none.
    """
    if program and not any(is_main_guard(statement) for statement in tree.body):
        return Slice(text, len(tree.body))
    flagged = [s for s in tree.body if first_line(s) <= line <= (s.end_lineno or 0)]
    beside = [
        statement
        for statement in tree.body
        if (surroundings and touches_surroundings(statement))
        or (program and is_main_guard(statement))
        or any(_follows(statement, each) for each in flagged)
    ]
    kept = [*flagged, *beside]
    needed = {name for statement in kept for name in used_names(statement)}
    others = [statement for statement in tree.body if statement not in kept]
    return Slice(only(text, [*closure(others, needed), *kept]), len(kept))


def _follows(statement: ast.stmt, flagged: ast.stmt) -> bool:
    """Whether a later statement makes something of what the flagged one binds, or changes it."""
    if statement.lineno <= flagged.lineno or isinstance(statement, (*_BLOCKS, *_DEFINITIONS)):
        return False
    names = bound_names(flagged)
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Call) and (_method_of(statement.value) or "") in names
    return bool(used_names(statement) & names) and not is_main_guard(statement)


def _method_of(call: ast.Call) -> str | None:
    """The name whose method is called: `names` of `names.sort()`."""
    return root_name(call.func) if isinstance(call.func, ast.Attribute) else None


def closure(body: Sequence[ast.stmt], wanted: set[str]) -> list[ast.stmt]:
    """The statements that bind wanted names, those that these need, and those that fill what they make."""
    kept: dict[int, ast.stmt] = {index: s for index, s in enumerate(body) if _is_always_kept(s)}
    binders = {index: bound_names(statement) for index, statement in enumerate(body)}
    registrars = {s.name: _changed_inside(s) for s in body if isinstance(s, _DEFINITIONS)}
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
            is_entered = any(tables & reached for tables in _tables_entered(statement, registrars))
            if binds or is_entered or _fills(statement, reached, binders.values()):
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
    target = changed_name(statement)
    return target is not None and target in reached and any(target in names for names in binders)


def _tables_entered(statement: ast.stmt, registrars: Mapping[str, frozenset[str]]) -> Iterator[frozenset[str]]:
    """The tables that a definition is put into by its decorators: `@MODELS.register`, or a function of the file."""
    for decorator in getattr(statement, "decorator_list", ()):
        function = decorator.func if isinstance(decorator, ast.Call) else decorator
        name = root_name(function) or ""
        if isinstance(function, ast.Attribute) and _MUTATORS.fullmatch(function.attr):
            yield frozenset({name})
        elif isinstance(function, ast.Name):
            yield registrars.get(name, frozenset())


def _changed_inside(definition: ast.stmt) -> frozenset[str]:
    statements = (each for each in ast.walk(definition) if isinstance(each, ast.stmt))
    return frozenset(name for each in statements if (name := changed_name(each)) is not None)


def changed_name(statement: ast.stmt) -> str | None:
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        function = statement.value.func
        if isinstance(function, ast.Attribute) and _MUTATORS.fullmatch(function.attr):
            return root_name(function)
    if isinstance(statement, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        roots = [root_name(target) for target in targets if isinstance(target, (ast.Attribute, ast.Subscript))]
        return roots[0] if roots else None
    return None


def only(text: str, kept: Sequence[ast.stmt]) -> str:
    """The text with all lines blank but those of the kept statements."""
    lines = text.split("\n")
    rows = {row for statement in kept for row in range(first_line(statement), (statement.end_lineno or 0) + 1)}
    return "\n".join(line if row in rows else "" for row, line in enumerate(lines, 1))


def touches_surroundings(statement: ast.stmt) -> bool:
    """Whether it sets a switch, a seed or an environment variable; what only defines or imports sets nothing."""
    if isinstance(statement, (*_DEFINITIONS, ast.Import, ast.ImportFrom)) or is_main_guard(statement):
        return False
    return bool(_SURROUNDINGS.search(ast.unparse(statement)))
