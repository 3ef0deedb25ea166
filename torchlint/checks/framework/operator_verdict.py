"""What the rows of the registry make of an operator's use: the matrix of status and determinism mode.

Judged for the target torch, the project's devices and the mode of the file's programs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec
from msgspec.structs import replace

from torchlint.catalogue.libraries import Library
from torchlint.catalogue.registry import Operator, Row, UnderMode
from torchlint.catalogue.versions import FIRST_WITH_MODE, Minor, format_minor
from torchlint.catalogue.wording import DEVICE_NAMES
from torchlint.checks.framework.asking import handed_over, is_given
from torchlint.checks.framework.drafts import Draft
from torchlint.diagnostics import Confidence, Fix, Severity
from torchlint.facts.accelerators import GPUS
from torchlint.facts.entries import is_measuring
from torchlint.facts.modes import Mode
from torchlint.project.beside_training import gets_into_no_training, is_switched_off, only_predicts
from torchlint.project.gradients import UngradedModules
from torchlint.project.index import Project
from torchlint.project.programs import Program

_MODE_RULE = "TL210"
"""The rule whose fix is to turn the determinism mode on."""


class _Use(msgspec.Struct, frozen=True):
    operator: Operator
    holds: str


class _Behaviour(msgspec.Struct, frozen=True):
    """What an operator does on one device, for one release, under the file's mode."""

    use: _Use
    device: str
    row: Row
    variant: str
    severity: Severity

    @property
    def hint(self) -> str:
        """What is left open, to end the sentence with."""
        condition = self.use.operator.condition
        is_open = self.use.holds == "hint" or condition.is_always_open or condition.overlapping_windows == "adaptive"
        return f" {condition.hint}" if condition.hint and is_open else ""


def judge_operators(draft: Draft, project: Project) -> Draft | None:
    """Fill in what the rows say; None where nothing varies and nothing raises."""
    if not draft.operators:
        return draft  # a check of its own that speaks for no entry
    unread = draft.values.get("unread")
    if unread and not project.texts.named_outside(unread, draft.path):
        return None
    if draft.confidence is not Confidence.LOW and _is_beside_training(draft, project):
        draft = replace(draft, confidence=Confidence.LOW)
    if draft.passage is not None:
        limit = project.gradients.confidence_of(draft.passage, draft.path)
        draft = replace(draft, confidence=draft.confidence if limit is Confidence.HIGH else limit)
    counting = [use for use in draft.operators if use.asked is None or is_given(draft.path, use.asked, project)]
    draft = replace(draft, related=(*draft.related, *handed_over(counting, project)))
    uses = [_Use(project.catalogue.operator(use.id), use.holds) for use in counting]
    most_of_rule = Severity.INFO if project.catalogue.rules[draft.code].severity == "info" else Severity.ERROR
    for devices, most in ((project.devices_for(draft.path), most_of_rule), (("cpu",), Severity.INFO)):
        for newer, own in _by_library_release(uses, project, draft.path):
            judged = _judged(draft, project, own, devices, newer)
            if judged is not None:
                assert judged.severity is not None
                return replace(judged, severity=min(judged.severity, most))
    return None


def _judged(
    draft: Draft, project: Project, uses: Sequence[_Use], devices: Sequence[str], newer_library: str
) -> Draft | None:
    """For the newest admitted torch on which something varies or raises; with a `newer_library` nothing does."""
    releases = project.target_for(draft.path).releases
    uses = [use for use in uses if not is_set_steady(use.operator, project)]
    for release in reversed(releases):
        behaviours = _behaviours(uses, release, devices, project.mode_for(draft.path).mode)
        if behaviours:
            newer = next((f"torch {format_minor(one)}" for one in releases if one > release), newer_library)
            older = "" if release == releases[-1] else f"on torch <= {format_minor(release)}"
            if newer_library:
                older = f"before {newer_library}"
                draft = replace(draft, confidence=Confidence.LOW)
            held = [use.operator for use in uses if use.holds in ("yes", "hint")]
            rows = sum(operator.row_for(device, release) is not None for operator in held for device in devices)
            judged = _decided(draft, project, behaviours, older=older, newer=newer, rows=rows)
            raises_on = _raises_on(uses, release, devices, releases) if judged.message == "alternative" else ""
            return replace(judged, fix=_fix(project, draft.path, judged.message, newer, raises_on))
    return None


