"""Data loaders with worker processes, and the classes of the datasets they are given."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torchlint.diagnostics import Location
from torchlint.facts.classes import attribute_values, heirs, unpacked_values
from torchlint.facts.data_loading.workers import LOADERS
from torchlint.facts.functions import is_plain, own_scope, returned_values
from torchlint.facts.options.declared import option_defaults
from torchlint.facts.reaching import reaching
from torchlint.facts.remembering import remembered
from torchlint.facts.scopes import BindingKind, CallSite, ScopeKind
from torchlint.facts.values import argument_of

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

_WRAPPERS = frozenset(
    {"torch.utils.data.Subset", "torch.utils.data.random_split", "torch.utils.data.ConcatDataset"},
)
"""What hands on the items of the datasets that it is given first."""
_CORES = frozenset({"os.cpu_count", "multiprocessing.cpu_count"})
_SEVERAL = 2


@dataclass(frozen=True, slots=True)
class Loader:
    """One call of a loader that starts worker processes and leaves their seeding to torch."""

    dataset: str
    """The class of the dataset, as a project name."""
    workers: int
    is_persistent: bool
    """Whether the workers may live on from epoch to epoch."""
    location: Location


def worker_loaders(facts: FileFacts) -> Iterator[Loader]:
    """The loaders of a file whose number of workers is evidently above 0, without a `worker_init_fn`."""
    for site in facts.reading.calls:
        keywords = {keyword.arg: keyword.value for keyword in site.node.keywords}
        # `**options` may hide a `worker_init_fn`.
        if (
            "num_workers" not in keywords
            or None in keywords
            or not _is_constant(keywords.get("worker_init_fn"), default=None)
        ):
            continue
        if facts.names(site.node.func, site.scope).only not in LOADERS:
            continue
        workers = _most_workers(facts, keywords["num_workers"], site.scope)
        dataset = argument_of(site.node, "dataset", 0)
        is_persistent = not _is_constant(keywords.get("persistent_workers"), default=False)
        for name in sorted(_classes(facts, dataset, site.scope)) if workers > 0 else ():
            yield Loader(name, workers, is_persistent, facts.locate(site.node))


def _is_constant(given: ast.expr | None, *, default: object) -> bool:
    """Whether an argument is left out, or written as its default."""
    return given is None or (isinstance(given, ast.Constant) and given.value is default)


def _most_workers(facts: FileFacts, number: ast.expr, scope: int) -> int:
    """The largest number of workers that the code shows; 0 for none."""
    return max((count for count in _counts(facts, number, scope) if type(count) is int), default=0)


@remembered
def _counts(facts: FileFacts, number: ast.expr, scope: int, depth: int = 3) -> tuple[object, ...]:
    if depth == 0:
        return ()
    if isinstance(number, ast.Call):
        return (_SEVERAL,) if facts.names(number.func, scope).only in _CORES else ()
    known = facts.value(number, scope)
    return known.constants if known.is_known else _defaults(facts, number, scope, depth)


def _defaults(facts: FileFacts, number: ast.expr, scope: int, depth: int) -> tuple[object, ...]:
    """What a parameter or an option of the command line is when nobody says otherwise."""
    if isinstance(number, ast.Name) and facts.parameter_named(number, scope) is not None:
        owner = facts.resolver.owner(number.id, scope)
        binding = owner.bindings[number.id][0] if owner else None
        return facts.value(binding.value, binding.scope).constants if binding else ()
    kept = attribute_values(facts, number, scope)
    if kept is not None:
        return tuple(count for value, where in kept for count in _counts(facts, value, where, depth - 1))
    if isinstance(number, ast.Attribute) and isinstance(number.value, ast.Name):
        return option_defaults(facts, number.attr)
    return ()


@remembered
def _classes(facts: FileFacts, dataset: ast.expr | None, scope: int, depth: int = 6) -> frozenset[str]:
    """The project's classes whose instances a dataset is made of; none where any part of it is not known."""
    if depth == 0 or dataset is None:
        return frozenset()
    if isinstance(dataset, ast.Call):
        return _classes_of_call(facts, dataset, scope, depth)
    if isinstance(dataset, ast.List | ast.Tuple):
        return _all_of(facts, [(element, scope) for element in dataset.elts], depth)
    if isinstance(dataset, ast.Attribute):
        return _classes_kept(facts, dataset, scope, depth)
    if not isinstance(dataset, ast.Name):
        return frozenset()
    bound = reaching(facts, dataset.id, scope, dataset.lineno)
    if any(b.value is None or b.kind not in (BindingKind.ASSIGN, BindingKind.PART) for b in bound):
        return frozenset()
    return _all_of(facts, [(b.value, b.scope) for b in bound if b.value is not None], depth)


def _classes_kept(facts: FileFacts, attribute: ast.Attribute, scope: int, depth: int) -> frozenset[str]:
    """What a class, or one of the same file that inherits from it, keeps in an attribute."""
    found: frozenset[str] = frozenset()
    for where in (scope, *heirs(facts, facts.class_of(scope))):
        parts = [(value, inner) for value, inner, _ in unpacked_values(facts, attribute, where)]
        found |= _all_of(facts, [*(attribute_values(facts, attribute, where) or ()), *parts], depth)
    return found


def _all_of(facts: FileFacts, parts: list[tuple[ast.expr, int]], depth: int) -> frozenset[str]:
    found = [_classes(facts, part, where, depth - 1) for part, where in parts]
    return frozenset().union(*found) if all(found) else frozenset()


def _classes_of_call(facts: FileFacts, call: ast.Call, scope: int, depth: int) -> frozenset[str]:
    name = facts.names(call.func, scope).only or ""
    if name in _WRAPPERS and call.args:
        return _classes(facts, call.args[0], scope, depth - 1)
    function = own_scope(facts, name)
    if function is not None and facts.reading.scopes[function].kind is ScopeKind.FUNCTION:
        if not is_plain(facts, facts.reading.scopes[function]):
            return frozenset()
        return _all_of(facts, [(value, function) for value in returned_values(facts, function)], depth)
    return frozenset({name}) if "::" in name and "()" not in name else frozenset()


def asks_for_worker(site: CallSite, facts: FileFacts) -> bool:
    """Whether a call asks which worker runs it."""
    return facts.names(site.node.func, site.scope).only == "torch.utils.data.get_worker_info"
