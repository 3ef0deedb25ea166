"""Modules that only run where gradients are off: a network that scores what another one makes."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from torchlint.facts.calls import wrapped_by
from torchlint.facts.flow.containment import Containment, lost
from torchlint.facts.flow.stores import symbol_of
from torchlint.facts.flow.tracker import Sink
from torchlint.facts.flow.values import Move, Value
from torchlint.facts.gradients import is_gradless
from torchlint.facts.moves import moved

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

_RUNNING_NOTHING = frozenset(
    {"train", "eval", "state_dict", "load_state_dict", "parameters", "named_parameters", "modules", "requires_grad_"}
)


class Ungraded(Containment):
    """Follows a module to all that runs it; a gradient, or a use that is not understood, is a sink."""

    def __init__(self, facts: FileFacts, is_ungraded: Callable[[str], bool]) -> None:
        super().__init__(facts)
        self._is_ungraded = is_ungraded
        """Whether that is so of all objects of a class: what its methods run needs no `no_grad` of its own."""
        self.is_run = False
        """Whether a call is seen: a module that nobody runs may be trained out of sight."""

    def steps(self, value: Value) -> Iterable[Move | Sink]:
        facts, node = self.facts, value.node
        above = facts.index.parents[node]
        if isinstance(above, ast.Call) and above.func is node:
            self.is_run = True
            return () if self._is_off(above) else [lost(above)]
        if isinstance(above, ast.Call) and wrapped_by(facts, above, facts.index.inner_scope_of(above)) is node:
            return [value.at(above)]
        if isinstance(above, ast.Attribute) and isinstance(above.ctx, ast.Load):
            return self._member(value, above)
        return self.passes(value)

    def _member(self, value: Value, member: ast.Attribute) -> Iterable[Move | Sink]:
        call = self.facts.index.parents[member]
        if isinstance(call, ast.Call) and moved(call) is not None:
            return () if isinstance(self.facts.index.parents[call], ast.Expr) else [value.at(call)]
        return () if member.attr in _RUNNING_NOTHING or self._is_off(member) else [lost(member)]

    def _is_off(self, node: ast.expr) -> bool:
        owner = self.facts.class_of(self.facts.index.scope_of(node))
        return is_gradless(self.facts, node) or (owner is not None and self._is_ungraded(symbol_of(self.facts, owner)))
