"""What findings about an order share: what it decides, in the file itself or in one that calls the function."""

from __future__ import annotations

import ast
import dataclasses

from torchlint.checks.framework.drafts import Draft
from torchlint.diagnostics import Related
from torchlint.facts.entries import is_test
from torchlint.facts.order.following import Follower
from torchlint.facts.order.words import Use
from torchlint.project.index import Project


def use_values(use: Use | None, follower: Follower) -> dict[str, str]:
    """What the order decides; while it is not known, `returned` names the functions that hand it on."""
    return {"use": use.what} if use is not None else {"use": "", "returned": " ".join(follower.returned)}


def use_places(use: Use | None) -> tuple[tuple[ast.AST, str], ...]:
    return () if use is None else ((use.node, f"here it decides {use.what}"),)


def judged(draft: Draft, project: Project) -> Draft | None:
    """Orders matter to us only where torch is at work, and not in tests."""
    found = None if is_test(draft.path) else _used_elsewhere(draft, project)
    return found if found is not None and project.uses_torch(draft.path) else None


def _used_elsewhere(draft: Draft, project: Project) -> Draft | None:
    """The draft with what another file makes of the order, or None where nobody makes anything of it."""
    if draft.values["use"]:
        return draft
    use = project.order_use(draft.values["returned"].split(" "))
    if use is None:
        return None
    related = (*draft.related, Related(use.location, f"here it decides {use.what}"))
    return dataclasses.replace(draft, values={**draft.values, "use": use.what}, related=related)
