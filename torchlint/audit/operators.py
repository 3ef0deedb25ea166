"""Operators: those whose results vary, by what the program's determinism mode makes of them, and those that explain."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from torchlint.audit.material import Material, counted, headline, listed
from torchlint.audit.page import Light, Line, Section
from torchlint.catalogue.registry import Operator
from torchlint.catalogue.versions import FIRST_WITH_MODE, format_minor
from torchlint.catalogue.wording import DEVICE_NAMES, what_to_do
from torchlint.diagnostics import Diagnostic, Location, Severity
from torchlint.facts.context_operators import CONTEXT
from torchlint.facts.modes import Mode
from torchlint.project.switches import options_for, setting_of

_STATUS = {
    "raises_on": "raises: the determinism mode is on",
    "warn_only_raises": "{varies}, although the mode is on: it only warns",
    "raises": "{varies}; the mode would raise here",
    "alternative": "{varies}; the mode has a deterministic kernel",
    "silent": "{varies}, also with the mode on",
    "no_mode": "{varies}, and this torch has no determinism mode",
    "default": "{varies}",
}
"""What becomes of an operator, by the variant of its message."""
_CUBLAS = "CUBLAS_WORKSPACE_CONFIG"
_OLDER = "_older"


def codes_of(material: Material) -> frozenset[str]:
    return frozenset(code for code in material.project.catalogue.rules if code.startswith("TL1"))


def operators_section(material: Material) -> Section:
    return _section(material, list(_context(material)))


def reported_section(material: Material) -> Section:
    """Without the operators that explain: what they mean hangs on the program around them."""
    return _section(material, [])


def _section(material: Material, context: Sequence[Line]) -> Section:
    reported = sorted(_reported(material), key=lambda line: -(line.light or Light.GREEN))
    reported += _open(material)
    return Section(
        key="operators",
        title="Operators",
        headline=headline([*reported, *context]),
        lines=(*reported, *context),
        looked_for=f"Calls of the operators that torchlint knows to vary, in {material.files} that the program loads. "
        "It is not known whether each call runs, and on which device. Convolutions, matrix products and similar "
        "operators count only in code that the program is known to run.",
    )


def _reported(material: Material) -> Iterator[Line]:
    """One line for each operator and what becomes of it."""
    groups: dict[tuple[bool, bool, str, tuple[str, ...], str], list[Diagnostic]] = {}
    for found in material.suspicions(codes_of(material)):
        variant = found.variant if found.operators else found.message
        groups.setdefault((*material.doubts(found), found.code, found.operators, variant), []).append(found)
    ordered = sorted(groups.items(), key=lambda item: (item[0][:2], -max(one.severity for one in item[1]), item[0]))
    for (_, _, _, operators, variant), group in ordered:
        if not operators:
            yield material.line_of(group)
            continue
        known = [material.project.catalogue.operator(identity) for identity in operators]
        line = material.line_of(
            group, label=known[0].title if len(known) == 1 else group[0].name, text=_status(variant, group)
        )
        if not material.trains and all(operator.direction == "backward" for operator in known):
            text = f"only in its backward pass, and no training was seen: {line.text}"
            line = dataclasses.replace(line, text=text, light=Light.AMBER)
        yield line


def _open(material: Material) -> Iterator[Line]:
    """One line for the calls that one setting decides, wherever they stand, and one for the rest of each rule.

    Rules that leave the same calls open share a line.
    """
    found = material.open_points(codes_of(material))
    shared = Counter((one.code, _setting(one)) for one in found)
    groups: dict[tuple[str, str], list[Diagnostic]] = {}
    for one in found:
        setting, _ = _setting(one)
        is_shared = setting and shared[one.code, _setting(one)] > 1
        text = f"it varies for some values, and {setting}" if is_shared else one.message
        groups.setdefault((one.code, text), []).append(one)
    by_place: dict[tuple[str, frozenset[Location]], list[list[Diagnostic]]] = {}
    for (_, text), group in sorted(groups.items()):
        by_place.setdefault((text, frozenset(one.location for one in group)), []).append(group)
    for (text, places), same in by_place.items():
        names = listed([group[0].name for group in same], 3)
        yield material.open_line(same[0], names, f"{counted(len(places), 'call')}: {text}")


def _setting(point: Diagnostic) -> tuple[str, str]:
    """What decides an open point, and the file that says so: "`mode` comes from `cfg.mode`"."""
    return (point.related[0].message, point.related[0].location.path) if point.related else ("", "")


def _status(variant: str, group: list[Diagnostic]) -> str:
    varies = "varies" if any(one.severity >= Severity.WARNING for one in group) else "may vary"
    words = _STATUS.get(variant.removesuffix(_OLDER), _STATUS["default"]).format(varies=varies)
    times = f" ({len(group)} places)" if len(group) > 1 else ""
    return f"{words}{', on older releases that are allowed' if variant.endswith(_OLDER) else ''}{times}"


@dataclass(frozen=True, slots=True)
class _Use:
    """A context operator and the calls that reach it."""

    operator: Operator
    places: tuple[Location, ...]


def _context(material: Material) -> Iterator[Line]:
    """Convolutions, matrix products, recurrent layers: no findings by themselves, but the program stands on them."""
    places: dict[str, list[Location]] = {}
    for summary in material.summaries:
        for one in CONTEXT.of(summary):
            if material.is_run(one.location):
                places.setdefault(one.operator, []).append(one.location)
    for identity, found in sorted(places.items()):
        use = _Use(material.project.catalogue.operator(identity), tuple(found))
        told = _told(material, use)
        if told is not None:
            text, light = told
            yield Line(
                label=use.operator.title,
                text=f"{text} ({counted(len(found), 'call')})",
                light=light,
                spots=material.spots(sorted(found)),
                advice=what_to_do(use.operator) if light is Light.AMBER else "",
            )


def _told(material: Material, use: _Use) -> tuple[str, Light | None] | None:
    """What holds for the newest admitted torch on the first device on which it can vary."""
    project = material.project
    mode = project.mode_for(material.program.path).mode
    newest = project.target_for(material.program.path).newest
    for device in material.devices:
        row = use.operator.row_for(device, newest)
        if row is None or row.under_mode == "always_deterministic":
            continue
        where = DEVICE_NAMES[device]
        if any(project.sets_variable(name, values) for name, values in use.operator.unless_set.items()):
            return f"does not vary on {where} with these environment variables", None
        if newest < FIRST_WITH_MODE:
            return f"may vary on {where}, and torch {format_minor(newest)} has no determinism mode", Light.AMBER
        if row.under_mode == "silent_nondeterministic":
            return f"may vary on {where}, also with the mode on", Light.AMBER
        if mode in (Mode.OFF, Mode.OPTIONAL):
            return _without_mode(material, use, where)
        if mode is Mode.WARN_ONLY and row.under_warn_only == "silent_nondeterministic":
            return f"may vary on {where}, although the mode is on: it only warns", Light.AMBER
        if row.under_mode == "raises" and _CUBLAS not in use.operator.condition.text:
            return f"raises on {where}: the mode is on", Light.AMBER
        if row.under_mode == "raises":
            return f"needs {_CUBLAS} on {where}: see Environment", None
        return f"deterministic kernels on {where}: the mode is on", Light.GREEN
    return None


def _without_mode(material: Material, use: _Use, where: str) -> tuple[str, Light | None]:
    for name, value in use.operator.unless_switched.items():
        setting, short = setting_of(name, material.program, material.project), name.removeprefix("torch.backends.")
        if setting is value:
            return f"deterministic kernels on {where}: {short} = {value}", None
        if setting is ...:
            return f"deterministic kernels on {where} where {short} = {value}, which is decided at run time", None
        for one in options_for(name, value, material.program, material.project):
            return f"may vary on {where}: {short} = {value} only where `{one.option}` is given", Light.AMBER
    return f"may vary on {where} while the mode is off", Light.AMBER
