"""One finding in the code of its file: what a fix is worked out from."""

from __future__ import annotations

import ast
from typing import TypeVar

import msgspec

from torchlint.catalogue import Catalogue
from torchlint.diagnostics import Diagnostic, Location
from torchlint.facts.file import FileFacts
from torchlint.fixes.code import FileCode

Node = TypeVar("Node", bound=ast.AST)


class Spot(msgspec.Struct, frozen=True):
    """A finding, and the code that it stands at."""

    code: FileCode
    catalogue: Catalogue
    diagnostic: Diagnostic

    @property
    def facts(self) -> FileFacts:
        """Of the file."""
        return self.code.facts

    def node(self, kind: type[Node], place: Location | None = None) -> Node | None:
        """The node of a kind at the place of the finding, or at another; None where there is none, or several."""
        nodes = self.code.nodes_at(place or self.diagnostic.location)
        found = [node for node in nodes if isinstance(node, kind)]
        return found[0] if len(found) == 1 else None

    @property
    def call(self) -> ast.Call | None:
        """The call that the finding stands at."""
        return self.node(ast.Call)

    def statement_of(self, node: ast.AST) -> ast.stmt:
        """The statement around a node."""
        return self.facts.index.statement_of(node)

    def scope_of(self, node: ast.AST) -> int:
        """The scope that the statement around a node stands in."""
        return self.facts.index.scope_of(node)

    def full_name(self, expression: ast.expr) -> str:
        """What an expression is called in full, `torch.nn.Conv2d`; empty where that is not certain."""
        return self.facts.names(expression, self.scope_of(expression)).only or ""

    def is_builtin(self, name: str, node: ast.AST) -> bool:
        """Whether a built-in name stands for itself where a node stands."""
        return self.facts.resolver.owner(name, self.scope_of(node)) is None
