"""What a program runs under: the determinism mode, switches, environment variables and the target torch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePosixPath

from torchlint.audit.material import NOT_RUN, Material, headline, listed
from torchlint.audit.page import Light, Line, Section, Spot
from torchlint.audit.unseen import packages_of
from torchlint.catalogue.versions import VersionRange, format_minor
from torchlint.checks.framework.programs import varying_kernels
from torchlint.checks.framework.visit import shortened
from torchlint.diagnostics import Location
from torchlint.facts.context_operators import CONTEXT
from torchlint.facts.entries import is_test
from torchlint.facts.environment import EnvironmentWrite
from torchlint.facts.modes import Mode
from torchlint.project.certainty import Certainty
from torchlint.project.options import fails_by_default
from torchlint.project.shown import shown_path
from torchlint.project.switches import options_for_mode

_MODE_CODES = frozenset({"TL210", "TL213"})
"""Findings that say that the mode is off: one line says it, with their words."""
_COVERS_LESS = frozenset({"TL208"})
SWITCH_CODES = frozenset({"TL201", "TL202", "TL203", "TL207", "TL209", "TL212"})
ENVIRONMENT_CODES = frozenset({"TL204", "TL205", "TL206", "TL211"})
MODE_CODES = _MODE_CODES | _COVERS_LESS

CUBLAS = "CUBLAS_WORKSPACE_CONFIG"
_HASH_SEED = "PYTHONHASHSEED"
_TIMED = "cudnn.benchmark"
"""The switch that lets timing choose: its value is open wherever it is not False and no finding speaks of it."""
_STEADY = "Set it to False where runs must agree."
_ON_EVERY_WAY = "Turn it on on every way, before the model is made."
_HASH_CODES = frozenset({"TL402", "TL403"})
ASKS_FOR_CUBLAS = VersionRange.parse("<2.10")
_MODES = {
    Mode.ON: ("on", Light.GREEN),
    Mode.WARN_ONLY: ("on, but it only warns", Light.AMBER),
    Mode.OPTIONAL: ("depends on an option", Light.AMBER),
    Mode.OFF: ("off", Light.AMBER),
}


def mode_section(material: Material) -> Section:
    own = _mode_line(material)
    return Section(
        key="mode",
        title="Determinism mode",
        headline=_MODES[material.project.mode_for(material.program.path).mode][0],
        lines=(own, *_elsewhere(material), *material.lines_of(_COVERS_LESS)),
        looked_for="Calls of `torch.use_deterministic_algorithms`, and of library functions and trainers that call it, "
        "if the program reaches them.",
    )


def _mode_line(material: Material) -> Line:
    project = material.project
    verdict = project.mode_for(material.program.path)
    words, light = _MODES[verdict.mode]
    if project.settings.assume_deterministic:
        return Line("mode", f"{words}, as `--assume deterministic` asks", light)
    if project.settings.determinism is not None:
        return Line("mode", f"{words}, says the configuration", light)
    if verdict.mode is Mode.OFF and not material.devices:
        return Line("mode", f"{words}: no code was seen that runs on CUDA, MPS or XPU")
    found = material.findings(_MODE_CODES)
    demanded = options_for_mode(material.program, project) if project.leaves_mode_off(material.program) else []
    if demanded:
        text, places = f"off unless `{demanded[0].option}` is given", [one.location for one in demanded]
        line = Line("mode", text, Light.AMBER, material.spots(places))
        told = found[0] if found else None
        return replace(line, code=told.code, url=told.url, advice=told.advice) if told is not None else line
    if verdict.mode is Mode.OFF and found:
        spots = tuple(material.sources.spot(related.location) for related in found[0].related)
        notes = [related.message.rpartition("` ")[2] for related in found[0].related]
        placed = tuple(Spot(s.location, s.source_line, note) for s, note in zip(spots, notes, strict=True))
        trains = (
            "seeds and trains" if any(note.startswith("seeds") for note in notes) else "trains with kernels that vary"
        )
        text = f"{words}, although the program {trains}"
        return Line("mode", text, light, placed, found[0].code, found[0].url, found[0].advice)
    if verdict.place is None and not varying_kernels(material.program, project):
        unread = sorted(packages_of(material) - set(project.catalogue.devices.plain_libraries))
        if unread and material.trains:
            text = f"{words}; which kernels {listed(unread)} {'runs' if len(unread) == 1 else 'run'} was not read"
            return Line("mode", text, light, advice=project.catalogue.rules["TL210"].advice["default"])
        if material.trains and not any(CONTEXT.of(one) for one in material.summaries):
            text = f"{words}; no layer of what is trained was seen, so its kernels may vary"
            return Line("mode", text, light, advice=project.catalogue.rules["TL210"].advice["default"])
        return Line("mode", f"{words}, and the program reaches no code that is known to depend on it", None)
    if verdict.place is None:
        text = f"{words}: nothing that the program reaches turns it on"
        return Line("mode", text, light, advice=project.catalogue.rules["TL210"].advice["default"])
    advice = "Leave `warn_only` out." if verdict.mode is Mode.WARN_ONLY else ""
    return _unless_open(Line("mode", words, light, material.spots([verdict.place]), advice=advice), material)


def _unless_open(line: Line, material: Material) -> Line:
    """No tick where a test that the code does not decide stands before the call that turns the mode on."""
    places = {spot.location for spot in line.spots}
    calls = [(one.path, call) for one in material.summaries for call in one.modes if call.location in places]
    certainty = Certainty(material.program, material.project)
    test = next((certainty.open_test(path, call.symbol, call.location) for path, call in calls), None)
    if line.light is not Light.GREEN or test is None:
        return line
    text = f"{line.text} if `{shortened(test.text)}`, which the code does not tell"
    return Line("mode", text, Light.AMBER, (*line.spots, *material.spots([test.location])), advice=_ON_EVERY_WAY)


def _elsewhere(material: Material) -> Iterator[Line]:
    """Where the mode is off and code that the program is not seen to reach turns it on."""
    project, reached = material.project, material.program.reached
    if project.settings.assume_deterministic or project.settings.determinism is not None:
        return
    if project.mode_for(material.program.path).mode is not Mode.OFF:
        return
    places = [
        call.location
        for path, summary in sorted(project.summaries.items())
        if not is_test(path)
        for call in summary.modes
        if call.mode in (Mode.ON, Mode.WARN_ONLY) and (path, call.symbol) not in reached
    ]
    if places:
        yield Line("elsewhere", "turned on in code that this program may not run", None, material.spots(places))


def switches_section(material: Material) -> Section:
    found = material.lines_of(SWITCH_CODES)
    written = list(
        _written(material, {(s.location.path, s.location.cell, s.location.line) for f in found for s in f.spots})
    )
    lines = [*found, *written]
    names = dict.fromkeys(line.label for line in written if NOT_RUN not in line.text)
    fallback = f"{listed(list(names), 2)} set" if names else "none set"
    return Section(
        key="switches",
        title="Switches",
        headline=headline(lines, fallback),
        lines=tuple(lines),
        looked_for="Assignments to torch's switches, compared with the switches of each release. Switches that a "
        "library sets internally are not seen.",
    )


def _written(material: Material, reported: set[tuple[str, int | None, int]]) -> Iterator[Line]:
    """Every switch that the program's files set, beside those that a finding speaks of."""
    by_name: dict[tuple[str, str], list[Location]] = {}
    project = material.project
    for summary in material.summaries:
        for write in summary.switches:
            place = write.location
            if (place.path, place.cell, place.line) not in reported:
                value = write.value or "decided at run time"
                lacking = fails_by_default(write.demands, summary.path, material.program, project)
                value += f", only where `{lacking.option}` is given" if lacking is not None and lacking.option else ""
                value += "" if material.is_run(write.location) else f", {NOT_RUN}"
                by_name.setdefault((write.name.removeprefix("torch.backends."), value), []).append(write.location)
    for (name, value), places in sorted(by_name.items()):
        light = Light.AMBER if name == _TIMED and not value.startswith("False") else None
        yield Line(name, value, light, material.spots(places), advice=_STEADY if light else "")


