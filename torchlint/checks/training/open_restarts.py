"""What TL313 leaves open: state is loaded where it trains, and nothing restores the generators."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchlint.checks.framework.drafts import Draft
from torchlint.checks.framework.registration import Finding, Triggers, check
from torchlint.checks.framework.visit import Visit
from torchlint.facts.entries import is_test
from torchlint.facts.file import FileFacts
from torchlint.facts.scopes import CallSite, Site
from torchlint.facts.tree import is_literal_none, is_method_call
from torchlint.project.index import Project

_LOADING = frozenset({"torch.load", "torch.distributed.checkpoint.load"})
_METHODS = frozenset({"load_state_dict", "load_state", "load_checkpoint", "load_from_checkpoint", "restore_checkpoint"})
_OPAQUE = frozenset({"pickle.load", "joblib.load", "dill.load", "cloudpickle.load"})
"""What gives whatever was saved: a state, where the words around say so."""
_STATE = re.compile(r"model|checkpoint|ckpt|weight|resume|state_|agent|policy", re.IGNORECASE)
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
    triggers=Triggers(calls=_LOADING | _OPAQUE, methods=_METHODS, sites=_asked_to_resume),
    judge=_judge,
    is_open=True,
)
def find(visit: Visit) -> Iterator[Finding]:
    """`torch.load(...)`, `net.load_state_dict(...)`, `Trainer(resume_from_checkpoint=...)`."""
    name, call = visit.callee(), visit.call
    is_asked = any(one.arg in _ASKING for one in call.keywords)
    is_state = name in _OPAQUE and _STATE.search(ast.unparse(visit.statement)) is not None
    if is_asked or is_state or name in _LOADING or is_method_call(call, *_METHODS):
        yield Finding("TL313", visit.node, {"symbol": visit.facts.symbol_at(visit.scope, visit.statement)})


def _settings(facts: FileFacts) -> list[Site]:
    """Where code writes what a trainer goes on from: `cfg.trainer.resume_from_checkpoint = path`."""
    stores = (one for word in _ASKING for one in facts.index.attributes(word) if isinstance(one.ctx, ast.Store))
    return [Site(one, facts.index.scope_of(one), facts.index.statement_of(one)) for one in stores]


@check(codes=("TL313",), triggers=Triggers(sites=_settings), judge=_judge, is_open=True)
def settings(visit: Visit) -> Iterator[Finding]:
    """Settings by which a trainer goes on from a file."""
    yield Finding("TL313", visit.node, {"symbol": visit.facts.symbol_at(visit.scope, visit.statement)})
