"""TL503 shared-parameters: processes that step one model in shared memory, in no order (Hogwild)."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint.checks.drafts import Draft
from torchlint.checks.registration import Finding, Vocabulary, check
from torchlint.checks.visit import Visit
from torchlint.facts.file import FileFacts
from torchlint.facts.scopes import CallSite
from torchlint.facts.training.shared_models import handed_out
from torchlint.project.index import Project

_CODE = "TL503"


def _judge(draft: Draft, project: Project) -> Draft | None:
    """The function that the processes run has to train what it is given; it may stand in another file."""
    stepped = {
        f"{found.function}#{found.position}" for summary in project.summaries.values() for found in summary.stepped
    }
    return draft if stepped & set(draft.values["handed"].split("|")) else None


def _is_handed_out(facts: FileFacts, site: CallSite, selected: frozenset[str]) -> bool:
    return _CODE in selected and any(True for _ in handed_out(facts, site))


@check(
    cst.Call,
    codes=(_CODE,),
    vocabulary=Vocabulary(methods=frozenset({"share_memory"}), worth=_is_handed_out),
    judge=_judge,
)
def find(visit: Visit) -> Iterator[Finding]:
    """`model.share_memory()` for processes that train the model."""
    function = visit.call.func
    if getattr(function, "attr", "") != "share_memory":
        return
    found = list(handed_out(visit.facts, visit.site))
    if found:
        model = visit.code(visit.lossless).partition(".share_memory")[0]
        handed = "|".join(sorted(f"{parameter.function}#{parameter.position}" for parameter, _ in found))
        related = ((found[0][1].node, "the processes are started here"),)
        yield Finding(_CODE, visit.node, {"model": model, "handed": handed}, related=related)
