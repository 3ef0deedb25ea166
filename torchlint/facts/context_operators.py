"""Calls of operators that explain, and are never reported by themselves: convolutions, matrix products."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchlint.catalogue.load import argument_naming_model
from torchlint.facts.constants import value_of
from torchlint.facts.scopes import CallSite
from torchlint.facts.summary import Extract, OperatorCall
from torchlint.facts.values import argument_of

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts
    from torchlint.facts.watch import Watch


def _context_calls(facts: FileFacts, watch: Watch) -> Iterator[OperatorCall]:
    """The calls that reach context operators, also of whatever is picked from a table: `models.__dict__[name](...)`.

    A model of a library reaches all that it holds, reported elsewhere or not.
    """
    names = (name for name in facts.calls.names if argument_naming_model(name) or any(watch.context_of(name)))
    for site in facts.calls.find(names=names, words=("",)):
        function = site.node.func
        called = facts.names(function.value if isinstance(function, ast.Subscript) else function, site.scope).only
        for operator in watch.context_of(called, _model_named(facts, site, called)) if called is not None else ():
            yield OperatorCall(operator, ast.unparse(function), facts.symbol_of(site), facts.locate(site.node))


def _model_named(facts: FileFacts, site: CallSite, called: str) -> str | None:
    """The model that a maker is asked for by name: `timm.create_model("resnet18")`."""
    argument = argument_naming_model(called)
    if argument is None:
        return None
    named = value_of(facts, argument_of(site.node, argument, 0), site.scope)
    texts = [value for value in named.constants if isinstance(value, str)]
    return texts[0] if named.is_known and len(texts) == 1 else None


CONTEXT = Extract("context", tuple[OperatorCall, ...], lambda *asked: tuple(_context_calls(*asked)))
"""The calls of a file that reach them."""
