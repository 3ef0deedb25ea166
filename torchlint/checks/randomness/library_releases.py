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
