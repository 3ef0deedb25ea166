"""Calls that bring in an operator of the registry (all TL1xx rules that say `registry = true`).

What varies, where and since when lives in `rules/registry/operators/`; the matrix of status and mode is here.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from torchlint.catalogue import Catalogue
from torchlint.catalogue.registry import Operator, Row, Spelling, UnderMode
from torchlint.catalogue.versions import Minor, format_minor
from torchlint.checks.conditions import Answer, holds
from torchlint.checks.drafts import Draft
from torchlint.checks.registration import Finding, Vocabulary, check
from torchlint.checks.spelling import spelling_of
from torchlint.checks.visit import Visit
from torchlint.diagnostics import Confidence, Cure, Severity
from torchlint.facts.differentiation import differentiated_scopes, is_named_for_data, loss_scopes, works_on_data
from torchlint.facts.file import FileFacts
from torchlint.facts.gradients import gradless_lines, is_cut_off
from torchlint.facts.kinds import Kind
from torchlint.facts.modes import Mode
from torchlint.facts.names import Callee
from torchlint.facts.scopes import CallSite
from torchlint.facts.values import argument_of
from torchlint.project.index import Project

DEVICE_NAMES = {"cuda": "CUDA", "mps": "MPS", "xpu": "XPU", "cpu": "CPU"}


def _codes(catalogue: Catalogue) -> frozenset[str]:
    return frozenset(code for code, rule in catalogue.rules.items() if rule.registry)


def _vocabulary(catalogue: Catalogue) -> Vocabulary:
    spellings = [spelling for operator in catalogue.operators for spelling in operator.spelling]

    def worth(facts: FileFacts, site: CallSite) -> bool:
        table = _by_name(catalogue.operators)
        return any(
            holds(facts, site.node, callee, spelling.where, site.scope)
            for callee in facts.names(site.node.func, site.scope).callees
            for _, spelling in table.get(callee.name, ())
        )

    return Vocabulary(
        worth=worth,
        calls=frozenset(spelling.call for spelling in spellings if spelling.call),
        methods=frozenset(spelling.method for spelling in spellings if spelling.method),
    )


@functools.lru_cache(maxsize=4)
def _by_name(operators: tuple[Operator, ...]) -> dict[str, list[tuple[Operator, Spelling]]]:
    table: dict[str, list[tuple[Operator, Spelling]]] = {}
    for operator in operators:
        for spelling in operator.spelling:
            table.setdefault(spelling.call or f".{spelling.method}", []).append((operator, spelling))
    return table


@dataclass(frozen=True, slots=True)
class _Behaviour:
    """What an operator does on one device, for one release, under the file's mode."""

    device: str
    row: Row
    variant: str
    severity: Severity


def _judge(draft: Draft, project: Project) -> Draft | None:
    """Fill in what the rows say for the target torch, the devices and the mode; None where nothing varies."""
    by_id = {operator.id: operator for operator in project.catalogue.operators}
    operators = [by_id[name] for name in draft.operators]
    mode = project.mode_for(draft.path)
    releases = project.target.releases
    for release in reversed(releases):
        behaviours = [b for operator in operators for b in _behaviours(operator, release, project.devices, mode.mode)]
        if behaviours:
            everywhere = {b.row.under_mode for b in behaviours}
            older = "" if release == releases[-1] else f"on torch <= {format_minor(release)}"
            is_mixed = len(everywhere) > 1 or len(_all_rows(operators, release, project.devices)) > len(behaviours)
            return _decided(draft, project, operators, behaviours, older=older, is_mixed=is_mixed)
    return None


def _all_rows(operators: list[Operator], release: Minor, devices: tuple[str, ...]) -> list[Row]:
    rows = (operator.row_for(device, release) for operator in operators for device in devices)
    return [row for row in rows if row is not None]


def _behaviours(operator: Operator, release: Minor, devices: tuple[str, ...], mode: Mode) -> Iterator[_Behaviour]:
    for device in devices:
        row = operator.row_for(device, release)
        outcome = _outcome(row, mode) if row is not None else None
        if row is not None and outcome is not None:
            variant, severity = outcome
            yield _Behaviour(device, row, variant, _lower(severity) if row.confidence == "low" else severity)


def _outcome(row: Row, mode: Mode) -> tuple[str, Severity] | None:
    """The matrix of status and mode: a message variant and a severity, or None for silence."""
    status: UnderMode = row.under_mode
    if mode is Mode.WARN_ONLY and row.under_warn_only is not None:
        status = row.under_warn_only
    if status == "always_deterministic":
        return None
    if status == "silent_nondeterministic":
        return "silent", Severity.WARNING
    if status == "raises":
        return {
            Mode.ON: ("raises_on", Severity.ERROR),
            Mode.WARN_ONLY: ("warn_only_raises", Severity.WARNING),
        }.get(mode, ("raises", Severity.WARNING))
    return ("alternative", Severity.WARNING) if mode in (Mode.OFF, Mode.OPTIONAL) else None


def _lower(severity: Severity) -> Severity:
    return Severity(max(severity - 1, Severity.INFO))


def _direction(operators: list[Operator]) -> str:
    directions = {operator.direction for operator in operators}
    return directions.pop() if len(directions) == 1 and "both" not in directions else "forward and backward"


