"""What beside the optimizer has a state that a resumed training needs: schedules, loss scales, averaged weights."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchlint.facts.control.blocks import loops_around
from torchlint.facts.control.conditions import tests_around
from torchlint.facts.scopes import CallSite
from torchlint.facts.tree import is_method_call, is_own
from torchlint.facts.values import argument_of

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

_SCHEDULES = "torch.optim.lr_scheduler."
_BY_RATE = frozenset({"ExponentialLR", "ConstantLR"})
"""Schedules that go on from the rate alone, which the optimizer keeps."""
_BY_METRIC = f"{_SCHEDULES}ReduceLROnPlateau"
_OTHERS = frozenset(
    {"torch.cuda.amp.GradScaler", "torch.amp.GradScaler", "torch.GradScaler", "torch.optim.swa_utils.AveragedModel"}
)
_MOVING = frozenset({"step", "update", "update_parameters"})
_ASKING = frozenset({"scale", "unscale_", "get_last_lr", "get_lr", "get_scale", "eval", "train", "is_enabled"})


_SCALING, _KEEPING_SCALES = "apex.amp.initialize", ("apex.amp.state_dict", "apex.amp.load_state_dict")
_MOVED = frozenset({"O1", "O2"})
"""The levels whose loss scale moves by default (apex 0.1, apex/amp/frontend.py)."""


def lost_states(facts: FileFacts) -> Iterator[CallSite]:
    """The calls that make what a training moves on with each step or epoch, and neither saves nor restores.

    All that becomes of it has to be seen: what is handed on may be saved by others.
    """
    for site in facts.symbols.calls:
        name = facts.names(site.node.func, site.scope).only or ""
        is_schedule = name.startswith(_SCHEDULES) and name.removeprefix(_SCHEDULES) not in _BY_RATE
        if (is_schedule or name in _OTHERS) and _starts_anew(facts, site) and _is_only_moved(facts, site, name):
            yield site
    yield from _lost_scales(facts)


def _lost_scales(facts: FileFacts) -> Iterator[CallSite]:
    """`amp.initialize(...)` of apex, which keeps its loss scales to itself: nothing asks for them."""
    is_kept = any(True for _ in facts.calls.find(names=_KEEPING_SCALES))
    for site in facts.calls.find(names=(_SCALING,)) if not is_kept else ():
        level = argument_of(site.node, "opt_level", 3)
        is_moved = level is None or facts.value(level, site.scope).only(str) in _MOVED
        is_asked_for = any(True for _ in tests_around(facts, site.statement))
        if is_moved and not is_asked_for and _starts_anew(facts, site):
            yield site


def _starts_anew(facts: FileFacts, site: CallSite) -> bool:
    """Whether nothing tells the object where the training is, and it is in use, be no option asked for that."""
    told, enabled = (argument_of(site.node, name, None) for name in ("last_epoch", "enabled"))
    return told is None and (enabled is None or facts.value(enabled, site.scope).only(bool) is True)


def _is_only_moved(facts: FileFacts, site: CallSite, name: str) -> bool:
    targets = site.statement.targets if isinstance(site.statement, ast.Assign) else []
    target = targets[0] if len(targets) == 1 and getattr(site.statement, "value", None) is site.node else None
    if isinstance(target, ast.Name):
        reads: list[ast.expr] = [*facts.index.reads_of(target)]
    elif target is not None and is_own(target):
        reads = [one for one in facts.index.attributes(target.attr) if isinstance(one.ctx, ast.Load)]
    else:
        return False
    calls = [_method_of(facts, read) for read in reads]
    moves = [call for call in calls if call is not None and is_method_call(call, *_MOVING)]
    return None not in calls and bool(moves) and all(_goes_on(facts, call, name) for call in moves)


def _method_of(facts: FileFacts, read: ast.expr) -> ast.Call | None:
    """The call of a harmless method of what is read."""
    method = facts.index.parents[read]
    call = facts.index.parents[method]
    is_call = isinstance(method, ast.Attribute) and isinstance(call, ast.Call) and call.func is method
    is_known = isinstance(method, ast.Attribute) and method.attr in _MOVING | _ASKING
    return call if is_call and is_known and isinstance(call, ast.Call) else None


def _goes_on(facts: FileFacts, call: ast.Call, name: str) -> bool:
    """Whether a step counts by itself: not `scheduler.step(epoch)`, and not in a loop that only catches up."""
    is_told = name.startswith(_SCHEDULES) and name != _BY_METRIC and bool(call.args or call.keywords)
    loop = next(loops_around(facts, facts.index.statement_of(call)), None)
    return not is_told and (loop is None or len(loop.body) > 1)
