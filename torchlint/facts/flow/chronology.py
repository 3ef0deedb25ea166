"""Which of two things that become of a value may come first, in functions that it is handed to as well."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from torchlint.facts.control.blocks import loops_around
from torchlint.facts.control.order import precedes
from torchlint.facts.flow.values import Value

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts


class Chronology:
    """The order of what becomes of a value that is made anew wherever it is said to be."""

    def __init__(self, facts: FileFacts) -> None:
        self._facts = facts
        self._functions: set[int | None] = set()
        """Each of their calls has a value of its own; to others one may come in several calls."""
        self._loops: set[ast.AST] = set()
        """Each of their rounds has a value of its own."""

    def made(self, statement: ast.stmt) -> None:
        """Each time that a statement runs it makes the value anew."""
        self._functions.add(self._facts.function_of(self._facts.symbols.scope_of[statement]))
        self._loops.update(loops_around(self._facts, statement))

    def may_precede(self, one: Value, other: Value) -> bool:
        """Whether what happens to the value at one place may have happened before it gets to the other."""
        ways = zip((*one.calls, one.node), (*other.calls, other.node), strict=False)
        depth, (first, second) = next(
            ((depth, pair) for depth, pair in enumerate(ways) if pair[0] is not pair[1]), (0, (one.node, other.node))
        )
        statements = [self._facts.index.statement_of(node) for node in (first, second)]
        functions = {self._facts.function_of(self._facts.symbols.scope_of[statement]) for statement in statements}
        shared = set.intersection(*(set(loops_around(self._facts, statement)) for statement in statements))
        if len(functions) > 1 or (depth <= 0 and not functions <= self._functions):
            return True
        return not shared <= self._loops or precedes(self._facts, first, second)
