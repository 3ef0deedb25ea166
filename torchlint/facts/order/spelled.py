r"""Texts that say entries one after another, made before they are written: `"\n".join(names)`, `json.dumps(rows)`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from torchlint.catalogue.load import load_orders, load_values
from torchlint.catalogue.values import Kind
from torchlint.facts.flow.tracker import Sink
from torchlint.facts.flow.values import Move, Value
from torchlint.facts.order.manifests import is_listed
from torchlint.facts.order.words import LISTS
from torchlint.facts.tensors.kinds import kind_of
from torchlint.facts.tree import method_called

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

SPELLED = "spelled"
"""The label of a text that has the order of the entries it says."""


def spells(facts: FileFacts, call: ast.Call) -> bool:
    """Whether a call makes a text of the entries it is given."""
    scope = facts.index.inner_scope_of(call)
    if method_called(call) == "join":
        return kind_of(facts, call.func.value, scope) is Kind.TEXT  # type: ignore[attr-defined]
    return facts.names(call.func, scope).only in load_orders().spelling


def of_spelled(facts: FileFacts, value: Value, above: ast.AST | None) -> list[Move | Sink]:
    """What becomes of such a text: it may be cut and searched, nobody counts its letters."""
    if isinstance(above, ast.Call) and is_listed(facts, above):
        return [Sink(LISTS, above)]
    longer = _longer(facts, value.node)
    return [] if longer is None else [value.at(longer)]


def _longer(facts: FileFacts, text: ast.expr) -> ast.expr | None:
    r"""The text that another is put into: `text + "\n"`, `f"{text}\n"`, `text.encode()`."""
    parents = facts.index.parents
    above = parents.get(text)
    if isinstance(above, ast.BinOp) and isinstance(above.op, ast.Add | ast.Mod):
        return above
    if isinstance(above, ast.FormattedValue):
        whole = parents[above]
        return whole if isinstance(whole, ast.JoinedStr) else None
    call = parents.get(above) if isinstance(above, ast.Attribute) else None
    is_text = isinstance(call, ast.Call) and method_called(call) in load_values().methods[Kind.TEXT]
    return call if is_text and call.func is above else None  # type: ignore[union-attr, return-value]


def extended_text(facts: FileFacts, statement: ast.stmt) -> ast.AugAssign | None:
    r"""The statement itself where it puts more to the end of a text: `text += name + "\n"`."""
    if not isinstance(statement, ast.AugAssign) or not isinstance(statement.op, ast.Add):
        return None
    bound = facts.bindings(statement.target, facts.index.scope_of(statement.target))
    kinds = {kind_of(facts, one.value, one.scope) for one in bound if one.statement is not statement}
    return statement if kinds == {Kind.TEXT} else None
