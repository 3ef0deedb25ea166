"""The seed that something is given, at once or later, and what makes harmless that it draws without one."""

from __future__ import annotations

import ast
import enum
import re
from collections.abc import Collection, Iterable, Iterator

from torchlint.checks.framework.visit import Visit
from torchlint.facts.calls import arguments_for
from torchlint.facts.classes import values_kept
from torchlint.facts.control.conditions import tests_around
from torchlint.facts.definitions import definitions_of, is_none
from torchlint.facts.file import FileFacts
from torchlint.facts.flow.tracker import Analysis, Sink
from torchlint.facts.flow.values import EVERYWHERE, Definition, End, Move, Parameter, Stored, Value
from torchlint.facts.origins import Origin, beyond
from torchlint.facts.values import argument_of

_CHOICE = re.compile(r"\b(?:none|seed|rng|random_?state|generator|determin)", re.IGNORECASE)
"""Words of tests that ask whether somebody wants a seed."""
_SEEDING = frozenset(
    {"seed", "setstate", "set_state", "set_random_state", "set_random_seed", "manual_seed", "bit_generator"}
)


class Seed(enum.Enum):
    """What is seen of a seed."""

    NOTHING = "None, which says the same as no argument"
    NUMBER = "number"


_Found = Seed | Origin | None
"""None stands for a choice of others, and for what is not seen."""


def is_given(visit: Visit, parameter: str, position: int | None) -> bool:
    """Whether a seed or generator is given; None, written out or handed on, says the same as nothing."""
    return seeds(visit, parameter, position) != (Seed.NOTHING,)


def may_be_unset(found: Collection[_Found]) -> bool:
    """Whether a seed is None or, as far as this file shows, may be: never anything but a number besides."""
    is_asked = any(isinstance(one, Origin) for one in found)
    return None not in found and (is_asked or Seed.NOTHING in found) and not (is_asked and Seed.NUMBER in found)


def seeds(visit: Visit, parameter: str, position: int | None) -> tuple[_Found, ...]:
    """What a seed or generator that is given may be, each once."""
    given = argument_of(visit.call, parameter, position)
    if given is None:
        return (Seed.NOTHING,)
    ends = definitions_of(visit.facts, given, visit.scope, EVERYWHERE)
    found = [one for end in ends for one in seed_of(visit.facts, end)]
    if any(isinstance(end, Parameter) for end in ends):  # callers that give a number choose for themselves
        found = [None if one is Seed.NUMBER else one for one in found]
    return tuple(dict.fromkeys(found)) or (Seed.NOTHING,)


def seed_of(facts: FileFacts, end: End) -> Iterator[_Found]:
    """The same of one end of its definition."""
    origin = beyond(facts, end)
    if origin is not None:
        yield origin
    elif isinstance(end, Definition) and not end.parts and isinstance(end.node, ast.Constant):
        yield None if _is_chosen(facts, end.node) else Seed.NOTHING if is_none(end) else Seed.NUMBER
    else:  # a parameter that each call in sight gives; one that is left out may be an option for others
        given = arguments_for(facts, end.name, end.function) if isinstance(end, Parameter) else []
        yield from () if given and None not in given else (None,)


def _is_chosen(facts: FileFacts, node: ast.expr | ast.stmt) -> bool:
    """Whether code runs under a test of the seed or the generator."""
    is_written = isinstance(node, ast.stmt) or node in facts.index.parents
    return is_written and any(_CHOICE.search(ast.unparse(test)) for test in tests_around(facts, node))


class Seeding(Analysis):
    """Where a generator is seeded after all, or one of several is taken."""

    def steps(self, value: Value) -> Iterable[Move | Sink]:
        above = self.facts.index.parents[value.node]
        if isinstance(above, (ast.IfExp, ast.BoolOp)) and value.node is not getattr(above, "test", None):
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
        is_handed_on = isinstance(above, (ast.Call, ast.keyword)) and not self._methods
        return moves or ([Sink("handed on", above)] if is_handed_on else ())


def is_fallback(visit: Visit) -> bool:
    """A fallback for a generator or a seed that the caller did not give."""
    if _is_chosen(visit.facts, visit.statement):
        return True
    function = visit.facts.function_of(visit.scope)
    if function is None and isinstance(visit.statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return True  # the default of a parameter
    around = [above for above, _ in visit.facts.index.ancestors(visit.call)]
    is_drawn_from = isinstance(around[0], ast.Attribute) if around else False
    # An expression takes the generator or another; one that draws from it at once chooses something else.
    choosing = (one for one in around if isinstance(one, (ast.IfExp, ast.BoolOp, ast.arguments, ast.Dict)))
    return any(
        not (is_drawn_from and isinstance(one, ast.IfExp)) or _CHOICE.search(ast.unparse(one.test)) for one in choosing
    )