def _decided(
    draft: Draft,
    project: Project,
    operators: list[Operator],
    behaviours: list[_Behaviour],
    *,
    older: str,
    is_mixed: bool,
) -> Draft:
    worst = max(behaviours, key=lambda behaviour: behaviour.severity)
    severity = _lower(worst.severity) if older or (is_mixed and worst.variant == "raises_on") else worst.severity
    variant = worst.variant
    if older:
        variant = f"{variant}_older"
    elif is_mixed and variant in ("raises", "alternative"):
        variant = "default"
    devices = list(dict.fromkeys(DEVICE_NAMES.get(b.device, b.device) for b in behaviours))
    values = {
        **draft.values,
        "devices": _enumerated(devices),
        "direction": _direction(operators),
        "torch": f"torch {project.target}",
        "older": older,
        "place": _place(project, draft.path),
    }
    return dataclasses.replace(
        draft,
        values=values,
        message=variant,
        severity=min(severity, draft.severity) if draft.severity is not None else severity,
        cure=_cure(project, variant),
    )


def _place(project: Project, path: str) -> str:
    verdict = project.mode_for(path)
    if verdict.place is None:
        return "`--assume deterministic`" if project.settings.assume_deterministic else "the configuration"
    place = f"{verdict.place.path}:{verdict.place.line}"
    return place if verdict.program in (None, verdict.place.path) else f"{place} (program {verdict.program})"


def _entry(path: str, line: int) -> str:
    return path if path.endswith(".ipynb") else f"{path}:{line}"


def _enumerated(words: list[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def _cure(project: Project, variant: str) -> Cure | None:
    if variant not in ("alternative", "alternative_older", "raises", "default"):
        return None
    entries = {_entry(place.path, place.line) for place in project.programs.entries_without_mode()}
    where = f" in {entries.pop()}" if len(entries) == 1 else ""
    words = f"turn the determinism mode on{where}"
    return Cure("mode", words, words, raises=variant == "raises")


@check(cst.Call, codes=_codes, vocabulary=_vocabulary, judge=_judge)
def find(visit: Visit, node: cst.CSTNode) -> Iterator[Finding]:
    """One finding for each rule that an operator reached by this call belongs to."""
    assert isinstance(node, cst.Call)
    matches = [match for match in _matches(visit) if match.operator.rule in visit.selected]
    for code in sorted({match.operator.rule for match in matches}):
        own = [match for match in matches if match.operator.rule == code]
        certain = all(match.certain for match in own)
        if all(match.operator.direction == "backward" for match in own):
            certain = certain and not works_on_data(visit.facts, visit.scope)
            if all(match.spelling.input for match in own):
                if _is_gradless(visit):
                    continue
                certain = certain and _is_differentiated(visit, own)
        yield Finding(
            code=code,
            node=node,
            values={"spelling": spelling_of(visit, node), "name": own[0].name},
            confidence=None if certain else Confidence.LOW,
            operators=tuple(dict.fromkeys(match.operator.id for match in own)),
        )


def _is_gradless(visit: Visit) -> bool:
    line = visit.call.lineno
    return any(first <= line <= last for first, last in visit.facts.once(gradless_lines))


def _is_differentiated(visit: Visit, matches: list[_Match]) -> bool:
    function = visit.call.func
    names = {match.spelling.input for match in matches}
    inputs = [
        function.value if name == "self" and isinstance(function, ast.Attribute) else argument_of(visit.call, name, 0)
        for name in sorted(names)
    ]
    signals = any(match.spelling.takes_signals for match in matches)
    scopes = visit.facts.once(loss_scopes if signals else differentiated_scopes)
    is_reached = (visit.facts.function_of(visit.scope) or 0) in scopes
    return is_reached and (signals or not any(is_named_for_data(value) for value in inputs))


@dataclass(frozen=True, slots=True)
class _Match:
    operator: Operator
    name: str
    spelling: Spelling
    certain: bool


def _matches(visit: Visit) -> Iterator[_Match]:
    names = visit.names(visit.call.func)
    table = _by_name(visit.catalogue.operators)
    call = visit.call
    relevant = [callee for callee in names.callees if callee.name in table]
    certain = names.complete and len(relevant) == len(names.callees)
    for callee in relevant:
        for operator, spelling in table[callee.name]:
            answer = holds(visit.facts, call, callee, spelling.where, visit.scope)
            if answer is Answer.NO or _has_no_gradient(visit, call, operator, spelling):
                continue
            yield _Match(operator, callee.name, spelling, certain and answer is Answer.YES)
    if not relevant and isinstance(call.func, ast.Attribute):
        yield from _method_matches(visit, call, call.func)


def _method_matches(visit: Visit, call: ast.Call, function: ast.Attribute) -> Iterator[_Match]:
    for operator, spelling in _by_name(visit.catalogue.operators).get(f".{function.attr}", ()):
        known = spelling.receiver == "any" or visit.kind(function.value) is Kind.TENSOR
        if not known or holds(visit.facts, call, Callee(function.attr), spelling.where, visit.scope) is not Answer.YES:
            continue
        if operator.direction != "backward" or not is_cut_off(visit.facts, function.value, visit.scope):
            yield _Match(operator, f"torch.Tensor.{function.attr}", spelling, certain=True)


def _has_no_gradient(visit: Visit, call: ast.Call, operator: Operator, spelling: Spelling) -> bool:
    if operator.direction != "backward" or not spelling.input:
        return False
    return is_cut_off(visit.facts, argument_of(call, spelling.input, 0), visit.scope)
