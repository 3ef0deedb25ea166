"""What the project's manifests make of a fact that holds for some releases of a library."""

from __future__ import annotations

from msgspec.structs import replace

from torchlint.catalogue.libraries import Fact, Library
from torchlint.checks.framework.drafts import Draft
from torchlint.diagnostics import Confidence
from torchlint.project.index import Project


def certainty(project: Project, path: str, library: Library, fact: Fact) -> Confidence | None:
    """None where only releases are admitted that do not vary, low where others are admitted as well."""
    admitted, affected = project.releases_of(library, path), library.affected(fact)
    if not admitted & affected:
        return None
    return Confidence.HIGH if admitted <= affected else Confidence.LOW


def by_release(draft: Draft, project: Project, library: Library, fact: Fact) -> Draft | None:
    """Silent where only releases are admitted that do not vary, a guess where others are admitted as well."""
    found = certainty(project, draft.path, library, fact)
    if found is None:
        return None
    return replace(draft, confidence=found) if found is Confidence.LOW else draft


def is_settled(project: Project, fact: Fact) -> bool:
    """Whether the project sets, calls or names what ends a fact."""
    is_set = any(project.sets_variable(name, values) for name, values in fact.unless_set.items())
    is_called = bool(fact.unless_called) and project.texts.call(fact.unless_called)
    return is_set or is_called or any(project.texts.say(word, project.summaries) for word in fact.unless_named)
