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
from torchlint.facts.tree import is_literal_none, is_method_call, last_word
from torchlint.project.index import Project

_LOADING = frozenset({"torch.load", "torch.distributed.checkpoint.load"})
_METHODS = frozenset(
    {"load_state_dict", "load_state", "load_checkpoint", "load_from_checkpoint", "restore_checkpoint", "resume_or_load"}
)
_OPAQUE = frozenset({"pickle.load", "joblib.load", "dill.load", "cloudpickle.load"})
"""What gives whatever was saved: a state, where the words around say so."""
_STATE = re.compile(r"model|checkpoint|ckpt|weight|resume|state_|agent|policy", re.IGNORECASE)
_ASKING = frozenset({"resume_from_checkpoint", "ckpt_path"})
"""Arguments by which a library's trainer goes on from a file."""
_ASKS = frozenset({"os.path.exists", "os.path.isfile", "os.path.lexists"})
_ASKING_METHODS = frozenset({"exists", "is_file"})
_READS = re.compile(r"(?:load|read|open|fetch|restore)")
"""The beginning of the names of what reads a file."""


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


@check(codes=("TL313",), triggers=Triggers(calls=_ASKS, methods=_ASKING_METHODS), judge=_judge, is_open=True)
def leftovers(visit: Visit) -> Iterator[Finding]:
    """A file that is read only where it is there: `if os.path.exists(cache): rows = load(cache)`."""
    is_asked = visit.callee() in _ASKS or is_method_call(visit.call, *_ASKING_METHODS)
    if is_asked and any(map(_reads, _decided(visit))):
        symbol = visit.facts.symbol_at(visit.scope, visit.statement)
        yield Finding("TL313", visit.node, {"symbol": symbol}, "open_leftover")


def _decided(visit: Visit) -> list[ast.AST]:
    """The two branches of the test that a call stands in: of an `if` or of `a if exists(a) else b`."""
    node: ast.AST = visit.call
    while node is not visit.statement:
        above = visit.facts.index.parents[node]
        if isinstance(above, ast.If) and above.test is node:
            return [*above.body, *above.orelse]
        if isinstance(above, ast.IfExp) and above.test is node:
            return [above.body, above.orelse]
        node = above
    return []


def _reads(branch: ast.AST) -> bool:
    """Whether a branch reads a file, by the names of what it calls."""
    calls = (one for one in ast.walk(branch) if isinstance(one, ast.Call))
    return any(_READS.match(last_word(one.func) or "") for one in calls)
