"""Data loaders: whether their datasets run in worker processes, and the classes of these datasets."""

from __future__ import annotations

import ast
import enum
from collections.abc import Iterator

import msgspec

from torchlint.diagnostics import Location
from torchlint.facts.classes import heirs
from torchlint.facts.definitions import definitions_of, seen_values
from torchlint.facts.file import FileFacts
from torchlint.facts.flow.values import Definition, End, Through
from torchlint.facts.grouping import all_of
from torchlint.facts.memoizing import followed
from torchlint.facts.notation import hangs_on_call, is_of_project
from torchlint.facts.options.declared import option_defaults
from torchlint.facts.values import argument_of, may_be_hidden

LOADER = "torch.utils.data.DataLoader"
LOADERS = frozenset({LOADER, "torch_geometric.loader.DataLoader"})
POSITIONS = {"num_workers": 5, "worker_init_fn": 10}
"""Of some arguments of `LOADER` (torch 2.13.0, utils/data/dataloader.py)."""
_WRAPPERS = frozenset({"torch.utils.data.Subset", "torch.utils.data.random_split", "torch.utils.data.ConcatDataset"})
"""What hands on the items of the datasets that it is given first."""
_CORES = frozenset({"os.cpu_count", "multiprocessing.cpu_count"})
_SEVERAL = 2


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
    position = POSITIONS["num_workers"]
    for site in facts.calls.find(names=(LOADER,)):
        if facts.names(site.node.func, site.scope).only == LOADER:
            given = argument_of(site.node, "num_workers", position)
            is_left_out = given is None and not may_be_hidden(site.node, position)
            count = 0 if is_left_out else facts.value(given, site.scope).only(int)
            where = Where.UNKNOWN if count is None else Where.WORKERS if count > 0 else Where.MAIN_PROCESS
            yield Workers(facts.symbol_of(site), where, facts.locate(site.node))


def functions_for_workers(facts: FileFacts) -> Iterator[str]:
    """The project's functions that calls are given as `worker_init_fn`: they run in workers alone."""
    for site in facts.calls.find(keywords=("worker_init_fn",)):
        given = argument_of(site.node, "worker_init_fn", None)
        yield from () if given is None else facts.names(given, site.scope).of_project


class Loader(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One call of a loader that starts worker processes and leaves their seeding to torch."""

    dataset: str
    """The class of the dataset, as a project name."""
    workers: int
    is_persistent: bool
    """Whether the workers may live on from epoch to epoch."""
    location: Location


def worker_loaders(facts: FileFacts) -> Iterator[Loader]:
    """The loaders of a file whose number of workers is evidently above 0, without a `worker_init_fn`."""
    for site in facts.calls.find(keywords=("num_workers",)):
        keywords = {keyword.arg: keyword.value for keyword in site.node.keywords}
        # `**options` may hide a `worker_init_fn`.
        if None in keywords or not _is_constant(keywords.get("worker_init_fn"), default=None):
            continue
        if facts.names(site.node.func, site.scope).only not in LOADERS:
            continue
        counts = _counts(facts, keywords["num_workers"], site.scope)
        workers = max((count for count in counts if type(count) is int), default=0)
        dataset = argument_of(site.node, "dataset", 0)
        is_persistent = not _is_constant(keywords.get("persistent_workers"), default=False)
        for name in sorted(_classes(facts, dataset, site.scope)) if workers > 0 else ():
            yield Loader(name, workers, is_persistent, facts.locate(site.node))


def _is_constant(given: ast.expr | None, *, default: object) -> bool:
    """Whether an argument is left out, or written as its default."""
    return given is None or (isinstance(given, ast.Constant) and given.value is default)


def _counts(facts: FileFacts, number: ast.expr, scope: int) -> Iterator[object]:
    """What a number is by all that the code shows: literals, defaults of parameters and options, the cores."""
    for value, where in seen_values(facts, number, scope, Through.PARAMETERS):
        if isinstance(value, ast.Constant):
            yield value.value
        elif isinstance(value, ast.Call) and facts.names(value.func, where).only in _CORES:
            yield _SEVERAL
        elif isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name):
            yield from option_defaults(facts, value.attr)


@followed(otherwise=frozenset[str]())
def _classes(facts: FileFacts, dataset: ast.expr | None, scope: int) -> frozenset[str]:
    """The project's classes whose instances a dataset is made of; none where any part of it is not known."""
    if dataset is None:
        return frozenset()
    # A class of the same file that inherits from this one may keep it.
    others = heirs(facts, facts.class_of(scope)) if isinstance(dataset, ast.Attribute) else []
    ends = [definitions_of(facts, dataset, one, Through.CHANGES | Through.RESULTS) for one in (scope, *others)]
    return frozenset().union(*(all_of(_classes_of(facts, end) for end in some) for some in ends))


def _classes_of(facts: FileFacts, end: End) -> frozenset[str]:
    if not isinstance(end, Definition):
        return frozenset()
    if isinstance(end.node, (ast.List, ast.Tuple)):
        return all_of(_classes(facts, element, end.scope) for element in end.node.elts)
    name = facts.names(end.node.func, end.scope).only or "" if isinstance(end.node, ast.Call) else ""
    if name in _WRAPPERS and isinstance(end.node, ast.Call) and end.node.args:
        return _classes(facts, end.node.args[0], end.scope)
    is_class = is_of_project(name) and not hangs_on_call(name) and not end.parts
    return frozenset({name}) if is_class else frozenset()
