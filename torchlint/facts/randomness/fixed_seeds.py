"""Calls that seed a library's global random numbers, and seeds that are the same each time."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from torchlint.catalogue.load import load_generators
from torchlint.catalogue.values import by_name
from torchlint.facts.tree import is_literal_none
from torchlint.facts.values import all_given

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts
    from torchlint.facts.scopes import CallSite

_NAMED_SEEDER = re.compile(
    r"_*(?:set|fix|init|setup)_?(?:all_|random_|global_|the_)?seeds?(?:_all)?|seed_(?:everything|all)|setup_seed"
)
"""Names by which projects call the function that seeds all libraries."""
_KEYWORDS = frozenset({"seed", "a"})
_CONVERSIONS = frozenset(f"builtins.{name}" for name in ("int", "abs", "float", "str", "hash", "round"))

IsFixed = Callable[[ast.Name], bool]
"""Whether a name means the same each time."""


def library_of(facts: FileFacts, site: CallSite) -> str | None:
    """Whose random numbers a call seeds: `all` for a function that is named for it."""
    name = facts.names(site.node.func, site.scope).only or ""
    if name in _seeders():
        return _seeders()[name]
    is_named = _NAMED_SEEDER.fullmatch(name.replace("::", ".").rpartition(".")[2])
    return "all" if is_named and site.node.args else None


@functools.cache
def _seeders() -> Mapping[str, str]:
    return by_name(load_generators().seeders)


def seed_of(call: ast.Call) -> ast.expr | None:
    """The seed that a seeder is given; None where there is none to be seen, and for the literal None."""
    given = call.args[0] if call.args else next((k.value for k in call.keywords if k.arg in _KEYWORDS), None)
    if isinstance(given, ast.Starred) or is_literal_none(given):
        return None
    return given


def seeds_of(call: ast.Call) -> list[ast.expr]:
    """All that a seeder is given, the seed first: projects add a rank or a round. Empty where something is hidden."""
    seed = seed_of(call)
    given = all_given(call)
    is_hidden = any(keyword.arg is None for keyword in call.keywords)
    if seed is None or is_hidden or any(isinstance(argument, ast.Starred) for argument in given):
        return []
    return [seed, *(argument for argument in given if argument is not seed)]


def is_fixed(facts: FileFacts, seed: ast.expr, scope: int, is_fixed_name: IsFixed) -> bool:
    """Whether a seed expression gives the same each time: constants, names that hold still, arithmetic on them."""
    if isinstance(seed, ast.Constant):
        return seed.value is not None
    if isinstance(seed, ast.Name):
        return is_fixed_name(seed)
    if isinstance(seed, ast.Call):
        if seed.keywords or facts.names(seed.func, scope).only not in _CONVERSIONS:
            return False
        return all(is_fixed(facts, argument, scope, is_fixed_name) for argument in seed.args)
    parts: list[ast.expr] = []
    if isinstance(seed, ast.Attribute):
        parts = [seed.value]
    elif isinstance(seed, ast.BinOp):
        parts = [seed.left, seed.right]
    elif isinstance(seed, ast.UnaryOp):
        parts = [seed.operand]
    elif isinstance(seed, ast.Subscript):
        parts = [seed.value, seed.slice]
    return bool(parts) and all(is_fixed(facts, part, scope, is_fixed_name) for part in parts)
