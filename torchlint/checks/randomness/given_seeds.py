"""The seed that something is given: a number, None, which says nothing, or what another file knows."""

from __future__ import annotations

import ast
import enum
import re
from collections.abc import Collection, Iterator

from torchlint.checks.framework.visit import Visit
from torchlint.facts.calls import arguments_for
from torchlint.facts.control.conditions import tests_around
from torchlint.facts.definitions import definitions_of, is_none
from torchlint.facts.ends import EVERYWHERE, Definition, End, Parameter
from torchlint.facts.file import FileFacts
from torchlint.facts.origins import Origin, beyond
from torchlint.facts.values import argument_of

CHOICE = re.compile(r"\b(?:none|seed|rng|random_?state|generator|determin)", re.IGNORECASE)
"""Words of tests that ask whether somebody wants a seed."""


class Seed(enum.Enum):
    """What is seen of a seed."""

    NOTHING = "None, which says the same as no argument"
    NUMBER = "number"


Found = Seed | Origin | None
"""None stands for a choice of others, and for what is not seen."""


def is_given(visit: Visit, parameter: str, position: int | None) -> bool:
    """Whether a seed or generator is given; None, written out or handed on, says the same as nothing."""
    return seeds(visit, parameter, position) != (Seed.NOTHING,)


def may_be_unset(found: Collection[Found]) -> bool:
    """Whether a seed is None or, as far as this file shows, may be: never anything but a number besides."""
    is_asked = any(isinstance(one, Origin) for one in found)
    return None not in found and (is_asked or Seed.NOTHING in found) and not (is_asked and Seed.NUMBER in found)


def seeds(visit: Visit, parameter: str, position: int | None) -> tuple[Found, ...]:
    """What a seed or generator that is given may be, each once."""
    given = argument_of(visit.call, parameter, position)
    if given is None:
        return (Seed.NOTHING,)
    ends = definitions_of(visit.facts, given, visit.scope, EVERYWHERE)
    found = [one for end in ends for one in seed_of(visit.facts, end)]
    if any(isinstance(end, Parameter) for end in ends):  # callers that give a number choose for themselves
        found = [None if one is Seed.NUMBER else one for one in found]
    return tuple(dict.fromkeys(found)) or (Seed.NOTHING,)


def seed_of(facts: FileFacts, end: End) -> Iterator[Found]:
    """The same of one end of its definition."""
    origin = beyond(facts, end)
    if origin is not None:
        yield origin
    elif isinstance(end, Definition) and not end.parts and isinstance(end.node, ast.Constant):
        yield None if is_chosen(facts, end.node) else Seed.NOTHING if is_none(end) else Seed.NUMBER
    elif not _is_always_handed(facts, end):
        yield None


def is_chosen(facts: FileFacts, node: ast.expr | ast.stmt) -> bool:
    """Whether code runs under a test of the seed or the generator."""
    is_written = isinstance(node, ast.stmt) or node in facts.index.parents
    return is_written and any(CHOICE.search(ast.unparse(test)) for test in tests_around(facts, node))


def _is_always_handed(facts: FileFacts, end: End) -> bool:
    """Whether each call that is seen gives a parameter; one that is left out may be an option for others."""
    given = arguments_for(facts, end.name, end.function) if isinstance(end, Parameter) else []
    return bool(given) and None not in given
