"""What makes harmless that something draws without a seed: a seed that it gets later, or no use."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator

from torchlint.checks.framework.visit import Visit
from torchlint.checks.randomness.given_seeds import CHOICE, is_chosen
from torchlint.facts.classes import values_kept
from torchlint.facts.file import FileFacts
from torchlint.facts.flow.tracker import Analysis, Sink
from torchlint.facts.flow.values import Move, Stored, Value

_SEEDING = frozenset(
    {"seed", "setstate", "set_state", "set_random_state", "set_random_seed", "manual_seed", "bit_generator"}
)


class Seeding(Analysis):
    """Where a generator is seeded after all, or one of several is taken."""

    def steps(self, value: Value) -> Iterable[Move | Sink]:
        above = self.facts.index.parents[value.node]
        if isinstance(above, ast.IfExp | ast.BoolOp) and value.node is not getattr(above, "test", None):
            return [Sink("one of several", above)]  # it serves callers that ask for no seed
        if not isinstance(above, ast.Attribute):
            return self.passes(value)
        user = self.facts.index.parents[above]
        is_state = above.attr == "bit_generator" and isinstance(getattr(user, "ctx", None), ast.Store)
        is_call = isinstance(user, ast.Call) and user.func is above and bool(user.args or user.keywords)
        is_set = is_state or isinstance(above.ctx, ast.Store)  # `study.sampler = TPESampler(seed=0)`
        return [Sink("seeded", above)] if is_set or (is_call and above.attr in _SEEDING) else ()

    def beyond(self, move: Move) -> Iterator[Move | Sink]:
        """An attribute that gets other generators as well."""
        if isinstance(move, Stored) and values_kept(self.facts, move.owner, move.name) > 1:
            yield Sink("another one", move.value.node)


class Use(Analysis):
    """Where a generator is drawn from, or handed to code that is not seen; or one of these methods of it is called."""

    def __init__(self, facts: FileFacts, methods: Collection[str] = ()) -> None:
        super().__init__(facts)
        self._methods = methods

    def steps(self, value: Value) -> Iterable[Move | Sink]:
        above = self.facts.index.parents[value.node]
        if isinstance(above, ast.Attribute):
            return [Sink("drawn from", above)] if not self._methods or above.attr in self._methods else ()
        moves = list(self.passes(value))
        is_handed_on = isinstance(above, ast.Call | ast.keyword) and not self._methods
        return moves or ([Sink("handed on", above)] if is_handed_on else ())


def is_fallback(visit: Visit) -> bool:
    """A fallback for a generator or a seed that the caller did not give."""
    if is_chosen(visit.facts, visit.statement):
        return True
    function = visit.facts.function_of(visit.scope)
    if function is None and isinstance(visit.statement, ast.FunctionDef | ast.AsyncFunctionDef):
        return True  # the default of a parameter
    around = [above for above, _ in visit.facts.index.ancestors(visit.call)]
    is_drawn_from = isinstance(around[0], ast.Attribute) if around else False
    return any(_chooses(above, is_drawn_from=is_drawn_from) for above in around)


def _chooses(above: ast.AST, *, is_drawn_from: bool) -> bool:
    """Whether an expression takes the generator or another; one that draws from it at once chooses something else."""
    if isinstance(above, ast.IfExp) and is_drawn_from:
        return CHOICE.search(ast.unparse(above.test)) is not None
    return isinstance(above, ast.IfExp | ast.BoolOp | ast.arguments | ast.Dict)