def _by_library_release(uses: Sequence[_Use], project: Project, path: str) -> Iterator[tuple[str, list[_Use]]]:
    """The uses as each admitted release of their library has them, from the newest, and which one is newer than it."""
    newer, library = "", next((use.operator for use in uses if use.operator.releases), None)
    if library is None:
        yield newer, list(uses)
        return
    for release in admitted_of_library(library, project, path):
        yield newer, [_Use(use.operator.within(release), use.holds) for use in uses]
        newer = f"{library.library} {release}"


def admitted_of_library(operator: Operator, project: Project, path: str) -> list[str]:
    """The releases of its library that a file may run on, from the newest; the newest, where none is known."""
    known = Library(package=operator.library, releases=operator.releases, fact=())
    admitted = project.releases_of(known, path) or operator.releases[-1:]
    return [release for release in reversed(operator.releases) if release in admitted]


def _is_beside_training(draft: Draft, project: Project) -> bool:
    """Whether nothing that the operator computes gets into a training, or no gradient comes back to it in any."""
    symbol = draft.values.get("symbol", "")
    is_beside = gets_into_no_training(project, draft.path, symbol)
    if is_beside or is_switched_off(project, draft.path, symbol, draft.demands):
        return True
    directions = {project.catalogue.operator(use.id).direction for use in draft.operators}
    is_ungraded = project.cached(UngradedModules).holds
    return directions == {"backward"} and (only_predicts(project, draft.path) or is_ungraded(draft.path, symbol))


def is_set_steady(operator: Operator, project: Project) -> bool:
    """Whether an environment variable that makes the operator steady is set somewhere in the project."""
    is_read = not operator.releases or operator.has_alternative
    return is_read and any(project.sets_variable(name, values) for name, values in operator.unless_set.items())


def _behaviours(uses: Sequence[_Use], release: Minor, devices: Sequence[str], mode: Mode) -> list[_Behaviour]:
    return [b for use in uses for device in devices for b in _behaviour(use, device, release, mode)]


def _behaviour(use: _Use, device: str, release: Minor, mode: Mode) -> Iterator[_Behaviour]:
    row = use.operator.row_for(device, release)
    outcome = _outcome(row, mode) if row is not None else None
    if row is None or outcome is None:
        return
    variant, severity = outcome
    if variant == "silent" and release < FIRST_WITH_MODE:
        variant = "no_mode"
    is_refused = variant == "raises_on" and (row.any_type if use.holds == "never" else row.any_input)
    if use.holds in ("no", "never") and not is_refused:
        return
    if use.holds == "hint" and variant != "raises_on" and not (row.under_warn_only and mode is Mode.WARN_ONLY):
        severity = Severity.INFO
    yield _Behaviour(use, device, row, variant, _lower(severity) if row.confidence == "low" else severity)


def _outcome(row: Row, mode: Mode) -> tuple[str, Severity] | None:
    """The matrix of status and mode: a message variant and a severity, or None for silence."""
    status: UnderMode = row.under_mode
    if mode is Mode.WARN_ONLY and row.under_warn_only == "silent_nondeterministic":
        return "warn_only_raises", Severity.WARNING  # it warns once and goes on as before
    if status == "always_deterministic":
        return None
    if status == "silent_nondeterministic":
        return "silent", Severity.WARNING
    if status == "raises":
        if mode is Mode.ON:
            return "raises_on", Severity.ERROR
        return "warn_only_raises" if mode is Mode.WARN_ONLY else "raises", Severity.WARNING
    return ("alternative", Severity.WARNING) if mode in (Mode.OFF, Mode.OPTIONAL) else None


def _lower(severity: Severity) -> Severity:
    return Severity(max(severity - 1, Severity.INFO))


