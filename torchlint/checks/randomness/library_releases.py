"""What the project's manifests make of a fact that holds for some releases of a library."""

from __future__ import annotations

import dataclasses

from torchlint.catalogue.libraries import Fact, Library
from torchlint.checks.framework.drafts import Draft
from torchlint.diagnostics import Confidence
from torchlint.project.index import Project


def by_release(draft: Draft, project: Project, library: Library, fact: Fact) -> Draft | None:
    """Silent where only releases are admitted that do not vary, a guess where others are admitted as well."""
    admitted, affected = project.releases_of(library, draft.path), library.affected(fact)
    if not admitted & affected:
        return None
    return draft if admitted <= affected else dataclasses.replace(draft, confidence=Confidence.LOW)


def is_settled(project: Project, fact: Fact) -> bool:
    """Whether the project sets, calls or names what ends a fact."""
    is_set = any(project.sets_variable(name, values) for name, values in fact.unless_set.items())
    is_called = bool(fact.unless_called) and project.texts.call(fact.unless_called)
    return is_set or is_called or any(project.texts.say(word, project.summaries) for word in fact.unless_named)
