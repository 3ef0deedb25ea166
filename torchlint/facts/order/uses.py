"""What a file makes of the order of lists that functions of other files return."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torchlint.diagnostics import Location
from torchlint.facts.functions import own_scope
from torchlint.facts.order.following import Follower
from torchlint.facts.scopes import ScopeKind

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts
    from torchlint.facts.full_names import Names
    from torchlint.facts.scopes import CallSite

_PARTS = ("listdir", "glob", "iterdir", "scandir", "walk", "set(")
_LISTING = re.compile(r"\b(?:(?:listdir|i?glob|rglob|iterdir|scandir|walk)\b|(?:set|frozenset)\()")
"""What any file writes that makes a listing or a set: following every call of a project would cost too much."""


@dataclass(frozen=True, slots=True)
class OrderUse:
    """A call of `callee`, a function of another file, whose result's order decides something."""

    callee: str
    what: str
    location: Location


def order_uses(facts: FileFacts, site: CallSite, names: Names) -> Iterator[OrderUse]:
    """What the order of a call's result decides here, if it is a call of another file's function."""
    for name in sorted(set(names.of_project)) if names.of_project else ():
        path, _, qualname = name.partition("::")
        if path != facts.path and "()" not in qualname and _may_list(facts, name):
            use = Follower(facts).use_of(site.node, site.scope, site.statement)
            if use is not None:
                yield OrderUse(name, use.what, facts.locate(use.node))


def _may_list(facts: FileFacts, name: str) -> bool:
    """Whether what is called is no class, and its file makes listings or sets at all."""
    other = facts.resolver.modules.at(name.partition("::")[0])
    if other is None or not other.once(_makes_listings):
        return False
    function = own_scope(other, name)
    return function is None or other.reading.scopes[function].kind is not ScopeKind.CLASS


def _makes_listings(facts: FileFacts) -> bool:
    return facts.source.mentions(*_PARTS) and _LISTING.search(facts.source.text) is not None
