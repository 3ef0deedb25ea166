"""TL503 shared-parameters: processes that step one model in shared memory, in no order (Hogwild)."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from torchlint.checks.framework.registration import Finding, Triggers, check, judged_by_sink
from torchlint.checks.framework.visit import Visit
from torchlint.facts.definitions import only_value
from torchlint.facts.flow.tracker import Analysis, Sink, follow
from torchlint.facts.flow.values import Move, Value
from torchlint.facts.tree import is_method_call, last_word
from torchlint.facts.values import starter_of

_CODE = "TL503"
_STARTED = "in a process"
_TRAINED = "the processes train it here"
_SAME = frozenset({"share_memory", "to", "cuda", "train", "eval", "double", "float"})
"""Methods that give the model itself."""


class _Training(Analysis):
    """Where other processes train a model, by an optimizer of their own or of its maker."""

    def steps(self, value: Value) -> Iterable[Move | Sink]:
        above = self.facts.index.parents[value.node]
        if isinstance(above, ast.Attribute):
            return self._asked(value, above)
        outer = above
        while isinstance(outer, (ast.Tuple, ast.List, ast.keyword)):
            outer = self.facts.index.parents[outer]
        if isinstance(outer, ast.Call) and starter_of(self.facts, outer, self.facts.index.scope_of(outer)):
            return self.passes(replace(value, label=_STARTED))
        return self.passes(value)

    def _asked(self, value: Value, above: ast.Attribute) -> Iterator[Move | Sink]:
        call = self.facts.index.parents[above]
        if not isinstance(call, ast.Call) or call.func is not above:
            return
        maker = self.facts.index.parents[call]
        if above.attr in _SAME:
            yield value.at(call)
        elif above.attr == "step" and value.label == _STARTED:
            yield Sink("steps it", call)
        elif above.attr == "parameters" and isinstance(maker, ast.Call) and last_word(maker.func)[:1].isupper():
            # `SGD`, `optim.Adam`: constructors have capitals.
            yield Sink("trains it", maker) if value.label == _STARTED else value.at(maker)


@check(
    codes=(_CODE,), triggers=Triggers(methods=frozenset({"share_memory"})), judge=judged_by_sink(_Training, _TRAINED)
)
def find(visit: Visit) -> Iterator[Finding]:
    """`model.share_memory()` for processes that train the model; what they run may stand in another file."""
    if not is_method_call(visit.call, "share_memory"):
        return
    model = visit.call.func.value
    made, _ = only_value(visit.facts, model, visit.scope)
    flow = follow(_Training(visit.facts), Value(model if made is None else made))
    if flow.sink is not None or flow.exits:
        values = {"model": visit.code(model)}
        related = (*flow.trace, (flow.sink.node, _TRAINED)) if flow.sink is not None else ()
        yield Finding(_CODE, visit.node, values, related=related, exits=tuple(flow.exits))


@check(codes=(_CODE,), triggers=Triggers(methods=frozenset({"share_memory"})), is_open=True)
def left_open(visit: Visit) -> Iterator[Finding]:
    """Any model that processes share."""
    if is_method_call(visit.call, "share_memory"):
        yield Finding(_CODE, visit.node)
