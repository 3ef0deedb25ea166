"""TL305 unused-seed-option, in a file: a program loads a configuration that sets a seed, and no code reads it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import libcst as cst

from torchlint.checks.drafts import Draft
from torchlint.checks.registration import Finding, Vocabulary, check
from torchlint.checks.visit import Visit
from torchlint.diagnostics import Related
from torchlint.facts.entries import is_test
from torchlint.facts.file import FileFacts
from torchlint.facts.options.configurations import LOADERS, Configuration, configurations
from torchlint.facts.scopes import CallSite
from torchlint.project.call_graph import is_reached
from torchlint.project.configurations import ConfiguredSeed
from torchlint.project.index import Project

_CODE = "TL305"


def _judge(draft: Draft, project: Project) -> Draft | None:
    """Whether a program trains with this configuration, and no source of the project speaks of a seed that it sets."""
    found = (one for one in project.summaries[draft.path].configurations if one.location == draft.location)
    configuration = next(found, None)
    if configuration is None or is_test(draft.path) or not _trains_with(configuration, draft.path, project):
        return None
    if configuration.is_shared and project.is_imported(draft.path):
        return None
    seeds = list(_unread(configuration, draft.path, project))
    if not seeds:
        return None
    location = seeds[0].location
    values = {"file": f"{location.path}:{location.line}", "key": ".".join(seeds[0].keys)}
    related = tuple(Related(seed.location, f"sets `{'.'.join(seed.keys)}`") for seed in seeds)
    return dataclasses.replace(draft, values=values, related=related)


def _trains_with(configuration: Configuration, path: str, project: Project) -> bool:
    symbol = (path, configuration.symbol)
    return any(
        is_reached(symbol, program.reached, project.summaries) and project.randomness_of(program).training is not None
        for program in project.programs.reaching(path)
    )


def _unread(configuration: Configuration, path: str, project: Project) -> Iterator[ConfiguredSeed]:
    for seed in project.configuration_files.seeds_for(configuration, path):
        is_used = configuration.uses(seed.keys) or not configuration.uses_any_beside(seed.keys)
        # Another program may load the same file and read the seed: one that speaks of such a key is believed to.
        if not is_used and not project.speaks_of(seed.name) and not project.configuration_files.interpolates(seed.name):
            yield seed


def _is_worth(facts: FileFacts, site: CallSite, _selected: frozenset[str]) -> bool:
    location = facts.locate(site.node)
    return any(one.location == location for one in facts.once(configurations))


@check(cst.Call, codes=(_CODE,), vocabulary=Vocabulary(calls=LOADERS, worth=_is_worth), judge=_judge)
def find(visit: Visit, node: cst.CSTNode) -> Iterator[Finding]:
    """`yaml.safe_load(file)`, `OmegaConf.load("train.yaml")` and `@hydra.main(...)`."""
    if visit.callee() in LOADERS and _is_worth(visit.facts, visit.site, visit.selected):
        yield Finding(_CODE, node, message="configured")
