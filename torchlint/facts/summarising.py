"""A file's facts, reduced to what its project asks."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Any

from torchlint.facts.accelerators import devices_spoken_of
from torchlint.facts.call_edges import edges_of, group_edges, property_edges
from torchlint.facts.classes import base_classes
from torchlint.facts.data_loading.loaders import functions_for_workers, loaders_made
from torchlint.facts.differentiation import forward_symbols, loss_symbols
from torchlint.facts.entries import entries_of, is_test
from torchlint.facts.environment import environment_writes
from torchlint.facts.file import FileFacts
from torchlint.facts.functions import positional_parameters
from torchlint.facts.grouping import grouped
from torchlint.facts.modes import mode_calls, switch_writes
from torchlint.facts.namespaces import IMPORTING
from torchlint.facts.notation import symbol_of
from torchlint.facts.objects import results_of
from torchlint.facts.options.configurations import configurations
from torchlint.facts.options.declared import options_in
from torchlint.facts.places import place_of
from torchlint.facts.randomness.draws import drawn_calls
from torchlint.facts.randomness.seeding import seed_calls
from torchlint.facts.registries import registrations, registry_uses, table_uses
from torchlint.facts.scopes import BindingKind, ImportTarget, ScopeKind
from torchlint.facts.summary import Extract, FileSummary, Import, OperatorCall, Parameters
from torchlint.facts.training.steps import trainings
from torchlint.facts.training.training_mode import weight_loaders
from torchlint.facts.watch import Watch


def summarise(
    facts: FileFacts,
    watch: Watch,
    operators: Iterable[OperatorCall],
    asked: Iterable[Extract[Any]],
    *,
    is_notebook: bool,
) -> FileSummary:
    """Reduce a file's facts to what its project asks, and rules besides.

    `operators` come from the check that knows them.
    """
    modes = tuple(mode_calls(facts, watch.switches))
    stored = (one for one in facts.symbols.assignments if isinstance(one.target, ast.Attribute))
    draws = grouped(
        ((one.symbol, one.generator, one.makes, one.demands), one) for one in drawn_calls(facts, watch).values()
    )
    return FileSummary(
        path=facts.path,
        start=place_of(facts, facts.tree),
        libraries=frozenset(one.module.partition(".")[0] for one, _ in facts.symbols.imports if not one.level),
        imports=tuple(_imports(facts)),
        entries=tuple(entries_of(facts, watch, is_notebook=is_notebook)),
        edges=(*edges_of(facts, watch), *group_edges(facts), *property_edges(facts)),
        modes=modes,
        environment=tuple(environment_writes(facts, watch.variables)),
        parameters=tuple(_parameters(facts, {call.symbol for call in modes if call.parameter})),
        registrations=tuple(facts.cached(registrations)),
        tables=(*table_uses(facts), *registry_uses(facts)),
        functions=frozenset(scope.qualname for scope in facts.symbols.scopes if scope.kind is ScopeKind.FUNCTION),
        bases=tuple(base_classes(facts)),
        results=() if is_test(facts.path) else tuple(results_of(facts)),
        seeds=tuple(seed_calls(facts, watch.seeders)),
        draws=tuple(alike[0] for alike in draws.values()),
        trainings=tuple(trainings(facts, watch.trainers)),
        workers=tuple(loaders_made(facts)),
        worker_inits=tuple(functions_for_workers(facts)),
        switches=tuple(switch_writes(facts, watch.switch_names)),
        operators=tuple(operators),
        overwrites_switch=any(facts.names(one.target, one.scope).only in watch.switches for one in stored),
        forwards=forward_symbols(facts),
        losses=loss_symbols(facts),
        options=facts.cached(options_in),
        configurations=tuple(facts.cached(configurations).values()),
        loads_weights=weight_loaders(facts),
        devices=devices_spoken_of(facts, watch.devices),
        extracts={one.name: one.take(facts, watch) for one in asked},
    )


def _imports(facts: FileFacts) -> Iterator[Import]:
    modules = facts.resolver.modules
    for target, scope in facts.symbols.imports:
        function = facts.function_of(scope)
        symbol = facts.symbols.scopes[function].qualname if function is not None else ""
        parts = target.module.split(".")  # `import a.b.c` runs a, a.b and a.b.c
        above = (ImportTarget(".".join(parts[:end]), None, 0) for end in range(1, len(parts)))
        for candidate in (*(() if target.level else above), target):
            found = modules.locate(candidate, facts.path)
            if found is not None:
                submodule = modules.locate_submodule(found, target.name) if target.name else None
                is_named = candidate.name is not None and candidate.name != "*"
                yield Import(symbol, found, str(candidate.name) if is_named else "")
                if submodule is not None:
                    yield Import(symbol, submodule, "")
    for site in facts.calls.find(names=IMPORTING):
        for name in facts.names(site.node, site.scope).of_project:
            yield Import(facts.symbol_of(site), symbol_of(name)[0], "")


def _parameters(facts: FileFacts, symbols: set[str]) -> Iterator[tuple[str, Parameters]]:
    for scope in facts.symbols.scopes:
        if scope.kind is not ScopeKind.FUNCTION or scope.qualname not in symbols:
            continue
        parameters = ((name, one) for name, bound in scope.bindings.items() for one in bound)
        given = ((name, one.value) for name, one in parameters if one.kind is BindingKind.PARAMETER)
        values = ((name, facts.value(default, 0)) for name, default in given)
        defaults = tuple((name, one.constants[0]) for name, one in values if one.is_known and len(one.constants) == 1)
        names = tuple(name for name in positional_parameters(scope) if name not in ("self", "cls"))
        yield scope.qualname, Parameters(names, defaults)
