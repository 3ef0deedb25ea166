"""TL306, TL307 and TL308: data-loading workers that all draw the same numbers, or cannot start."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from msgspec.structs import replace

from torchlint.catalogue.versions import VersionRange
from torchlint.checks.framework.drafts import Draft
from torchlint.checks.framework.registration import Finding, Triggers, check, sites_of
from torchlint.checks.framework.visit import Visit, shortened, spelling_of
from torchlint.diagnostics import Confidence, Related
from torchlint.facts.data_loading.kept_generators import global_draws, item_draws
from torchlint.facts.data_loading.loaders import Loader, worker_loaders
from torchlint.facts.data_loading.worker_seeding import calls_in_place, worker_seeds
from torchlint.facts.file import FileFacts
from torchlint.facts.scopes import CallSite
from torchlint.facts.summary import Extract
from torchlint.facts.values import argument_of
from torchlint.project.index import Project

_LEGACY = VersionRange.parse("<1.9")
"""The releases of torch whose workers all draw the same numbers from NumPy."""
_LOADERS = Extract("loaders", tuple[Loader, ...], lambda facts, _: tuple(worker_loaders(facts)))
"""Those of a file, by the class of their dataset."""


def _judge(draft: Draft, project: Project) -> Draft | None:
    """It takes a loader with workers, in any file of the project."""
    loader = _loader_with_workers(draft, project)
    if loader is None or (loader.is_persistent and loader.workers == 1):
        return None
    place = Related(loader.location, "the loader whose workers copy it")
    message = "persistent" if loader.is_persistent else "alone" if loader.workers == 1 else "default"
    return replace(draft, message=message, related=(*draft.related, place))


def _loader_with_workers(draft: Draft, project: Project) -> Loader | None:
    """Of the loaders of the classes that a draft names the one with most workers, best those that live for an epoch."""
    classes = draft.values["classes"].split("|")
    every = (loader for _, summary in sorted(project.summaries.items()) for loader in _LOADERS.of(summary))
    own = (loader for loader in every if loader.dataset in classes)
    return max(own, key=lambda loader: (not loader.is_persistent, loader.workers), default=None)


@check(codes=("TL307",), triggers=Triggers(sites=sites_of(item_draws)), judge=_judge, asks=(_LOADERS,))
def find(visit: Visit) -> Iterator[Finding]:
    """The first draw in `__getitem__` from a generator that existed before the workers."""
    draw = visit.facts.cached(item_draws).get(id(visit.statement))
    if draw is not None and draw.site.node is visit.call:
        generator = ast.unparse(draw.generator)
        values = {"generator": generator, "classes": "|".join(draw.classes)}
        yield Finding("TL307", visit.node, values, related=((draw.made, f"`{generator}` is made here"),))


def _judge_legacy(draft: Draft, project: Project) -> Draft | None:
    """Only for a project whose requirements admit nothing newer; a single worker repeats nobody."""
    target = project.target_for(draft.path)
    if not target.pinned or any(release not in _LEGACY for release in target.releases):
        return None
    loader = _loader_with_workers(draft, project)
    if loader is None or loader.workers == 1:
        return None
    place = Related(loader.location, "the loader whose workers repeat each other")
    return replace(draft, values={**draft.values, **target.words}, related=(*draft.related, place))


@check(codes=("TL308",), triggers=Triggers(sites=sites_of(global_draws)), judge=_judge_legacy, asks=(_LOADERS,))
def legacy(visit: Visit) -> Iterator[Finding]:
    """The first draw of a dataset's `__getitem__` from NumPy's global generator."""
    draw = visit.facts.cached(global_draws).get(id(visit.statement))
    if draw is not None and draw.site.node is visit.call:
        values = {"spelling": ast.unparse(visit.call.func), "classes": "|".join(draw.classes)}
        yield Finding("TL308", visit.node, values)


def _seeding(facts: FileFacts) -> Iterator[CallSite]:
    calls = {*facts.cached(worker_seeds), *facts.cached(calls_in_place)}
    return (site for site in facts.symbols.calls if site.node in calls) if calls else iter(())


@check(codes=("TL306",), triggers=Triggers(sites=_seeding))
def constant_seed(visit: Visit) -> Iterator[Finding]:
    """The call that seeds all workers alike; the one whose result a loader gets."""
    seed = visit.facts.cached(worker_seeds).get(visit.call)
    if seed is not None:
        related = () if seed.init is None else ((seed.init.node, "the loader whose workers run it"),)
        confidence = Confidence.MEDIUM if seed.init is None else None
        yield Finding("TL306", visit.node, {"spelling": spelling_of(visit)}, confidence=confidence, related=related)
    called = visit.facts.cached(calls_in_place).get(visit.call)
    if called is not None:
        given = argument_of(visit.call, "worker_init_fn", 10) or visit.call
        yield Finding("TL306", given, {"spelling": shortened(ast.unparse(called))}, "called")
