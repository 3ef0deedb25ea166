"""The functions that data-loading workers run when they start, and the seeds that all workers get alike."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import msgspec

from torchlint.facts.calls import Target, Way, functions_of, known_functions
from torchlint.facts.control.conditions import tests_around
from torchlint.facts.data_loading.loaders import LOADER, LOADERS, POSITIONS
from torchlint.facts.file import FileFacts
from torchlint.facts.functions import is_plain, positional_parameters, returned_values
from torchlint.facts.memoizing import followed
from torchlint.facts.randomness.seeding import is_fixed, library_of, seeds_of
from torchlint.facts.scopes import BindingKind, CallSite, ScopeKind
from torchlint.facts.tree import words_in
from torchlint.facts.values import argument_of, may_be_hidden
from torchlint.facts.words import says

_PARAMETER = "worker_init_fn"
_WORKER_NAME = re.compile(r"worker.*(?:seed|init)|(?:seed|init).*worker")
_WORKER_PARAMETER = re.compile(r"worker|^_?wid$|^_$")


class WorkerInit(msgspec.Struct, frozen=True):
    """One place that hands a function to the workers of a loader."""

    value: ast.expr
    scope: int
    node: ast.AST
    """What is shown as the place."""
    loader: CallSite | None = None
    """The call of a loader, where it is one that is known."""


def worker_inits(facts: FileFacts) -> list[WorkerInit]:
    """Every place of a file that gives `worker_init_fn` a value and may start several workers."""
    placed = (site for site in facts.symbols.calls if len(site.node.args) > POSITIONS[_PARAMETER])
    if _PARAMETER not in facts.source.text and next(placed, None) is None:
        return []
    found = []
    for site in facts.symbols.calls:
        name = facts.names(site.node.func, site.scope).only or ""
        positions = POSITIONS if name == LOADER else {}
        value = argument_of(site.node, _PARAMETER, positions.get(_PARAMETER))
        if value is None or not (name in LOADERS or facts.imports_torch):
            continue
        if _may_have_several_workers(facts, site, name, positions.get("num_workers")):
            found.append(WorkerInit(value, site.scope, site.node, site if name in LOADERS else None))
    for assignment in facts.symbols.assignments:
        target, value = assignment.target, assignment.value
        key = target.attr if isinstance(target, ast.Attribute) else getattr(target.slice, "value", None)
        if key == _PARAMETER and value is not None:
            found.append(WorkerInit(value, assignment.scope, assignment.statement))
    return found


def _may_have_several_workers(facts: FileFacts, site: CallSite, name: str, position: int | None) -> bool:
    given = argument_of(site.node, "num_workers", position)
    if given is None:
        return name not in LOADERS or may_be_hidden(site.node, position)
    values = facts.value(given, site.scope)
    return not values.is_known or any(isinstance(count, int) and count > 1 for count in values.constants)


def functions_for(facts: FileFacts, init: WorkerInit) -> list[Target]:
    """The functions of this file that workers may run, and what partials give them; what is not known is left out."""
    found = [one for one in functions_of(facts, init.value, init.scope) if one is not None]
    found = [one for one in found if one.way is Way.CALLED and not one.is_open]
    return [one for one in found if one.function.kind is ScopeKind.LAMBDA or is_plain(facts, one.function)]


class WorkerSeed(msgspec.Struct, frozen=True):
    """A seeding call in a function that workers run, all with the same seed."""

    site: CallSite
    init: WorkerInit | None
    """Where a loader gets the function; None where only its name and parameter say so."""


def worker_seeds(facts: FileFacts) -> dict[ast.Call, WorkerSeed]:
    """For each function of workers the first call that seeds all of them alike."""
    found: dict[ast.Call, WorkerSeed] = {}
    inits = [one for one in facts.cached(worker_inits) if not _evaluates(facts, one)]
    handed = [(function, init) for init in inits for function in functions_for(facts, init)]
    for function, init in (*handed, *((one, None) for one in _named_like_one(facts))):
        site = _first_constant(facts, function)
        if site is not None:
            found.setdefault(site.node, WorkerSeed(site, init))
    return found


def calls_in_place(facts: FileFacts) -> dict[ast.Call, ast.Call]:
    """By the call of a loader, the seeding call whose result, None, it gets: `worker_init_fn=np.random.seed(0)`."""
    found: dict[ast.Call, ast.Call] = {}
    for init in facts.cached(worker_inits):
        if init.loader is not None and isinstance(init.value, ast.Call) and _seeds_now(facts, init.value, init.scope):
            found[init.loader.node] = init.value
    return found


def _seeds_now(facts: FileFacts, call: ast.Call, scope: int) -> bool:
    if facts.names(call.func, scope).only in ("numpy.random.seed", "random.seed"):
        return True
    called = known_functions(facts, call.func, scope)
    if not called or any(returned_values(facts, function) for function in called):
        return False
    return any(library_of(facts, site) for site in facts.symbols.calls if site.scope in called)


def _evaluates(facts: FileFacts, init: WorkerInit) -> bool:
    """Whether a loader is evidently one for evaluation, whose items are not drawn anew: `shuffle=False`, by name."""
    if not isinstance(init.node, ast.Call):
        return False
    keywords = {keyword.arg: keyword.value for keyword in init.node.keywords}
    shuffle = facts.value(keywords.get("shuffle"), init.scope)
    if shuffle.constants and any(shuffle.constants):
        return False
    data = init.node.args[0] if init.node.args else keywords.get("dataset")
    return any(says(word, "evaluation") for word in words_in(data or init.node.func))


def _named_like_one(facts: FileFacts) -> Iterator[Target]:
    """Module-level functions that other files hand to their loaders: by name and parameter, unused in this file."""
    if not facts.imports_torch:
        return
    for scope in facts.symbols.scopes:
        node = scope.node
        if scope.kind is not ScopeKind.FUNCTION or scope.parent != 0 or not isinstance(node, ast.FunctionDef):
            continue
        names = positional_parameters(scope)
        is_one = len(names) == 1 and _WORKER_PARAMETER.search(names[0]) and not node.decorator_list
        if is_one and _WORKER_NAME.search(scope.name.lower()) and not facts.index.reads(0, scope.name):
            yield Target(scope)


def _first_constant(facts: FileFacts, target: Target) -> CallSite | None:
    """The first call of a function that seeds a library alike in all workers and nothing seeds anew."""
    own = (site for site in facts.symbols.calls if site.scope == target.function.index)
    seeds = [site for site in own if library_of(facts, site) is not None]
    apart = {library_of(facts, site) for site in seeds if not _is_alike(facts, site, target)}
    return None if "all" in apart else next((site for site in seeds if library_of(facts, site) not in apart), None)


def _is_alike(facts: FileFacts, site: CallSite, target: Target) -> bool:
    """Whether the seed is the same in all workers: it depends on nothing that a worker is told or asks for."""
    seeds = seeds_of(site.node)
    worker = next(iter(target.unfilled), None)
    tests = tests_around(facts, site.statement) if target.function.kind is ScopeKind.FUNCTION else iter(())
    if any(isinstance(node, ast.Name) and node.id == worker for test in tests for node in ast.walk(test)):
        return False
    return bool(seeds) and all(
        is_fixed(facts, seed, site.scope, lambda name: _holds_still(facts, name, target.function.index, worker))
        for seed in seeds
    )


@followed(otherwise=False)
def _holds_still(facts: FileFacts, name: ast.Name, index: int, worker: str | None) -> bool:
    """Whether a name is the same in all workers: a parameter with one value for all, or bound outside."""
    if name.id == worker:
        return False
    bindings = facts.bindings(name, index)
    if bindings and facts.variable(name, index) != (index, name.id):
        return not any(facts.function_of(binding.scope) == index for binding in bindings)
    if len(bindings) != 1:
        return False
    only = bindings[0]
    if only.kind is BindingKind.PARAMETER:
        return True
    if only.kind is not BindingKind.ASSIGN or only.value is None:
        return False
    return is_fixed(facts, only.value, index, lambda inner: _holds_still(facts, inner, index, worker))
