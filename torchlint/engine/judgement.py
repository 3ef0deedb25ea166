"""From a draft to a diagnostic: the project's word on versions, devices and modes, and the rule's own words."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from msgspec.structs import replace

from torchlint.catalogue import Catalogue
from torchlint.catalogue.versions import VersionRange, format_minor
from torchlint.checks.framework.drafts import Draft
from torchlint.checks.framework.registration import Check
from torchlint.diagnostics import Confidence, Diagnostic, Severity
from torchlint.engine.fixes import rule_fix
from torchlint.project.index import Project
from torchlint.project.target import used_among

_OPEN = "open"
"""The message of a point that a rule leaves open; a rule with several of a kind has `open_...` as well."""


def judge(draft: Draft, check: Check | None, project: Project) -> Diagnostic | None:
    """The diagnostic that a draft becomes in this project, or None where it does not hold."""
    judged = _for_releases(draft, project) if draft.torch else draft  # which asks no other file
    if judged is None or (draft.devices and not used_among(project.devices_for(draft.path), draft.devices)):
        return None
    if check is not None and check.judge is not None:
        judged = check.judge(judged, project)
    if judged is not None and draft.is_open:
        message = draft.message if draft.message.startswith(_OPEN) else _OPEN
        judged = replace(judged, message=message, severity=Severity.INFO)
    if judged is None:
        return None
    found = diagnostic_of(judged, project.catalogue)
    target = project.target_for(draft.path) if project.catalogue.rules[found.code].fix.is_automatic else None
    is_asked = target is not None and target.pinned
    return dataclasses.replace(found, admitted=(target.oldest, target.newest)) if is_asked and target else found


def _for_releases(draft: Draft, project: Project) -> Draft | None:
    """A finding about some releases counts in full for the newest admitted one, one step lower for older ones."""
    target = project.target_for(draft.path)
    concerned = [release for release in target.releases if release in VersionRange.parse(draft.torch)]
    if not concerned:
        return None
    values = {**draft.values, **target.words}
    if concerned[-1] == target.newest:
        return replace(draft, values=values)
    rule = project.catalogue.rules[draft.code]
    severity = draft.severity if draft.severity is not None else Severity[rule.severity.upper()]
    values["older"] = f"on torch <= {format_minor(concerned[-1])}"
    return replace(draft, values=values, severity=Severity(max(severity - 1, Severity.INFO)))


def diagnostic_of(draft: Draft, catalogue: Catalogue) -> Diagnostic:
    """The diagnostic of a draft that holds."""
    rule = catalogue.rules[draft.code]
    severity = Severity[rule.severity.upper()] if draft.severity is None else draft.severity
    confidence = Confidence[rule.confidence.upper()] if draft.confidence is None else draft.confidence
    if confidence is Confidence.LOW:
        severity = Severity(max(severity - 1, Severity.INFO))
    return Diagnostic(
        code=rule.code,
        name=rule.name,
        severity=severity,
        confidence=confidence,
        message=_filled(rule.messages, draft),
        location=draft.location,
        url=rule.url,
        advice=_filled(rule.advice, draft),
        source_line=draft.source_line,
        fix=draft.fix or rule_fix(catalogue, rule.code, draft.location.path),
        operators=tuple(use.id for use in draft.operators),
        variant=draft.message,
        related=draft.related,
        lines=draft.lines,
        judged_for=draft.values.get("judged_for", ""),
    )


def _filled(texts: Mapping[str, str], draft: Draft) -> str:
    return texts.get(draft.message, texts["default"]).format_map(draft.values)
