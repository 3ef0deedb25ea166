"""Data loaders: whether their datasets run in worker processes, which torch seeds by itself."""

from __future__ import annotations

import ast
import enum
from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from torchlint.diagnostics import Location
from torchlint.facts.values import argument_of, may_be_hidden

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

LOADER = "torch.utils.data.DataLoader"
LOADERS = frozenset({LOADER, "torch_geometric.loader.DataLoader"})
POSITIONS = {"num_workers": 5, "worker_init_fn": 10}
"""Of some arguments of `LOADER` (torch 2.13.0, utils/data/dataloader.py)."""


class Where(enum.Enum):
    """Where a loader's dataset runs."""

    MAIN_PROCESS = "main process"
    WORKERS = "workers"
    UNKNOWN = "unknown"


class Workers(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One data loader that `symbol` makes."""

    symbol: str
    where: Where
    location: Location


def loaders_made(facts: FileFacts) -> Iterator[Workers]:
    """The data loaders of a file, and where their datasets run, by `num_workers`."""
    for site in facts.calls.find(names=(LOADER,)):
        if facts.names(site.node.func, site.scope).only == LOADER:
            yield Workers(facts.symbol_of(site), _where(facts, site.node, site.scope), facts.locate(site.node))


def functions_for_workers(facts: FileFacts) -> Iterator[str]:
    """The project's functions that calls are given as `worker_init_fn`: they run in workers alone."""
    for site in facts.calls.find(keywords=("worker_init_fn",)):
        given = argument_of(site.node, "worker_init_fn", None)
        yield from () if given is None else facts.names(given, site.scope).of_project


def _where(facts: FileFacts, call: ast.Call, scope: int) -> Where:
    given = argument_of(call, "num_workers", POSITIONS["num_workers"])
    if given is None:
        return Where.UNKNOWN if may_be_hidden(call, POSITIONS["num_workers"]) else Where.MAIN_PROCESS
    count = facts.value(given, scope).only(int)
    if count is None:
        return Where.UNKNOWN
    return Where.WORKERS if count > 0 else Where.MAIN_PROCESS
