"""Random generators that a dataset keeps, or its module does, and the draws from them that make an item."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import msgspec

from torchlint.catalogue.load import load_generators
from torchlint.facts.calls import known_functions
from torchlint.facts.classes import attribute_values, heirs
from torchlint.facts.constants import holds_call
from torchlint.facts.definitions import definitions_of
from torchlint.facts.file import FileFacts
from torchlint.facts.flow.values import Definition, Parameter
from torchlint.facts.functions import parameter_binding
from torchlint.facts.notation import maker_of
from torchlint.facts.scopes import BindingKind, CallSite, Scope, ScopeKind
from torchlint.facts.tree import is_literal_none, is_method_call, is_own, is_self, last_word, method_called

GIVEN_AS = frozenset({"generator", "rng", "random_state", "np_random", "np_rng", "random_generator"})
"""Keywords by which a function is handed the generator it shall draw from."""
_RESEEDING = frozenset(
    {"seed", "manual_seed", "set_random_state", "set_state", "setstate", "jumped", "jump", "advance"}
)
_MAKING = frozenset({"__init__", "__post_init__"})
_PICKLING = frozenset({"__setstate__", "__getstate__", "__reduce__"})


class ItemDraw(msgspec.Struct, frozen=True):
    """The first draw in `__getitem__` from a generator that was made before."""

    site: CallSite
    generator: ast.expr
    made: ast.expr
    """The call that makes the generator."""
    classes: tuple[str, ...]
    """The class, and those of the same file that inherit its `__getitem__`."""


class GlobalDraw(msgspec.Struct, frozen=True):
    """The first draw in `__getitem__` from NumPy's global generator."""

    site: CallSite
    classes: tuple[str, ...]


def global_draws(facts: FileFacts) -> dict[int, GlobalDraw]:
    """Draws from NumPy's global generator by the id of their statement; a dataset that seeds it is left out."""
    found: dict[int, GlobalDraw] = {}
    for item, owner in _items(facts):
        sites = _calls_run(facts, item.index)
        called = [(site, facts.names(site.node.func, site.scope).only or "") for site in sites]
        draws = {f"numpy.random.{drawn}" for drawn in load_generators().draws}
        drawn = next((site for site, name in called if name in draws), None)
        if drawn is not None and "numpy.random.seed" not in {name for _, name in called}:
            found.setdefault(id(drawn.statement), GlobalDraw(drawn, _inheriting(facts, owner)))
    return found


def item_draws(facts: FileFacts) -> dict[int, ItemDraw]:
    """Draws by the id of their statement; a generator that anything reseeds or replaces later is left out."""
    found: dict[int, ItemDraw] = {}
    for item, owner in _items(facts):
        seen: set[str] = set()
        for site in _calls_run(facts, item.index):
            for generator in _drawn_from(site.node):
                spelled = ast.unparse(generator)
                made = None if spelled in seen else _made(facts, generator, site.scope)
                if made is not None and not _is_reseeded(facts, generator):
                    seen.add(spelled)
                    draw = ItemDraw(site, generator, made, _inheriting(facts, owner))
                    found.setdefault(id(site.statement), draw)
    return found


def _items(facts: FileFacts) -> Iterator[tuple[Scope, Scope]]:
    """Each `__getitem__` of a file with its class; without those that ask, or whose class asks, which worker runs."""
    scopes = facts.symbols.scopes
    items = [s for s in scopes if s.name == "__getitem__" and s.kind is ScopeKind.FUNCTION]
    found = [(item, scopes[item.parent or 0]) for item in items]
    found = [(i, owner) for i, owner in found if owner.kind is ScopeKind.CLASS and not _PICKLING & set(owner.bindings)]
    asking = list(facts.calls.find(names=("torch.utils.data.get_worker_info",))) if found else []
    for item, owner in found:
        run = _calls_run(facts, item.index) if asking else []
        if not any(site in run or owner.index in facts.around(site.scope) for site in asking):
            yield item, owner


