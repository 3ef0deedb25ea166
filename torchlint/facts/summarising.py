"""A file's facts, reduced to what its project asks."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from torchlint.catalogue.load import argument_naming_model
from torchlint.catalogue.programs import SaverEntry
from torchlint.facts.accelerators import devices_named
from torchlint.facts.call_edges import Edge, edges_of, group_edges, property_edges
from torchlint.facts.classes import base_classes
from torchlint.facts.constants import value_of
from torchlint.facts.data_loading.kept_generators import GIVEN_AS
from torchlint.facts.data_loading.loaders import functions_for_workers, loaders_made, worker_loaders
from torchlint.facts.differentiation import forward_symbols, loss_symbols
from torchlint.facts.entries import entries_of, is_test
from torchlint.facts.environment import environment_writes, process_starts
from torchlint.facts.file import FileFacts
from torchlint.facts.full_names import Names
from torchlint.facts.functions import positional_parameters
from torchlint.facts.modes import mode_calls, switch_writes
from torchlint.facts.namespaces import IMPORTING
from torchlint.facts.objects import results_of
from torchlint.facts.options.configurations import configurations
from torchlint.facts.options.declared import options_in
from torchlint.facts.places import place_of
from torchlint.facts.randomness.draws import Draw, draw, may_draw
from torchlint.facts.randomness.environments import environment_calls
from torchlint.facts.randomness.saved import drawn_results, handed_to_writers, saved_results, writers_of
from torchlint.facts.randomness.seeding import restores_generators, seed_calls
from torchlint.facts.registries import registrations, registry_uses, table_uses
from torchlint.facts.scopes import BindingKind, CallSite, ImportTarget, ScopeKind
from torchlint.facts.summary import FileSummary, Import, OperatorCall, Parameters
from torchlint.facts.training.steps import trainings
from torchlint.facts.training.training_mode import SharedDraw, hangs_on_batch, module_modes, shared_draw, weight_loaders
from torchlint.facts.values import argument_of
from torchlint.facts.watch import Watch
from torchlint.facts.words import says


def summarise(facts: FileFacts, watch: Watch, operators: Iterable[OperatorCall], *, is_notebook: bool) -> FileSummary:
    """Reduce a file's facts to what its project asks; `operators` come from the check that knows them."""
    modes = tuple(mode_calls(facts, watch.switches))
    stored = (one for one in facts.symbols.assignments if isinstance(one.target, ast.Attribute))
    calls = _Calls(facts, watch)
    return FileSummary(
        path=facts.path,
        start=place_of(facts, facts.tree),
        libraries=frozenset(one.module.partition(".")[0] for one, _ in facts.symbols.imports if not one.level),
        imports=tuple(_imports(facts)),
        entries=tuple(entries_of(facts, watch, is_notebook=is_notebook)),
        edges=(*calls.edges, *group_edges(facts), *property_edges(facts)),
        modes=modes,
        environment=tuple(environment_writes(facts, watch.variables)),
        parameters=tuple(_parameters(facts, {call.symbol for call in modes if call.parameter})),
        registrations=tuple(facts.cached(registrations)),
        tables=(*table_uses(facts), *registry_uses(facts)),
        functions=frozenset(scope.qualname for scope in facts.symbols.scopes if scope.kind is ScopeKind.FUNCTION),
        bases=tuple(base_classes(facts)),
        results=() if is_test(facts.path) else tuple(results_of(facts)),
        seeds=tuple(seed_calls(facts, watch.seeders)),
        restores_generators=restores_generators(facts, watch.restorers),
        draws=tuple(calls.draws.values()),
        saved=(*saved_results(facts, calls.savers, calls.drawn), *handed_to_writers(facts, calls.writing, calls.drawn)),
        writers=frozenset(writers_of(facts, calls.savers)),
        drawn=tuple(drawn_results(facts, calls.drawn, calls.edges)),
        trainings=tuple(trainings(facts, watch.trainers)),
        workers=tuple(loaders_made(facts)),
        worker_inits=tuple(functions_for_workers(facts)),
        switches=tuple(switch_writes(facts, watch.switch_names)),
        operators=tuple(operators),
        context=tuple(_context(facts, watch)),
        environments=tuple(environment_calls(facts, watch.seeders)),
        modes_of_modules=module_modes(facts),
        overwrites_switch=any(facts.names(one.target, one.scope).only in watch.switches for one in stored),
        loaders=tuple(worker_loaders(facts)),
        forwards=forward_symbols(facts),
        losses=loss_symbols(facts),
        options=facts.cached(options_in),
        configurations=tuple(facts.cached(configurations).values()),
        starts=tuple(process_starts(facts, watch.processes)),
        shared_draws=tuple(calls.shared_draws.values()),
        unsettled=frozenset(calls.unsettled),
        loads_weights=weight_loaders(facts),
        devices=devices_named(facts, watch.devices),
    )


