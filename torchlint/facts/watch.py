"""What the catalogue asks a summary to look for."""

from __future__ import annotations

import functools
from collections.abc import Iterator

import msgspec

from torchlint.catalogue import Catalogue
from torchlint.catalogue.load import load_models, measured_packages
from torchlint.catalogue.programs import DrawEntry, Loading, ModeSwitch, ProcessStarters
from torchlint.facts.accelerators import DeviceWords
from torchlint.facts.grouping import grouped
from torchlint.facts.notation import Member, hangs_on_call, reference
from torchlint.facts.randomness.saved import Savers
from torchlint.facts.training.steps import Trainers


class Watch(msgspec.Struct, frozen=True, eq=False):
    """What the catalogue asks a summary to look for; one for each catalogue, known by its identity."""

    switches: dict[str, ModeSwitch]
    command_decorators: frozenset[str]
    training_methods: frozenset[str]
    variables: frozenset[str]
    switch_names: frozenset[str]
    context: dict[str, tuple[str, ...]]
    """Of each call of a context operator: the operators."""
    context_models: tuple[tuple[str, str], ...]
    """Pairs of what makes networks, and a context operator that stands in them."""
    context_makers: tuple[str, ...]
    """The first of each pair."""
    seeders: dict[str, frozenset[str]]
    restorers: frozenset[str]
    draws: dict[str, list[DrawEntry]]
    drawing_methods: frozenset[str]
    """The last words of draws that are methods of an object: `shuffle` of `datasets.Dataset().shuffle`."""
    trainers: Trainers
    savers: Savers
    processes: ProcessStarters
    loading: Loading
    cpu_draws: frozenset[str]
    batch_layers: frozenset[str]
    devices: DeviceWords

    def context_of(self, name: str, model: str | None = None) -> Iterator[str]:
        """The context operators that a call reaches, and all that the model which it builds holds.

        `model` is the name that it is given: `timm.create_model("resnet18")`.
        """
        package = name.partition(".")[0]
        held = load_models(package).held_by(name, model) if package in measured_packages() else None
        if held is not None:
            yield from held
            return
        yield from self.context.get(name, ())
        is_maker = name.startswith(self.context_makers) and not hangs_on_call(name)  # else a method of what was made
        for maker, operator in self.context_models if is_maker else ():
            if name.startswith(maker) and name[len(maker) :][:1] in ("", "."):
                yield operator

    @classmethod
    @functools.lru_cache(maxsize=2)
    def of(cls, catalogue: Catalogue) -> Watch:
        programs, randomness = catalogue.programs, catalogue.randomness

        facts = (fact for library in catalogue.libraries for fact in library.fact if fact.gives)
        engines = [DrawEntry(calls=one.gives, generator="engine", unless=one.unless_given) for one in facts]
        draws = grouped((call, entry) for entry in (*randomness.draw, *engines) for call in entry.calls)
        return cls(
            {switch.call: switch for switch in programs.mode},
            frozenset(programs.command_decorators),
            frozenset(programs.training_methods),
            catalogue.variables,
            catalogue.switch_names,
            catalogue.context_calls,
            catalogue.context_models,
            tuple(maker for maker, _ in catalogue.context_models),
            {call: frozenset(entry.seeds) for entry in randomness.seeder for call in entry.calls},
            frozenset(randomness.restorers),
            draws,
            frozenset(call.rpartition(".")[2] for call in draws if isinstance(reference(call), Member)),
            Trainers(
                frozenset(randomness.trainers),
                frozenset(randomness.seeding_trainers),
                {switch.call: switch for switch in programs.mode if switch.makes_trainer or switch.since},
            ),
            Savers.of(randomness.saver),
            programs.processes,
            programs.loading,
            frozenset(randomness.cpu_draws),
            frozenset(randomness.batch_layers),
            DeviceWords.of(catalogue.devices),
        )
