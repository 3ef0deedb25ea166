"""What is picked from a module by a name that is worked out: `models.__dict__[name]`, `getattr(models, name)`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchlint.facts.full_names import UNKNOWN, Names, union_of
from torchlint.facts.scopes import BindingKind

if TYPE_CHECKING:
    from torchlint.facts.names import Resolver
    from torchlint.facts.scopes import Binding

ANY = ast.Name("any", ast.Load())
"""A key that may name everything."""
_MOST = 100
"""Functions and classes that one may be picked from; of more, none is meant."""


def picked(resolver: Resolver, path: str, key: ast.expr) -> Names:
    """The functions and classes of a module that a key may name; what else it may hold is not known."""
    if isinstance(key, ast.Constant):
        return resolver.member(f"{path}::", str(key.value))
    written = re.compile("".join(map(_pattern_of, key.values)) if isinstance(key, ast.JoinedStr) else ".*")
    options: dict[str, Names] = {}
    for home in _homes(resolver, path):
        for name, bindings in home.symbols.scopes[0].bindings.items():
            if not name.startswith("_") and written.fullmatch(name) and _is_offered(home, bindings):
                names = home.exported(name)
                options |= {name: names} if _is_defined(names) else {}
                if len(options) > _MOST:
                    return UNKNOWN  # a library of models: asking them all takes long
    return union_of(list(options.values()), complete=False) if options else UNKNOWN


def _pattern_of(part: ast.expr) -> str:
    """What a part of an f-string may be."""
    return re.escape(str(part.value)) if isinstance(part, ast.Constant) else ".*"


def _is_offered(home: Resolver, bindings: list[Binding]) -> bool:
    """Whether a module has a name to be picked: what it imports, it uses; a package hands it on."""
    return home.path.endswith("__init__.py") or any(one.kind is not BindingKind.IMPORT for one in bindings)


def _is_defined(names: Names) -> bool:
    """Whether this is a function or class of the project, not a module or an object."""
    return (names.only or "").partition("::")[2].isidentifier()


def _homes(resolver: Resolver, path: str) -> Iterator[Resolver]:
    """A module, and those of the project that it has everything of by star imports."""
    waiting, seen = [path], set[str]()
    while waiting:
        path = waiting.pop()
        facts = resolver.modules.at(path) if path not in seen else None
        seen.add(path)
        if facts is not None:
            yield facts.resolver
            found = (resolver.modules.find(star, path) for star in facts.symbols.scopes[0].stars)
            waiting += [home.path for home in found if home is not None]
