"""TL606 unpinned-nonblocking: batches that are copied without blocking, from memory that is not pinned."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from torchlint.checks.framework.registration import Finding, Triggers, check, judged_by_sink
from torchlint.checks.framework.visit import Visit, shortened
from torchlint.facts.data_loading.loaders import LOADER
from torchlint.facts.file import FileFacts
from torchlint.facts.flow.tracker import Analysis, Sink, follow
from torchlint.facts.flow.values import EACH, Move, Value
from torchlint.facts.tree import is_method_call
from torchlint.facts.values import argument_of, may_be_hidden

_CODE = "TL606"
_PIN = 7
"""The position of `pin_memory` among the loader's arguments."""
_COPIES = ("to", "cuda")
_TOLD = "here a batch is copied"


class _Copies(Analysis):
    """Where batches, or parts of them, are copied to a device without blocking."""

    def steps(self, value: Value) -> Iterable[Move | Sink]:
        above = self.facts.index.parents[value.node]
        call = self.facts.index.parents.get(above)
        if value.path or not isinstance(above, (ast.Attribute, ast.Subscript)):
            return self.passes(value)
        if isinstance(call, ast.Call) and call.func is above:
            return [Sink("copied", call)] if _is_hurried_copy(self.facts, call) else ()
        return [value.at(above)] if isinstance(above.ctx, ast.Load) and above.value is value.node else ()


def _is_hurried_copy(facts: FileFacts, call: ast.Call) -> bool:
    """`x.cuda(non_blocking=True)`, `x.to(device, non_blocking=True)`, but not to the CPU."""
    flag, device = argument_of(call, "non_blocking", None), argument_of(call, "device", 0)
    if flag is None or not is_method_call(call, *_COPIES):
        return False
    scope = facts.index.inner_scope_of(call)
    return facts.value(flag, scope).only(bool) is True and "cpu" not in facts.value(device, scope).constants


@check(codes=(_CODE,), triggers=Triggers(calls=frozenset({LOADER})), judge=judged_by_sink(_Copies, _TOLD))
def find(visit: Visit) -> Iterator[Finding]:
    """The loader, where the fix belongs; the first copy of what it loads is told beside it."""
    if visit.callee() != LOADER:
        return
    # Without pinning, which is the default.
    pin = argument_of(visit.call, "pin_memory", _PIN)
    may_be_pinned = may_be_hidden(visit.call, _PIN) if pin is None else visit.value(pin).only(bool) is not False
    if may_be_pinned:
        return
    # Batches are tensors, or hold them.
    flow = follow(_Copies(visit.facts), *(Value(visit.call, (EACH,) * depth) for depth in (1, 2)))
    if flow.sink is not None or flow.exits:
        values = {"loader": shortened(ast.unparse(visit.call.func))}
        related = () if flow.sink is None else (*flow.trace, (flow.sink.node, _TOLD))
        yield Finding(_CODE, visit.node, values, related=related, exits=tuple(flow.exits))