def environment_section(material: Material) -> Section:
    found = material.lines_of(ENVIRONMENT_CODES)
    lines = [*found, *_variables(material, {line.code for line in found})]
    seen = [line.label for line in lines if line.light is None and line.spots]
    return Section(
        key="environment",
        title="Environment",
        headline=headline(lines, f"{listed(seen, 1)} set" if seen else ""),
        lines=tuple(lines),
        looked_for="Variables set in the program's Python files, and in the project's shell scripts, Dockerfiles, "
        "Makefiles, `.env` and YAML files. What the machine or the cluster sets is not seen.",
    )


def _variables(material: Material, reported: set[str]) -> Iterator[Line]:
    if "cuda" in material.devices:
        yield _cublas(material, is_reported=bool(reported & {"TL204", "TL205", "TL206"}))
    yield _hash_seed(material, is_reported="TL211" in reported)
    for name in sorted(material.project.catalogue.variables - {CUBLAS, _HASH_SEED}):
        places = _places(material, name)
        if places:
            yield Line(name, _values(material, name), None, places)


def _cublas(material: Material, *, is_reported: bool) -> Line:
    project = material.project
    target = project.target_for(material.program.path)
    places = _places(material, CUBLAS)
    asking = [release for release in target.releases if release in ASKS_FOR_CUBLAS]
    mode = project.mode_for(material.program.path).mode
    value = _values(material, CUBLAS)
    if not asking and target.pinned:
        return Line(CUBLAS, f"{value}; torch {target} does not need it", None, places)
    older = "torch 2.9 and older" if len(asking) != len(target.releases) else f"torch {target}"
    if mode is Mode.OFF:
        return Line(CUBLAS, f"{value}; {older} would need it with the determinism mode on", None, places)
    if is_reported:
        return Line(CUBLAS, f"{value}; needed by {older} under the determinism mode", None, places)
    if places or project.frameworks_set(CUBLAS):
        by = "" if places else ", by the library that turns the mode on"
        return Line(CUBLAS, f"{value if places else 'set'}{by}; needed by {older}", Light.GREEN, places)
    return Line(CUBLAS, f"{value}; {older} needs it when the mode is on", Light.AMBER, places)