def _decided(
    draft: Draft, project: Project, behaviours: Sequence[_Behaviour], *, older: str, newer: str, rows: int
) -> Draft:
    worst = max(behaviours, key=lambda behaviour: behaviour.severity)
    is_mixed = len({b.row.under_mode for b in behaviours}) > 1 or rows > len(behaviours)
    severity = _lower(worst.severity) if older or (is_mixed and worst.variant == "raises_on") else worst.severity
    variant = worst.variant
    if older:
        variant = f"{variant}_older"
    elif is_mixed and variant in ("raises", "alternative"):
        variant = "default"
    advice = worst.use.operator.advice
    # Only rows of low confidence speak, and of a device that a program for CUDA names as a fallback.
    is_for_cuda = project.has_gpu(draft.path)
    is_guess = is_for_cuda and all(b.row.confidence == "low" and b.device not in (*GPUS, "cpu") for b in behaviours)
    values = {
        **draft.values,
        "devices": enumerated(list(dict.fromkeys(DEVICE_NAMES[b.device] for b in behaviours))),
        "direction": _direction(behaviours),
        "what_varies": _what_varies(behaviours),
        "hint": worst.hint,
        **project.target_for(draft.path).words,
        "older": older,
        "library": newer.partition(" ")[0],
        "place": _place(project, draft.path),
        "advice": advice,
        "Advice": f"{advice[:1].upper()}{advice[1:]}",
    }
    severity = severity if draft.severity is None else min(severity, draft.severity)
    confidence = Confidence.LOW if is_guess else draft.confidence
    return replace(draft, values=values, message=variant, severity=severity, confidence=confidence)


def _direction(behaviours: Sequence[_Behaviour]) -> str:
    directions = {behaviour.use.operator.direction for behaviour in behaviours}
    return directions.pop() if len(directions) == 1 and "both" not in directions else "forward and backward"


def _what_varies(behaviours: Sequence[_Behaviour]) -> str:
    """With its verb: `its backward pass varies`; what only a guess says, may vary."""
    named = {behaviour.use.operator.varies for behaviour in behaviours}
    direction = _direction(behaviours)
    may = all(behaviour.row.confidence == "low" for behaviour in behaviours)
    if len(named) == 1 and "" not in named:
        return f"{named.pop()} {'may vary' if may else 'vary'}"
    if " " in direction:
        return f"its {direction} passes {'may vary' if may else 'vary'}"
    return f"its {direction} pass {'may vary' if may else 'varies'}"


def _place(project: Project, path: str) -> str:
    verdict = project.mode_for(path)
    if verdict.place is None:
        return "`--assume deterministic`" if project.settings.assume_deterministic else "the configuration"
    place = f"{verdict.place.path}:{verdict.place.line}"
    return place if verdict.program in (None, verdict.place.path) else f"{place} (program {verdict.program})"


def enumerated(words: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`; empty for none."""
    *first, last = words or ("",)
    return f"{', '.join(first)} and {last}" if first else last


def _fix(project: Project, path: str, variant: str, newer: str, raises_on: str) -> Fix | None:
    """The act that ends the finding, where it is another than its rule's; a library turns no mode on."""
    if variant.endswith("_older"):
        words = project.catalogue.newer_release.format(newer=newer)
        return Fix(newer, words, words)
    is_library = project.is_in_package(path) and not project.programs.has_own
    if variant not in ("alternative", "raises", "default") or is_library:
        return None
    # The programs that train for good, if any does.
    programs = project.programs.without_mode(path)
    lasting = [one for one in programs if not is_measuring(one.path) and project.randomness_of(one).trained is not None]
    fix = mode_fix(project, lasting or programs)
    return fix and replace(fix, raises=variant == "raises", raises_on=raises_on)


def mode_fix(project: Project, programs: Iterable[Program]) -> Fix | None:
    """Turning the determinism mode on in some programs; in whichever, where none is known."""
    words = project.catalogue.rules[_MODE_RULE].fix
    paths = tuple(sorted({program.entry.location.path for program in programs}))
    return None if not words.one else Fix(words.act, words.one, words.many if paths else words.one, programs=paths)


def _raises_on(uses: Sequence[_Use], release: Minor, devices: Sequence[str], releases: Sequence[Minor]) -> str:
    """Those of the admitted `releases` before this one on which the mode would raise."""
    older = [one for one in releases if one < release]
    raising = [one for one in older if any(b.variant == "raises" for b in _behaviours(uses, one, devices, Mode.OFF))]
    return f"torch <= {format_minor(raising[-1])}" if raising else ""
