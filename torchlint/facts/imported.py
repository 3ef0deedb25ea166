"""What an import binds: a module or a name of the project, or what a library calls so."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Protocol

from torchlint.facts.full_names import MOST_CHOICES, UNKNOWN, Names, named, union_of
from torchlint.facts.notation import name_in, qualname_of
from torchlint.facts.scopes import ImportTarget
from torchlint.facts.tree import last_word, literal_text

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts
    from torchlint.facts.names import Resolver


_INSTANTIATING = frozenset({"hydra.utils.instantiate", "hydra.utils.call"})
"""What makes an object of the class that `_target_` names."""
_OWN = "instantiate_from_config"
"""What projects call a function of theirs that does so by the name under `target`: latent diffusion and its heirs."""


class Modules(Protocol):
    """The project's modules, found from an import. Built by `project.py`."""

    def find(self, target: ImportTarget, importer: str) -> FileFacts | None:
        """The project file that `target.module` names when `importer` imports it."""

    def locate(self, target: ImportTarget, importer: str) -> str | None:
        """The path of that file, without reading it."""

    def locate_submodule(self, package: str, name: str) -> str | None:
        """The path of the module `name` beside an `__init__.py`, without reading it."""

    def matching(self, pattern: str, importer: str) -> tuple[str, ...]:
        """The paths of the modules whose dotted names match, as `importer` would write them."""

    def configured(self, section: str, *, inside: bool) -> tuple[str, ...]:
        """The full names of the classes that configurations name in sections of this name, or inside of them."""

    def at(self, path: str) -> FileFacts | None:
        """The project file of this path."""

    def whole(self, path: str) -> FileFacts | None:
        """The project file of this path, of which all names are gone through."""

    def exported(self, path: str, name: str) -> Names:
        """What other files get when they import `name` from the project file of this path."""

    @property
    def level(self) -> int:
        """How many modules were asked for a name, each by the one before, and have not answered yet."""

    def cut_short(self, level: int) -> None:
        """A name is bound through itself: what modules answer that were asked at this level or later is not whole."""


def imported(resolver: Resolver, target: ImportTarget) -> Names:
    """What an import binds."""
    home = resolver.modules.locate(target, resolver.path)
    if home is not None:
        return named(name_in(home)) if target.name is None else member_of_module(resolver, home, target.name)
    if target.name is not None:
        dotted = f"{target.module}.{target.name}" if target.module else target.name
        submodule = resolver.modules.locate(ImportTarget(dotted, None, target.level), resolver.path)
        if submodule is not None:  # a package without `__init__.py`
            return named(name_in(submodule))
    if target.level:
        return UNKNOWN
    full = target.module if target.name is None else f"{target.module}.{target.name}"
    return named(resolver.table.canonical(full))


def member_of_module(resolver: Resolver, home: str, name: str) -> Names:
    """A name of a module of the project, or the module of that name beside it."""
    names = resolver.modules.exported(home, name)
    submodule = None if names.callees else resolver.modules.locate_submodule(home, name)
    return names if submodule is None else named(name_in(submodule))


def is_instantiating(function: Names) -> bool:
    """Whether a function makes objects of the classes that its settings name."""
    return function.only in _INSTANTIATING or (
        (function.only or "").endswith(_OWN) and qualname_of(function.only or "") == _OWN
    )


def imported_by_target(resolver: Resolver, call: ast.Call, *, inside: bool = False) -> Names:
    """The classes that `instantiate({"_target_": "package.Net"})` or `instantiate(config.model)` makes an object of.

    Those `inside` are of the objects that these are made with.
    """
    given = [(one.arg, one.value) for one in call.keywords]
    first = call.args[0] if call.args else None
    if isinstance(first, ast.Dict):
        given += [(getattr(key, "value", None), value) for key, value in zip(first.keys, first.values, strict=True)]
    name = literal_text(next((value for key, value in given if key == "_target_"), None))
    if name:
        return UNKNOWN if inside else _named(resolver, name)
    section = _key_of(first)
    configured = resolver.modules.configured(section, inside=inside) if section else ()
    found = [_named(resolver, name) for name in configured]
    return union_of(found, complete=False) if len(found) <= MOST_CHOICES else UNKNOWN


def _key_of(settings: ast.expr | None) -> str:
    """The last key of `config.model`, `config["model"]` or `config.get("model")`."""
    if isinstance(settings, ast.Call) and settings.args and last_word(settings.func) == "get":
        settings = settings.args[0]
    elif isinstance(settings, ast.Subscript):
        settings = settings.slice
    if isinstance(settings, ast.Constant):
        return str(settings.value)
    return settings.attr if isinstance(settings, ast.Attribute) else ""


def _named(resolver: Resolver, name: str) -> Names:
    module, _, last = name.rpartition(".")
    return imported(resolver, ImportTarget(module, last, 0)) if module else UNKNOWN


def starred(resolver: Resolver, name: str, scope: int, *, outside_only: bool = False) -> Names | None:
    """What a star import binds a name to.

    `outside_only` leaves the project's own modules alone: whoever writes `len` rarely means a module of theirs that
    exports one, and asking a package of a thousand star imports would read all of it.
    """
    scopes = resolver.symbols.scopes
    current: int | None = scope
    while current is not None:
        for star in reversed(scopes[current].stars):
            home = resolver.modules.locate(star, resolver.path)
            if home is None:
                known = None if star.level else resolver.table.star(star.module, name)
                found = named(known) if known else UNKNOWN
            else:
                found = UNKNOWN if outside_only else resolver.modules.exported(home, name)
            if found.callees:
                return found
        current = scopes[current].parent
    return None
