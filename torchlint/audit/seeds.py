"""Seeds: which library's generator is seeded, which is drawn from, and which only perhaps."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import replace

from torchlint.audit.material import Material, counted, headline, listed
from torchlint.audit.page import Light, Line, Section, Spot
from torchlint.checks.framework.visit import shortened
from torchlint.diagnostics import Location
from torchlint.facts.accelerators import GPUS
from torchlint.facts.notation import Symbol
from torchlint.facts.randomness.draws import Draw
from torchlint.facts.randomness.seeding import SeedCall
from torchlint.project.certainty import Certainty
from torchlint.project.fresh_processes import unseeded_processes, worker_draws
from torchlint.project.late_seeds import SeedOrder
from torchlint.project.options import why_never

_UNSEEDED = "TL301"
CODES = frozenset({_UNSEEDED, "TL302", "TL303", "TL305", "TL311"})
_NAMES = {"torch": "torch", "numpy": "numpy.random", "random": "random"}
_SEEDING = {"torch": "torch.manual_seed(0)", "numpy": "numpy.random.seed(0)", "random": "random.seed(0)"}
_SAID = {Light.RED: "not seeded", Light.AMBER: "perhaps not seeded", Light.GREEN: "seeded"}
_CUDA = "torch.cuda"


def seeds_section(material: Material) -> Section:
    generators = list(_Generators(material).lines())
    found = material.lines_of(CODES - {_UNSEEDED})
    lines = [*generators, *found]
    return Section(
        key="seeds",
        title="Seeds",
        headline=headline(found, _headline(generators)),
        lines=tuple(lines),
        looked_for="Calls that seed the global generators or draw from them. A seed under an `if` counts, "
        "unless the file's own values or the defaults of options keep it from running; it is green where every test on "
        "one way to it is decided. Private generators of a "
        "library are not seen.",
    )


def _headline(lines: Sequence[Line]) -> str:
    for light, words in _SAID.items():
        labels = [line.label for line in lines if line.light is light]
        if labels:
            return f"{listed(labels)} {words}"
    return "no draw seen"


def seeding_advice(generator: str) -> str:
    return f"Seed it at the start, before the first draw: `{_SEEDING[generator]}`."


class _Generators:
    """One line for each generator."""

    def __init__(self, material: Material) -> None:
        self._material = material
        project, program = material.project, material.program
        self._randomness = project.randomness_of(program)
        self._known = {call for entry in project.catalogue.randomness.seeder for call in entry.calls}
        sure = self._randomness.seeds
        self._possible = [seed for seed in self._randomness.possible_seeds if seed not in sure]
        processes = unseeded_processes(program, project)
        self._unseeded_in_processes = {draw.generator for process in processes for draw in process.unseeded}
        self._worker = next(worker_draws(program, project), None)
        self._certainty = Certainty(program, project)
        self._order = SeedOrder(project.programs.calls, project.summaries, project.call_details, (), counts_values=True)
        self._finding = next(iter(material.findings({_UNSEEDED})), None)

    def lines(self) -> Iterator[Line]:
        for generator in _NAMES:
            line = self._line(generator)
            is_advised = line.advice or line.light is not Light.AMBER
            yield line if is_advised else replace(line, advice=seeding_advice(generator))
        if not GPUS.isdisjoint(self._material.devices):
            yield from self._cuda()

    def _line(self, generator: str) -> Line:
        draw = next((draw for draw in self._randomness.draws if draw.generator == generator), None)
        seeds = [seed for seed in self._randomness.seeds if generator in seed.generators]
        sure = [seed for seed in seeds if seed.name in self._known]
        perhaps = seeds or [seed for seed in self._possible if generator in seed.generators]
        label = _NAMES[generator]
        if generator == "random" and self._worker is not None:
            text = f"seeded by {_callers(sure)}, but `{self._worker.edge.worker}` draws in workers, which seed it anew"
            light = Light.AMBER if self._worker.edge.is_cached else Light.RED
            return self._told(label, text, light, self._places(sure, self._worker.draw))
        if draw is None:
            return self._undrawn(label, seeds)
        if sure and generator in self._unseeded_in_processes:
            text = f"seeded by {_callers(sure)} in the first process only"
            return self._told(label, text, Light.RED, self._places(sure, draw))
        if sure and draw in self._randomness.seeded_on_demand:
            text = f"seeded by {_callers(sure)} only where an option is given"
            return self._told(label, text, Light.AMBER, self._places(sure, draw))
        if sure:
            return self._seeded(label, sure, draw)
        if perhaps:
            where = "torchlint cannot read this code" if seeds else "this code may not run"
            text = f"the program draws from it; perhaps seeded by {_callers(perhaps)} ({where})"
            return Line(label, text, Light.AMBER, self._places(perhaps, draw))
        return self._unseeded(label, draw)

    def _told(self, label: str, text: str, light: Light, spots: tuple[Spot, ...]) -> Line:
        """What a finding says as well."""
        finding = self._finding
        if finding is None:
            return Line(label, text, Light.AMBER, spots)
        return Line(label, text, light, spots, finding.code, finding.url, finding.advice)

    def _seeded(self, label: str, seeds: Sequence[SeedCall], draw: Draw) -> Line:
        """No tick where a finding below is about one of these seeds."""
        text, spots = f"seeded by {_callers(seeds)}", self._places(seeds, draw)
        tests = [self._certainty.open_test(seed.path, seed.symbol, seed.place.location) for seed in seeds]
        if all(tests):
            test = next(one for one in tests if one is not None)
            text += f" if `{shortened(test.text)}`, which the code does not tell"
            asked = [replace(spot, note="decides") for spot in self._material.spots([test.location])]
            advice = "Seed on every way, before the first draw."
            return Line(label, text, Light.AMBER, (*spots, *asked), advice=advice)
        placed = {_line_of(seed.place.location) for seed in seeds}
        findings = self._material.findings(CODES - {_UNSEEDED})
        about = next((one for one in findings if _line_of(one.location) in placed), None)
        if about is not None:
            return Line(label, f"{text}; see {about.name}", spots=spots)
        early = self._early(draw.generator, seeds)
        if early is None:
            return Line(label, text, Light.GREEN, spots)
        why, spot = early
        return Line(label, f"{text}; {why}", Light.AMBER, (*spots, spot), advice=seeding_advice(draw.generator))

    def _early(self, generator: str, seeds: Sequence[SeedCall]) -> tuple[str, Spot] | None:
        """A draw that comes, or may come, before the first seed, and why."""
        late = self._order.late_of(self._material.program, generator)
        if late is not None:
            return "it is drawn from before", Spot(
                late.draw.place.location, late.draw.place.source_line, "draws before"
            )
        draw = self._drawn_at_import(generator, seeds)
        if draw is None:
            return None
        why = "a file draws from it where it is imported, which may be before"
        return why, Spot(draw.place.location, draw.place.source_line, "draws at the import")

    def _drawn_at_import(self, generator: str, seeds: Sequence[SeedCall]) -> Draw | None:
        """The first draw of a generator that runs where a file is imported, unless it is seeded there as well."""
        at_import = self._at_import
        if any((seed.path, seed.symbol) in at_import for seed in seeds):
            return None
        drawn = (draw for summary in self._material.summaries for draw in summary.draws if draw.generator == generator)
        return next((draw for draw in drawn if (draw.path, draw.symbol) in at_import), None)

    @functools.cached_property
    def _at_import(self) -> frozenset[Symbol]:
        """What the bodies of the imported files run."""
        program = self._material.program
        is_body = not program.entry.symbol  # else the body of its own file runs before
        bodies = [(path, "") for path in sorted(program.files) if path != program.path or not is_body]
        return self._material.project.programs.calls.run(bodies)

    def _undrawn(self, label: str, seeds: Sequence[SeedCall]) -> Line:
        """No draw is no good news of a program that trains: it makes its model somewhere."""
        loaded = next((one for one in self._randomness.worker_draws if _NAMES.get(one.generator) == label), None)
        if loaded is not None and not seeds:
            text = "drawn only in what data loaders run, and torch seeds their workers"
            return Line(label, text, spots=self._places((), loaded))
        if seeds:
            return Line(label, f"no draw seen; seeded by {_callers(seeds)}", spots=self._places(seeds))
        hidden = [draw for one in self._material.summaries for draw in one.draws if _NAMES.get(draw.generator) == label]
        if hidden:
            text = "drawn from in code that may not run, and nothing seeds it"
            return Line(label, text, Light.AMBER, self._places((), hidden[0]))
        if label == "torch" and self._randomness.training is not None and not self._possible:
            return Line(label, "no seed; the draws of this training were not seen", Light.AMBER)
        return Line(label, "no draw and no seed seen")

    def _unseeded(self, label: str, draw: Draw) -> Line:
        spots, finding = self._places((), draw), self._finding
        text = "the program draws from it, and nothing seeds it" + self._idle(draw.generator)
        saved = self._material.project.saved_by(self._material.program)
        counts = {one.draw.generator for one in self._randomness.unseeded_among(saved)}
        if finding is not None and (self._randomness.training is not None or draw.generator in counts):
            return Line(label, text, Light.RED, spots, finding.code, finding.url, finding.advice)
        why = "" if self._randomness.training is not None else "; no training with these draws was seen, and no saving"
        return Line(label, text + why, Light.AMBER, spots)

    def _idle(self, generator: str) -> str:
        """What would seed it, and why that does not run."""
        project, program = self._material.project, self._material.program
        idle = (seed for seed in self._randomness.idle_seeds if generator in seed.generators)
        told = ((seed, why_never(program, project, seed)) for seed in idle)
        return next((f"; `{seed.name}` does not run, since {why}" for seed, why in told if why), "")

    def _cuda(self) -> Iterator[Line]:
        """`torch.manual_seed` seeds the generators of CUDA as well; the other way round it does not hold."""
        own = [seed for seed in self._randomness.seeds if _CUDA in seed.generators]
        common = [seed for seed in self._randomness.seeds if "torch" in seed.generators]
        if common:
            yield Line(_CUDA, f"seeded together with torch by {_callers(common)}", spots=self._places(own))
        elif own:
            text = "only CUDA is seeded; draws on the CPU, such as initial weights, are not"
            yield Line(_CUDA, text, Light.AMBER, self._places(own), advice=seeding_advice("torch"))

    def _places(self, seeds: Sequence[SeedCall], draw: Draw | None = None) -> tuple[Spot, ...]:
        found = [Spot(seed.place.location, seed.place.source_line, "seeds") for seed in seeds]
        if draw is not None:
            found.append(Spot(draw.place.location, draw.place.source_line, "first draw"))
        return tuple(found)


def _line_of(location: Location) -> tuple[str, int | None, int]:
    return location.path, location.cell, location.line


def _callers(seeds: Sequence[SeedCall]) -> str:
    names = list(dict.fromkeys(f"`{seed.name}`" for seed in seeds))
    more = len(seeds) - len(names)
    return listed(names, 2) + (f" ({counted(len(seeds), 'call')})" if more else "")
