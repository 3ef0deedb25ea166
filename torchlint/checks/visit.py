"""What a check may ask while it looks at a node."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

import libcst as cst

from torchlint.catalogue import Catalogue
from torchlint.facts.file import FileFacts
from torchlint.facts.names import Names
from torchlint.facts.scopes import CallSite
from torchlint.facts.tensors.annotations import Kind
from torchlint.facts.tensors.kinds import kind_of
from torchlint.facts.values import Values, argument_of, may_be_hidden

_EMPTY = cst.Module([])


@dataclass(slots=True)
class Visit:
    """The walk's place in a file.

    Checks see LibCST nodes, which know their exact text; the questions about meaning are asked of their `ast` twins:
    `site` while a call is visited, `assignment` while an assignment is.
    """

    facts: FileFacts
    catalogue: Catalogue
    selected: frozenset[str]
    scope: int = 0
    ancestors: list[cst.CSTNode] = field(default_factory=list)
    """From the piece's outermost statement to the parent of the node at hand."""
    _site: CallSite | None = None
    _assignment: ast.Assign | ast.AnnAssign | ast.AugAssign | None = None

    @property
    def site(self) -> CallSite:
        assert self._site is not None, "only while a call is visited"
        return self._site

    @property
    def call(self) -> ast.Call:
        return self.site.node

    @property
    def assignment(self) -> ast.Assign | ast.AnnAssign | ast.AugAssign:
        assert self._assignment is not None, "only while an assignment is visited"
        return self._assignment

    def at_call(self, site: CallSite) -> None:
        self._site = site

    def at_assignment(self, node: ast.Assign | ast.AnnAssign | ast.AugAssign) -> None:
        self._assignment = node

    def code(self, node: cst.CSTNode) -> str:
        """The node's own source text."""
        return _EMPTY.code_for_node(node)

    def callee(self) -> str | None:
        """The full name of what the call at hand calls, when it can be nothing else."""
        return self.names(self.call.func).only

    def names(self, expression: ast.expr) -> Names:
        """What a name, attribute or choice may stand for here."""
        return self.facts.names(expression, self.scope)

    def value(self, expression: ast.expr | None) -> Values:
        return self.facts.value(expression, self.scope)

    def kind(self, expression: ast.expr) -> Kind:
        """What kind of value an expression is, as far as it is known."""
        return kind_of(self.facts, expression, self.scope)

    def argument(self, name: str, position: int | None) -> Values | None:
        """The value of one argument of the call at hand; None when it is evidently left out."""
        given = argument_of(self.call, name, position)
        if given is not None:
            return self.value(given)
        return Values() if may_be_hidden(self.call, position) else None
