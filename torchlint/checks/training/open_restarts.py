"""What TL313 leaves open: state is loaded where it trains, and nothing restores the generators."""

from __future__ import annotations

from collections.abc import Iterator

from torchlint.checks.framework.drafts import Draft
from torchlint.checks.framework.registration import Finding, Triggers, check
from torchlint.checks.framework.visit import Visit
from torchlint.facts.entries import is_test
from torchlint.facts.file import FileFacts
from torchlint.facts.scopes import CallSite
from torchlint.facts.tree import is_literal_none, is_method_call
from torchlint.project.index import Project

_LOADING = frozenset({"torch.load", "torch.distributed.checkpoint.load"})
_METHODS = frozenset({"load_state_dict", "load_state", "load_checkpoint", "load_from_checkpoint", "restore_checkpoint"})
_ASKING = frozenset({"resume_from_checkpoint", "ckpt_path"})
"""Arguments by which a library's trainer goes on from a file."""


def _judge(draft: Draft, project: Project) -> Draft | None:
    is_beside = is_test(draft.path) or project.restores_generators
    return None if is_beside or not project.may_train((draft.path, draft.values["symbol"])) else draft


def _asked_to_resume(facts: FileFacts) -> list[CallSite]:
    return [
        site
        for site in facts.symbols.calls
        if any(one.arg in _ASKING and not is_literal_none(one.value) for one in site.node.keywords)
    ]


@check(
    codes=("TL313",),
    triggers=Triggers(calls=_LOADING, methods=_METHODS, sites=_asked_to_resume),
    judge=_judge,
    is_open=True,
)
def find(visit: Visit) -> Iterator[Finding]:
    """`torch.load(...)`, `net.load_state_dict(...)`, `Trainer(resume_from_checkpoint=...)`."""
    is_asked = any(one.arg in _ASKING for one in visit.call.keywords)
    if is_asked or visit.callee() in _LOADING or is_method_call(visit.call, *_METHODS):
        yield Finding("TL313", visit.node, {"symbol": visit.facts.symbol_at(visit.scope, visit.statement)})