def _inheriting(facts: FileFacts, owner: Scope) -> tuple[str, ...]:
    """A class and those of the same file that have its `__getitem__`, as project names."""
    owners = (owner.index, *heirs(facts, owner.index, unless="__getitem__"))
    return tuple(facts.full_name(index) for index in owners)


def _calls_run(facts: FileFacts, item: int) -> list[CallSite]:
    """The calls in `__getitem__` and in the functions of the same file that it calls, in source order."""
    found, waiting = {item}, [item]
    for _ in range(4):
        sites = [site for function in waiting for site in facts.calls_in(function)]
        called = {index for site in sites for index in known_functions(facts, site.node.func, site.scope)}
        waiting = sorted(called - found)
        found |= called
    return [site for function in sorted(found) for site in facts.calls_in(function)]


def _drawn_from(call: ast.Call) -> Iterator[ast.expr]:
    if method_called(call) in load_generators().draws and is_method_call(call):
        yield call.func.value
    if isinstance(call.func, ast.Name) or is_own(call.func):
        yield call.func  # an object that draws when it is called
    for keyword in call.keywords:
        if keyword.arg in GIVEN_AS and isinstance(keyword.value, (ast.Name, ast.Attribute)):
            yield keyword.value


def kept_generator(facts: FileFacts, site: CallSite) -> ast.expr | None:
    """The generator that a call draws from, where an object or a module keeps one that was made before."""
    return next((one for one in _drawn_from(site.node) if _made(facts, one, site.scope) is not None), None)


def _made(facts: FileFacts, generator: ast.expr, scope: int) -> ast.expr | None:
    """Where the generator was made, if all that it may be was made before the workers start."""
    if isinstance(generator, ast.Name):
        is_of_module = facts.variable(generator, scope) == (0, generator.id)
        bound = facts.bindings(generator, scope) if is_of_module else []
        if any(b.kind is not BindingKind.ASSIGN or b.scope != 0 for b in bound):
            return None
        return _all_made(facts, [(b.value, 0) for b in bound if b.value is not None])
    values = attribute_values(facts, generator, scope)
    if values is None or any(facts.function_name(where) not in _MAKING for _, where in values):
        return None
    return _all_made(facts, values)


def _all_made(facts: FileFacts, values: list[tuple[ast.expr, int]]) -> ast.expr | None:
    """The first call that makes a generator, if nothing else is among the values but what a caller may hand in."""
    ends = [end for value, scope in values for end in definitions_of(facts, value, scope)]
    made = [end.node for end in ends if isinstance(end, Definition) and _makes_one(facts, end)]
    parameters = (parameter_binding(facts, end.function, end.name) for end in ends if isinstance(end, Parameter))
    handed_in = sum(is_literal_none(one.value) for one in parameters)
    return made[0] if made and len(made) + handed_in == len(ends) else None


def _makes_one(facts: FileFacts, end: Definition) -> bool:
    if not isinstance(end.node, ast.Call) or end.parts:
        return False
    name = maker_of(facts.names(end.node, end.scope).only or "")
    return name in load_generators().makers or any(
        re.fullmatch(each.made_by, name)
        and (not each.holding or holds_call(facts, end.node, end.scope, re.compile(each.holding)))
        for each in load_generators().drawing_objects
    )


def _is_reseeded(facts: FileFacts, generator: ast.expr) -> bool:
    """Whether anything but the making seeds, replaces or hands back the generator's state."""
    name = last_word(generator)
    for site in facts.symbols.calls:
        call = site.node
        is_seeding = is_method_call(call, *_RESEEDING) and last_word(call.func.value) == name
        if is_seeding and facts.function_name(site.scope) not in _MAKING | {""}:
            return True
        if isinstance(call.func, ast.Name) and call.func.id == "setattr":
            return True
    stored = (one.target for one in facts.symbols.assignments)  # `info.dataset.rng = ...`
    return any(isinstance(one, ast.Attribute) and one.attr == name and not is_self(one.value) for one in stored)
