"""Loaders whose batches lie in pageable memory, though the code copies them to the device without blocking."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torchlint.facts.calls import arguments_for
from torchlint.facts.data_loading.batches import gone_through_for
from torchlint.facts.data_loading.workers import LOADER
from torchlint.facts.definitions import Parameter, only_end
from torchlint.facts.scopes import CallSite
from torchlint.facts.tensors.elements import made_by
from torchlint.facts.tree import is_method_call
from torchlint.facts.values import argument_of, may_be_hidden

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

_PIN = 7
"""The position of `pin_memory` among the loader's arguments."""
_COPIES = frozenset({"to", "cuda"})
_Found = tuple[ast.expr, int]


@dataclass(frozen=True, slots=True)
class Unpinned:
    """A loader that does not pin, and a copy of what it loads."""

    loader: ast.Call
    copy: ast.Call


def unpinned_loaders(facts: FileFacts) -> dict[int, Unpinned]:
    """By the id of the loader's constructor."""
    found: dict[int, Unpinned] = {}
    for site in facts.reading.calls:
        if _is_hurried_copy(facts, site):
            assert isinstance(site.node.func, ast.Attribute)
            for source in _loaded_by(facts, site.node.func.value, site.scope):
                for loader in _loaders(facts, source):
                    if is_unpinned(facts, *loader):
                        found.setdefault(id(loader[0]), Unpinned(loader[0], site.node))
    return found


def is_unpinned(facts: FileFacts, loader: ast.Call, scope: int) -> bool:
    """Whether a loader is evidently made without pinning, which is the default."""
    pin = argument_of(loader, "pin_memory", _PIN)
    if pin is None:
        return not may_be_hidden(loader, _PIN)
    return facts.value(pin, scope).only(bool) is False


def _is_hurried_copy(facts: FileFacts, site: CallSite) -> bool:
    """`x.cuda(non_blocking=True)`, `x.to(device, non_blocking=True)`, but not to the CPU."""
    if not is_method_call(site.node, *_COPIES):
        return False
    flag, device = argument_of(site.node, "non_blocking", None), argument_of(site.node, "device", 0)
    is_hurried = facts.value(flag, site.scope).only(bool) is True
    return is_hurried and "cpu" not in facts.value(device, site.scope).constants


def _loaded_by(facts: FileFacts, value: ast.expr, scope: int, depth: int = 4) -> Iterator[_Found]:
    """What the loops go through that give a value as it is: a batch, a part of one."""
    for source in gone_through_for(facts, value, scope) if depth else ():
        made = None if source is None else source.node
        if is_method_call(made) and not made.args:
            yield from _loaded_by(facts, made.func.value, source.scope, depth - 1)  # type: ignore[union-attr]  # `batch.items()`
        elif source is not None:
            yield source.node, source.scope


def _loaders(facts: FileFacts, source: _Found, depth: int = 3) -> Iterator[tuple[ast.Call, int]]:
    """The constructors of what is gone through, also where this file's callers give it; none where it may be else."""
    only = only_end(facts, *source) if depth else None
    if isinstance(only, Parameter):
        given = arguments_for(facts, only.name, only.function)
        yield from (one for argument in given if argument for one in _loaders(facts, argument, depth - 1))
        return
    made, scope = made_by(facts, *source)
    if made is not None and facts.names(made.func, scope).only == LOADER:
        yield made, scope
