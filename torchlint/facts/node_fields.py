"""Where the nodes of a syntax tree hold other nodes: every node of every file comes by here."""

from __future__ import annotations

import ast

_PLAIN = frozenset({"arg", "asname", "attr", "conversion", "ctx", "id", "kind", "level", "module", "op"})
"""Fields of texts and numbers, and of contexts and operators, of which all trees share one each."""

NODE_FIELDS: dict[type[ast.AST], tuple[str, ...]] = {
    kind: tuple(name for name in kind._fields if name not in _PLAIN)
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, ast.AST)
}
"""By the kind of a node: its fields that may hold nodes of the tree's own."""
