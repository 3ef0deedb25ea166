"""The one walk over a piece of source: every check sees the nodes it asked for, each with its `ast` twin."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import libcst as cst

from torchlint.checks.registration import Check, Finding
from torchlint.checks.twins import block, pairs
from torchlint.checks.visit import Visit
from torchlint.facts.file import FileFacts
from torchlint.facts.scopes import Scope

Table = Mapping[type[cst.CSTNode], Sequence[Check]]

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)


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


class Walk:
    """Walks one piece and collects findings; a check that raises is set aside and the others go on."""

    def __init__(self, visit: Visit, table: Table) -> None:
        self.visit = visit
        self.table = table
        self.findings: list[tuple[Check, Finding]] = []
        self.broken: list[BrokenCheck] = []

    def piece(self, roots: Iterable[cst.CSTNode], twins: Sequence[ast.stmt], *, is_header: bool) -> None:
        """Walk statements of one block; of a header, the compound statement without its body."""
        for node, twin in block(roots, twins):
            if is_header:
                self._header(node, twin)
            else:
                self._node(node, twin)

    def _header(self, node: cst.CSTNode, twin: ast.AST) -> None:
        self._look_at(node, twin)
        for child, its_twin in pairs(node, twin):
            if isinstance(its_twin, ast.stmt):
                return
            self._node(child, its_twin)

    def _node(self, node: cst.CSTNode, twin: ast.AST) -> None:
        self._look_at(node, twin)
        visit = self.visit
        outer = visit.scope, visit.statement
        if isinstance(twin, _COMPREHENSIONS):
            visit.scope = self._opened(twin)
        for child, its_twin in pairs(node, twin):
            if isinstance(twin, ast.Lambda) and its_twin is twin.body:
                visit.scope = self._opened(twin)
            self._node(child, its_twin)
        visit.scope, visit.statement = outer

    def _look_at(self, node: cst.CSTNode, twin: ast.AST) -> None:
        visit = self.visit
        if isinstance(twin, ast.stmt):
            visit.scope, visit.statement = visit.facts.reading.scope_of[twin], twin
        checks = self.table.get(type(node))
        if checks:
            assert isinstance(twin, ast.stmt | ast.expr)
            visit.lossless, visit.node = node, twin
            for check in checks:
                self._run(check)

    def _opened(self, twin: ast.AST) -> int:
        return self.visit.facts.once(_scopes_by_node)[twin].index

    def _run(self, check: Check) -> None:
        try:
            self.findings += [(check, finding) for finding in check.find(self.visit)]
        except Exception as error:  # noqa: BLE001 - one broken check must not take the others down; it is reported
            self.broken.append(BrokenCheck(check.name, error))


def _scopes_by_node(facts: FileFacts) -> dict[ast.AST, Scope]:
    return {scope.node: scope for scope in facts.reading.scopes}
