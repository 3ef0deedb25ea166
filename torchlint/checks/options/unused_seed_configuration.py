"""TL305 unused-seed-option, in a file: a program loads a configuration that sets a seed, and no code reads it."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from torchlint.checks.framework.drafts import Draft
from torchlint.checks.framework.registration import Finding, Triggers, check
from torchlint.checks.framework.visit import Visit
from torchlint.diagnostics import Related
from torchlint.facts.entries import is_test
from torchlint.facts.file import FileFacts
from torchlint.facts.options.configurations import Configuration, configurations
from torchlint.facts.scopes import CallSite
from torchlint.project.call_graph import is_reached
from torchlint.project.configurations import ConfiguredSeed, is_ignored, is_loaded_elsewhere, loading_files
from torchlint.project.index import Project

_CODE = "TL305"


def _judge(draft: Draft, project: Project) -> Draft | None:
    """Whether a program trains with this configuration, and no source of the project speaks of a seed that it sets."""
    found = (one for one in project.summaries[draft.path].configurations if one.location == draft.location)
    configuration = next(found, None)
    if configuration is None or is_test(draft.path):
        return None
    seeds = _unread(configuration, draft.path, project)
    if not seeds or not _trains_with(configuration, draft.path, project):
        return None
    location = seeds[0].location
    values = {"file": location.shown_line, "key": ".".join(seeds[0].keys)}
    related = tuple(Related(seed.location, f"sets `{'.'.join(seed.keys)}`") for seed in seeds)
    return replace(draft, values=values, related=related)


def _trains_with(configuration: Configuration, path: str, project: Project) -> bool:
    """Whether a program that this file starts loads it and trains: a library's own file may belong to old weights."""
    symbol = (path, configuration.symbol)
    return any(
        is_reached(symbol, program.reached, project.summaries) and project.randomness_of(program).training is not None
        for program in project.programs_starting_in(path)
    )


def _unread(configuration: Configuration, path: str, project: Project) -> list[ConfiguredSeed]:
    """The seeds that the files set, that no program with them speaks of, and that go nowhere with the rest."""
    files, loading = project.configuration_files, loading_files(configuration, project)
    # Another program may load the same file and read the seed: one that speaks of such a key is believed to.
    loaded = project.programs.calls.loaded(loading)
    silent = [
        seed
        for seed in files.seeds_for(configuration, path)
        if not project.texts.speak_of(seed.name, loaded) and not files.interpolates(seed.name)
    ]
    if not silent or is_loaded_elsewhere(configuration, project):
        return []
    return [seed for seed in silent if is_ignored(configuration, seed.keys, path, project)]


def _loading(facts: FileFacts) -> Iterator[CallSite]:
    """The calls that load a configuration."""
    found = facts.cached(configurations)
    return (site for site in facts.symbols.calls if site.node in found)


@check(codes=(_CODE,), triggers=Triggers(sites=_loading), judge=_judge)
def find(visit: Visit) -> Iterator[Finding]:
    """`yaml.safe_load(file)`, `OmegaConf.load("train.yaml")`, `@hydra.main(...)`, `load_config("train.yaml")`."""
    if visit.call in visit.facts.cached(configurations):
        yield Finding(_CODE, visit.node, message="configured")