class _Calls:
    """What a file's calls tell together: who calls whom, what draws, what writes."""

    def __init__(self, facts: FileFacts, watch: Watch) -> None:
        self.edges: list[Edge] = list(edges_of(facts, watch))
        self.unsettled: set[str] = set()
        self.draws: dict[tuple[object, ...], Draw] = {}
        self.drawn: dict[CallSite, Draw] = {}
        self.shared_draws: dict[str, SharedDraw] = {}
        self.savers: list[tuple[CallSite, Names, SaverEntry]] = []
        self.writing: list[CallSite] = []
        for site, names in facts.calls.named:
            if hangs_on_batch(site, names, watch.batch_layers):
                self.unsettled.add(facts.symbol_of(site))
        words = (word for word in facts.calls.words if may_draw(word) or word in watch.drawing_methods)
        for site in facts.calls.find(names=watch.draws.keys(), words=words, keywords=GIVEN_AS):
            drawn = draw(facts, site, facts.names(site.node.func, site.scope), watch.draws, watch.drawing_methods)
            if drawn is not None:
                self.draws.setdefault((drawn.symbol, drawn.generator, drawn.makes, drawn.demands), drawn)
                self.drawn[site] = drawn
                self.unsettled |= {drawn.symbol} if drawn.makes != "model" else set()
            shared = shared_draw(facts, site, drawn, watch.cpu_draws)
            if shared is not None:
                self.shared_draws.setdefault(shared.symbol, shared)
        self.savers += watch.savers.calls_in(facts)
        saving = {site for site, _, _ in self.savers}
        words = (word for word in facts.calls.words if says(word, "writing"))
        self.writing += (site for site in facts.calls.find(words=words) if site not in saving)


def _context(facts: FileFacts, watch: Watch) -> Iterator[OperatorCall]:
    """The calls that reach context operators, also of whatever is picked from a table: `models.__dict__[name](...)`.

    A model of a library reaches all that it holds, reported elsewhere or not.
    """
    names = (name for name in facts.calls.names if argument_naming_model(name) or any(watch.context_of(name)))
    for site in facts.calls.find(names=names, words=("",)):
        function = site.node.func
        called = facts.names(function.value if isinstance(function, ast.Subscript) else function, site.scope).only
        for operator in watch.context_of(called, _model_named(facts, site, called)) if called is not None else ():
            yield OperatorCall(operator, ast.unparse(function), facts.symbol_of(site), facts.locate(site.node))


def _model_named(facts: FileFacts, site: CallSite, called: str) -> str | None:
    """The model that a maker is asked for by name: `timm.create_model("resnet18")`."""
    argument = argument_naming_model(called)
    if argument is None:
        return None
    named = value_of(facts, argument_of(site.node, argument, 0), site.scope)
    texts = [value for value in named.constants if isinstance(value, str)]
    return texts[0] if named.is_known and len(texts) == 1 else None


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
            yield Import(facts.symbol_of(site), name.removesuffix("::"), "")


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
