"""The whole syntax tree seen from below: what each node stands in, and where each name is read."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts


class ExpressionTree:
    """Parents of all nodes of a file, and the places that read or delete a name. To be asked by `facts.once`."""

    def __init__(self, facts: FileFacts) -> None:
        self.parents: dict[ast.AST, ast.AST] = {}
        self._reads: dict[tuple[int, str], list[ast.Name]] = {}
        self._scopes = facts.reading.scope_of
        waiting: list[tuple[ast.AST, int]] = [(facts.tree, 0)]
        while waiting:
            node, scope = waiting.pop()
            scope = facts.reading.scope_of.get(node, scope) if isinstance(node, ast.stmt) else scope
            for child in ast.iter_child_nodes(node):
                self.parents[child] = node
                waiting.append((child, scope))
            if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Store):
                # A lambda or comprehension that binds the name anew is not told apart: its reads count as well.
                owner = facts.resolver.owner(node.id, scope)
                if owner is not None:
                    self._reads.setdefault((owner.index, node.id), []).append(node)

    def reads(self, owner: int, name: str) -> list[ast.Name]:
        """All places that read a name of a scope, also from scopes inside it."""
        return self._reads.get((owner, name), [])

    def statement_of(self, node: ast.AST) -> ast.stmt:
        """The innermost statement around an expression, or the statement itself."""
        while not isinstance(node, ast.stmt):
            node = self.parents[node]
        return node

    def scope_of(self, node: ast.AST) -> int:
        """The scope that the statement around a node stands in."""
        return self._scopes[self.statement_of(node)]
