"""What a command line picks of a project: `fire.Fire(Job)`, `args.func(args)`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchlint.facts.moves import is_instance
from torchlint.facts.objects import EVERY, objects_of
from torchlint.facts.scopes import ScopeKind
from torchlint.facts.tree import last_word

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts
    from torchlint.facts.full_names import Names
    from torchlint.facts.scopes import CallSite

_KEEPING = "set_defaults"
_OFFERING = frozenset({"fire.Fire", "jsonargparse.CLI", "jsonargparse.auto_cli"})
"""Calls that make commands of the methods of what they are given, else of the functions of the file (fire, core.py)."""


def picked_by_commands(facts: FileFacts, site: CallSite, names: Names) -> Iterator[str]:
    """The functions and methods that a call runs because the command line says so."""
    call = site.node
    if names.only in _OFFERING:
        yield from _offered(facts, call, site.scope)
    elif isinstance(call.func, ast.Attribute) and not names.of_project:
        yield from facts.cached(_defaults).get(call.func.attr, ())


def _offered(facts: FileFacts, call: ast.Call, scope: int) -> Iterator[str]:
    if not call.args:
        functions = (one for one in facts.symbols.scopes if one.kind is ScopeKind.FUNCTION and one.parent == 0)
        yield from (f"{facts.path}::{one.name}" for one in functions if not one.name.startswith("_"))
        return
    for name in (*facts.names(call.args[0], scope).of_project, *objects_of(facts, call.args[0], scope)):
        made = f"{name.removesuffix('()')}()"
        if is_instance(made):
            yield from (name.removesuffix("()"), f"{made}.{EVERY}")


def _defaults(facts: FileFacts) -> dict[str, list[str]]:
    """The functions that `parser.set_defaults(func=train)` keeps for `args.func`."""
    found: dict[str, list[str]] = {}
    for site in facts.symbols.calls if facts.source.mentions(_KEEPING) else ():
        for one in site.node.keywords if last_word(site.node.func) == _KEEPING else ():
            functions = (name for name in facts.names(one.value, site.scope).of_project if "()" not in name)
            found.setdefault(one.arg or "", []).extend(functions)
    return found
