"""Whether all that a file does with a function or a class is seen: it is called, its objects are made."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.facts.calls import callers
from torchlint.facts.file import FileFacts
from torchlint.facts.functions import own_scope
from torchlint.facts.grouping import grouped
from torchlint.facts.memoizing import memoized
from torchlint.facts.notation import last_part, plain, symbol_of
from torchlint.facts.tree import is_super, last_word

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
    owner, _, method = symbol_of(symbol)[1].rpartition(".")
    for node in references(facts, last_part(symbol)):
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
        for node in references(facts, last_part(owner))
        if owner in facts.names(node, facts.index.inner_scope_of(node)).names
    )


def references(facts: FileFacts, word: str) -> Iterator[ast.Name | ast.Attribute]:
    """The names and attributes that a file reads by a word, or by what an import calls it here.

    Another name for a function (`step = net.step`) comes of reading it by its own.
    """
    read, aliases = facts.cached(_by_word)
    yield from (node for one in dict.fromkeys((word, *aliases.get(word, ()))) for node in read.get(one, ()))


def _by_word(facts: FileFacts) -> tuple[dict[str, list[ast.Name | ast.Attribute]], dict[str, list[str]]]:
    nodes = (node for node in facts.index.parents if isinstance(node, (ast.Name, ast.Attribute)))
    read = grouped((last_word(node), node) for node in nodes if isinstance(node.ctx, ast.Load))
    bound = (
        (held, one.target) for scope in facts.symbols.scopes for held, some in scope.bindings.items() for one in some
    )
    imported = ((target.name or "", held) for held, target in bound if target is not None and target.name != held)
    return read, grouped(dict.fromkeys(imported))


def _is_called(facts: FileFacts, node: ast.expr) -> bool:
    call = facts.index.parents[node]
    return isinstance(call, ast.Call) and call.func is node
