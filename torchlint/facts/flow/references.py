"""Whether all that a file does with a function or a class is seen: it is called, its objects are made."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.facts.calls import callers
from torchlint.facts.file import FileFacts
from torchlint.facts.functions import own_scope
from torchlint.facts.memoizing import memoized
from torchlint.facts.tree import is_super

_NAMING_A_TYPE = (ast.ClassDef, ast.arg, ast.AnnAssign, ast.FunctionDef, ast.AsyncFunctionDef)


@memoized
def is_only_called(facts: FileFacts, function: str) -> bool:
    """Whether a function is never handed on."""
    return all(is_certain and _is_called(facts, node) for node, is_certain in _reads(facts, function))


def is_named(facts: FileFacts, symbol: str) -> bool:
    """Whether a file may name a function or a class at all."""
    return any(True for _ in _reads(facts, symbol))


def _reads(facts: FileFacts, symbol: str) -> Iterator[tuple[ast.expr, bool]]:
    """What may mean a function or a class, and whether it does. A method may be any attribute that is not known."""
    own = own_scope(facts, symbol)
    called = set() if own is None else {id(site.node.func) for site, _ in callers(facts, own)}
    owner, _, method = symbol.partition("::")[2].rpartition(".")
    for node in references(facts):
        names = facts.names(node, facts.index.inner_scope_of(node))
        if symbol in {plain(name) for name in names.names}:
            yield node, True
        elif owner and not names.complete and getattr(node, "attr", "") == method and id(node) not in called:
            yield node, False


@memoized
def is_only_made(facts: FileFacts, owner: str) -> bool:
    """Whether a class only makes objects, has heirs, and is named as a type or in `super(Net, self)`."""
    return all(
        _is_called(facts, node)
        or isinstance(facts.index.parents[node], _NAMING_A_TYPE)
        or is_super(facts.index.parents[node])
        for node in references(facts)
        if owner in facts.names(node, facts.index.inner_scope_of(node)).names
    )


def plain(symbol: str) -> str:
    """A method without the mark of an object: `net.py::Net().step` is `net.py::Net.step`."""
    return symbol.replace("().", ".")


def references(facts: FileFacts) -> Iterator[ast.Name | ast.Attribute]:
    """All names and attributes that a file reads."""
    for node in facts.index.parents:
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
            yield node


def _is_called(facts: FileFacts, node: ast.expr) -> bool:
    call = facts.index.parents[node]
    return isinstance(call, ast.Call) and call.func is node
