"""The order of data, the workers that load it, and randomness beside the shared generators."""

from __future__ import annotations

from collections.abc import Iterator

from torchlint.audit.material import Material, counted, headline
from torchlint.audit.page import Light, Line, Section
from torchlint.diagnostics import Location
from torchlint.facts.data_loading.loaders import Where
from torchlint.project.environments import environments_of

WORKER_CODES = frozenset({"TL306", "TL307", "TL308"})
RESTART_CODES = frozenset({"TL313"})
_SHOWN = 5
"""Data loaders shown of one kind."""
_LOADING = {
    Where.MAIN_PROCESS: "in the main process, without workers",
    Where.WORKERS: "in worker processes, which torch seeds from its own generator",
    Where.UNKNOWN: "number of workers decided at run time; another number may draw other values",
}


def codes_under(material: Material, *prefixes: str) -> frozenset[str]:
    return frozenset(code for code in material.project.catalogue.rules if code.startswith(prefixes))


def order_section(material: Material) -> Section:
    lines = material.lines_of(codes_under(material, "TL4"))
    return Section(
        key="order",
        title="Data order",
        headline=headline(lines),
        lines=tuple(lines),
        looked_for="Directory listings, sets, hashes and finished jobs whose order decides something. The order of "
        "records inside a file, or inside a library's data set, is not seen.",
    )


def workers_section(material: Material) -> Section:
    loaders = _loaders(material)
    count = sum(map(len, loaders.values()))
    lines = material.lines_of(WORKER_CODES | codes_under(material, "TL5"))
    for where, text in _LOADING.items():
        if where in loaders:
            places = sorted(loaders[where])
            lines.append(Line(counted(len(places), "loader"), text, spots=material.spots(places[:_SHOWN])))
    return Section(
        key="workers",
        title="Workers",
        headline=headline(lines, counted(count, "data loader") if count else "no data loader seen"),
        lines=tuple(lines),
        looked_for="`torch.utils.data.DataLoader`, what its workers seed and draw, and replicas and processes that "
        "share a model. Loaders that a library makes are not seen.",
    )


def _loaders(material: Material) -> dict[Where, list[Location]]:
    """Where data loaders are made in code that may run, by where they load."""
    found: dict[Where, list[Location]] = {}
    for summary in material.summaries:
        for loader in summary.workers:
            if material.is_run(loader.location):
                found.setdefault(loader.where, []).append(loader.location)
    return found


def randomness_section(material: Material, seed_codes: frozenset[str]) -> Section:
    codes = codes_under(material, "TL3") - WORKER_CODES - RESTART_CODES - seed_codes
    lines = [*material.lines_of(codes), *_environments(material)]
    return Section(
        key="randomness",
        title="Other randomness",
        headline=headline(lines),
        lines=tuple(lines),
        looked_for="Generator objects without a seed, and what the other rules on randomness look for.",
    )


def _environments(material: Material) -> Iterator[Line]:
    """Environments that no call is seen to seed, where no finding speaks of them."""
    project = material.project
    found = environments_of(material.program, project.programs.calls, project.summaries)
    if found.doubtful and not material.findings({"TL312"}):
        text = "made here, and nothing is seen to seed it: where it starts, and what it does by chance, may differ"
        advice = "Reset it with a seed once: `env.reset(seed=0)`, and `env.action_space.seed(0)`."
        spots = material.spots(call.place.location for call in found.doubtful)
        yield Line("environment", text, Light.AMBER, spots, advice=advice)


def restarts_section(material: Material) -> Section:
    lines = material.lines_of(RESTART_CODES)
    return Section(
        key="restarts",
        title="Restarts",
        headline=headline(lines, "no state is loaded"),
        lines=tuple(lines),
        looked_for="Calls that load a state where the program may train, and whether the optimizer, the loss scale and "
        "the random generators are saved and restored as well. What a library's trainer restores is not seen.",
    )


def own_rules_section(material: Material) -> Section | None:
    """What the project's own rules found; no section where there are no such rules."""
    rules = material.project.catalogue.rules
    codes = frozenset(code for code in rules if not code.startswith("TL")) & material.project.settings.selected
    if not codes:
        return None
    lines = material.lines_of(codes)
    return Section(
        key="own",
        title="Own rules",
        headline=headline(lines),
        lines=tuple(lines),
        looked_for="The rules that the project's configuration adds.",
    )