def _hash_seed(material: Material, *, is_reported: bool) -> Line:
    places = _places(material, _HASH_SEED)
    value = _values(material, _HASH_SEED)
    if any(not _is_python(spot.location.path) for spot in places):
        return Line(_HASH_SEED, value, None if is_reported else Light.GREEN, places)
    if places:
        return Line(_HASH_SEED, f"{value} while the program runs: too late for its own hashes", None, places)
    if material.findings(_HASH_CODES):
        text = "set nowhere, and an order depends on hashes: see Data order"
        return Line(_HASH_SEED, text, Light.AMBER, advice="Set `PYTHONHASHSEED=0` before Python starts.")
    if material.open_points(_HASH_CODES):
        return Line(_HASH_SEED, "set nowhere; whether an order depends on hashes is left open: see Data order")
    return Line(_HASH_SEED, "set nowhere; no order was found that depends on hashes")


def _writes(material: Material, name: str) -> list[EnvironmentWrite]:
    """In files that the program reaches, and in the project's files that are no Python."""
    own = {summary.start.location.path for summary in material.summaries}
    return [
        write
        for write in material.project.environment
        if write.name == name and (write.location.path in own or not _is_python(write.location.path))
    ]


def _places(material: Material, name: str) -> tuple[Spot, ...]:
    root = material.project.root
    found = []
    for write in _writes(material, name):
        place = write.location
        path = place.path if _is_python(place.path) else shown_path(root, place.path)
        moved = Location(path, place.cell, place.line, place.column, place.end_line, place.end_column)
        found.append(material.sources.spot(moved))
    return tuple(found)


def _values(material: Material, name: str) -> str:
    values = dict.fromkeys(write.value for write in _writes(material, name))
    if not values:
        return "set nowhere"
    shown = [f"`{value}`" if value is not None else "a value known only at run time" for value in values]
    return f"set to {listed(shown)}"


def _is_python(path: str) -> bool:
    return PurePosixPath(path).suffix in (".py", ".pyw", ".ipynb")


def torch_section(material: Material) -> Section:
    target = material.project.target_for(material.program.path)
    count = len(target.releases)
    if not target.declared:
        judged = target.source if target.pinned else f"judged for {format_minor(target.newest)}, the newest release"
        text, light = f"no file of the project names a release; {judged}", Light.AMBER
    elif count == 1:
        text, light = f"{target} ({target.source})", Light.GREEN
    else:
        text = f"{target} ({target.source}): {count} releases, and torch promises equal numbers only within one"
        light = Light.AMBER
    advice = f"Pin one release: `torch=={format_minor(target.newest)}.*`."
    return Section(
        key="torch",
        title="Target torch",
        headline=str(target) if target.pinned else "not pinned",
        lines=(Line("torch", text, light, advice=advice if light is Light.AMBER else ""),),
        looked_for="The configuration, the project's requirement and lock files, then the torch that is installed. "
        "PyTorch does not promise equal numbers across releases.",
    )
