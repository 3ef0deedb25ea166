"""The one walk over a piece of source: all checks, kept in step with the `ast` reader.

Scopes, calls and assignments are counted as `facts/reader.py` counts them: a definition takes its number when it is
met, and its body is the new scope; a comprehension is its own scope throughout.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import libcst as cst

from torchlint.checks.registration import Check, Finding
from torchlint.checks.visit import Visit
from torchlint.facts.scopes import Cursor

Table = Mapping[type[cst.CSTNode], Sequence[Check]]

_BODIED = (cst.FunctionDef, cst.ClassDef, cst.Lambda)
_COMPREHENSIONS = (cst.ListComp, cst.SetComp, cst.GeneratorExp, cst.DictComp)
_ASSIGNMENTS = (cst.Assign, cst.AnnAssign, cst.AugAssign)
_TRIVIA = (cst.BaseParenthesizableWhitespace, cst.TrailingWhitespace, cst.EmptyLine, cst.Comma, cst.Newline)


@dataclass(frozen=True, slots=True)
class BrokenCheck:
    """A check that raised: its name and the error."""

    check: str
    error: Exception


def table_of(checks: Sequence[Check]) -> dict[type[cst.CSTNode], list[Check]]:
    """Which checks look at which node type."""
    table: dict[type[cst.CSTNode], list[Check]] = {}
    for check in checks:
        for kind in check.types:
            table.setdefault(kind, []).append(check)
    return table


class Walk(cst.CSTVisitor):
    """Walks one piece and collects findings; a check that raises is set aside and the others go on."""

    def __init__(self, visit: Visit, table: Table, cursor: Cursor) -> None:
        super().__init__()
        self.visit = visit
        self.table = table
        self.findings: list[tuple[Check, Finding]] = []
        self.broken: list[BrokenCheck] = []
        visit.scope = cursor.scope
        self._next_child = {cursor.scope: cursor.children}
        self._next_call = cursor.calls
        self._next_assignment = cursor.assignments
        self._opened: dict[int, int] = {}
        """By the id of a body node, the scope it opens."""
        self._outer: list[int] = []

    def on_visit(self, node: cst.CSTNode) -> bool:
        if isinstance(node, _TRIVIA):
            return False
        opened = self._opened.pop(id(node), None)
        if opened is not None:
            self._enter(opened)
        self._find_twin(node)
        for check in self.table.get(type(node), ()):
            self._run(check, node)
        if isinstance(node, _BODIED):
            self._opened[id(node.body)] = self._allocate()
        elif isinstance(node, _COMPREHENSIONS):
            self._enter(self._allocate())
        self.visit.ancestors.append(node)
        return True

    def on_leave(self, original_node: cst.CSTNode) -> None:
        if isinstance(original_node, _TRIVIA):
            return
        self.visit.ancestors.pop()
        parent = self.visit.ancestors[-1] if self.visit.ancestors else None
        if isinstance(original_node, _COMPREHENSIONS):
            self.visit.scope = self._outer.pop()
        if isinstance(parent, _BODIED) and parent.body is original_node:  # of a lambda it may be a comprehension
            self.visit.scope = self._outer.pop()

    def _find_twin(self, node: cst.CSTNode) -> None:
        reading = self.visit.facts.reading
        if isinstance(node, cst.Call):
            self.visit.at_call(reading.calls[self._next_call])
            self._next_call += 1
        elif isinstance(node, _ASSIGNMENTS):
            self.visit.at_assignment(reading.assign_sites[self._next_assignment].node)
            self._next_assignment += 1

    def _allocate(self) -> int:
        scope = self.visit.scope
        child = self._next_child.get(scope, 0)
        self._next_child[scope] = child + 1
        return self.visit.facts.reading.scopes[scope].children[child]

    def _enter(self, scope: int) -> None:
        self._outer.append(self.visit.scope)
        self.visit.scope = scope

    def _run(self, check: Check, node: cst.CSTNode) -> None:
        try:
            self.findings += [(check, finding) for finding in check.find(self.visit, node)]
        except Exception as error:  # noqa: BLE001 - one broken check must not take the others down; it is reported
            self.broken.append(BrokenCheck(check.name, error))
