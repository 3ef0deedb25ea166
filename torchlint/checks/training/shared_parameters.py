"""TL503 shared-parameters: processes that step one model in shared memory, in no order (Hogwild)."""

from __future__ import annotations

from collections.abc import Iterator

from torchlint.checks.framework.drafts import Draft
from torchlint.checks.framework.registration import Finding, Triggers, check
from torchlint.checks.framework.visit import Visit
from torchlint.facts.training.shared_models import handed_out
from torchlint.project.index import Project

_CODE = "TL503"


def _judge(draft: Draft, project: Project) -> Draft | None:
    """The function that the processes run has to train what it is given; it may stand in another file."""
    stepped = {
        f"{found.function}#{found.position}" for summary in project.summaries.values() for found in summary.stepped
    }
    return draft if stepped & set(draft.values["handed"].split("|")) else None


@check(
    codes=(_CODE,),
    triggers=Triggers(methods=frozenset({"share_memory"})),
    judge=_judge,
)
def find(visit: Visit) -> Iterator[Finding]:
    """`model.share_memory()` for processes that train the model."""
    function = visit.call.func
    if getattr(function, "attr", "") != "share_memory":
        return
    found = list(handed_out(visit.facts, visit.site))
    if found:
        model = visit.code(visit.node).partition(".share_memory")[0]
        handed = "|".join(sorted(f"{parameter.function}#{parameter.position}" for parameter, _ in found))
        related = ((found[0][1].node, "the processes are started here"),)
        yield Finding(_CODE, visit.node, {"model": model, "handed": handed}, related=related)
