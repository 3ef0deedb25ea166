"""The page of files that no program's page covers: tools that prepare data, and code that is loaded out of sight."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from torchlint.audit.data import order_section, randomness_section, restarts_section, workers_section
from torchlint.audit.material import Material, counted, headline
from torchlint.audit.operators import reported_section
from torchlint.audit.page import Light, Line, Page, Section, Spot, Subject
from torchlint.audit.seeds import CODES as SEED_CODES
from torchlint.audit.seeds import seeding_advice
from torchlint.audit.settling import ranked, settled
from torchlint.facts.entries import Entry, EntryKind, is_example, is_test
from torchlint.facts.file import MAIN
from torchlint.project.index import Project
from torchlint.project.programs import Program
from torchlint.project.shown import shown_path

NAME = "files that no program is seen to run"
_UNSEEN = (
    "Whether and when these files run, and what seeds before they do. They may be loaded by a name that is built at "
    "run time, or be tools that are started by hand."
)
_SHOWN = 5
"""Places of draws that are shown."""


def unreached_among(project: Project, programs: Iterable[Program], asked: Collection[str]) -> Program | None:
    """Files beside the programs, as one program that may run all of their code; None where there are none."""
    reached = {path for program in programs for path in program.files}
    files = sorted(path for path in asked if path not in reached and not is_test(path))
    summaries = [project.summaries[path] for path in files if path in project.summaries]
    if not summaries or not project.has_torch:
        return None
    symbols = ((one.path, symbol) for one in summaries for symbol in (*one.functions, "", MAIN))
    entry = Entry(EntryKind.SCRIPT, "", summaries[0].start)
    return Program(files[0], entry, frozenset(symbols), frozenset(files))


def unreached_page(material: Material) -> Page | None:
    """What was found and left open in the files; None where that is nothing."""
    sections = settled((one for one in _sections(material) if one.light is not Light.GREEN), material, "")
    told = {_spot_path(spot) for section in sections for line in section.lines for spot in line.spots}
    if not told:
        return None
    start = material.program.entry
    return Page(
        subject=Subject(
            name=NAME,
            kind=counted(len(told), "file"),
            start=material.sources.spot(start.place.location, start.place.source_line),
            trains=None,
            torch=str(material.project.target_for(material.program.path)),
            devices=material.devices or ("cpu",),
            files=tuple(shown_path(material.project.root, path) for path in sorted(material.program.files)),
            is_example=all(is_example(path) for path in material.program.files),
        ),
        sections=sections,
        unseen=(_UNSEEN,),
        ranked=ranked(sections),
    )


def _sections(material: Material) -> Iterator[Section]:
    yield _draws(material)
    unread = material.lines_of({"TL001"})
    yield Section("unread", "Unread files", headline(unread), tuple(unread), "Files that torchlint could not parse.")
    yield reported_section(material)
    yield order_section(material)
    yield workers_section(material)
    yield restarts_section(material)
    yield randomness_section(material, SEED_CODES)


def _spot_path(spot: Spot) -> str:
    return spot.location.path


def _draws(material: Material) -> Section:
    """Draws of code of which nobody knows what seeds it."""
    lines = list(_lines_of_draws(material))
    found = material.lines_of(SEED_CODES - {"TL301"})
    return Section(
        key="seeds",
        title="Seeds",
        headline=headline([*found, *lines]),
        lines=(*found, *lines),
        looked_for="Draws from the global generators, and calls that seed them.",
    )


def _lines_of_draws(material: Material) -> Iterator[Line]:
    for generator in ("torch", "numpy", "random"):
        draws = [draw for summary in material.summaries for draw in summary.draws if draw.generator == generator]
        if draws:
            spots = tuple(Spot(draw.place.location, draw.place.source_line, "draws") for draw in draws[:_SHOWN])
            text = f"drawn from in {counted(len(draws), 'place')}, and no program is seen to seed it before"
            yield Line(generator, text, Light.AMBER, spots, advice=seeding_advice(generator))
