"""Where a seed comes from: the entropy in it, a number, or what other files have."""

from __future__ import annotations

import ast
import enum
import re
from collections.abc import Iterator

import msgspec

from torchlint.catalogue import Catalogue
from torchlint.catalogue.load import load_generators
from torchlint.catalogue.values import Kind
from torchlint.facts.calls import callers
from torchlint.facts.control.conditions import tests_around
from torchlint.facts.definitions import definitions_of, is_none
from torchlint.facts.ends import EVERYWHERE, Definition, End, Parameter
from torchlint.facts.file import FileFacts
from torchlint.facts.origins import Origin, beyond
from torchlint.facts.tensors.kinds import kind_of

_HASH = "builtins.hash"
_ARITHMETIC = frozenset({"int", "abs", "round", "min", "max"})
_CHOICE = re.compile(r"seed|determin|random", re.IGNORECASE)
_NAMED = re.compile(r"\w+ := ")


class Entropy(msgspec.Struct, frozen=True):
    """What differs in every run; `generator` is the one that a seed is drawn from, as in the registry."""

    source: str
    generator: str = ""
    path: str = ""
    symbol: str = ""
    line: int = 0


class Number(enum.Enum):
    """A seed that repeats."""

    FIXED = "fixed"


Found = Entropy | Number | Origin | None
"""None stands for a choice, and for what is not seen."""


def is_asked_for(facts: FileFacts, node: ast.stmt | ast.expr) -> bool:
    """Whether code runs under a test of the seed: `if args.seed is None:`."""
    return any(_CHOICE.search(_NAMED.sub("", ast.unparse(test))) for test in tests_around(facts, node))


class Seeds(msgspec.Struct, frozen=True):
    """Asks where a seed comes from, through arithmetic, `int()` and what keeps it."""

    catalogue: Catalogue
    depth: int = 6

    def of(self, facts: FileFacts, seed: ast.expr, scope: int) -> list[Found]:
        """What a seed may be, each once."""
        ends = definitions_of(facts, seed, scope, EVERYWHERE) if self.depth else (None,)
        found = dict.fromkeys(one for end in ends for one in self.of_end(facts, end))
        if any(isinstance(end, Parameter) for end in ends):  # callers that give a number choose for themselves
            return [None if one is Number.FIXED else one for one in found]
        return list(found)

    def of_end(self, facts: FileFacts, end: End) -> Iterator[Found]:
        """The same of an end of a definition."""
        origin = beyond(facts, end)
        if origin is not None:
            yield origin
        elif isinstance(end, Definition) and not end.parts:
            yield from () if is_none(end) else self._of_node(facts, end.node, end.scope)
        elif isinstance(end, Definition) and isinstance(end.node, ast.Call):  # `uuid.uuid4().int`
            yield self._drawn(facts, end.node, end.scope)
        elif not isinstance(end, Parameter) or not callers(facts, end.function):
            yield None

    def _of_node(self, facts: FileFacts, node: ast.expr, scope: int) -> list[Found]:
        if isinstance(node, ast.Constant):
            return [Number.FIXED]
        for inner in _calls_in(node):
            found = self._drawn(facts, inner, scope)
            if found is not None:
                return [None if is_asked_for(facts, inner) else found]
        of_operands = [Seeds(self.catalogue, self.depth - 1).of(facts, one, scope) for one in _operands(node)]
        return max(of_operands, key=_weight, default=[None])

    def _drawn(self, facts: FileFacts, call: ast.Call, scope: int) -> Entropy | None:
        name = facts.names(call.func, scope).only
        if name in load_generators().entropy:
            return Entropy(f"{name}()")
        if name == _HASH and call.args and kind_of(facts, call.args[0], scope) is Kind.TEXT:
            return Entropy(f"hash({ast.unparse(call.args[0])})")
        entries = (entry for entry in self.catalogue.randomness.draw if not entry.makes and name in entry.calls)
        generator = next((entry.generator for entry in entries), None)
        symbol = facts.symbol_at(scope, facts.index.statement_of(call))
        return None if generator is None else Entropy(f"{name}()", generator, facts.path, symbol, call.lineno)


def _weight(found: list[Found]) -> int:
    """Which operand decides of a result: one that is entropy, else one that may be."""
    if None not in found:
        return 3 if any(isinstance(one, Entropy) for one in found) else 2 if found != [Number.FIXED] else 0
    return 1


def _calls_in(seed: ast.expr) -> Iterator[ast.Call]:
    """Calls that decide the seed; those in a choice are asked for by themselves."""
    if isinstance(seed, ast.BoolOp | ast.IfExp | ast.Lambda):
        return
    if isinstance(seed, ast.Call):
        yield seed
    for child in ast.iter_child_nodes(seed):
        if isinstance(child, ast.expr):
            yield from _calls_in(child)


def _operands(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    is_arithmetic = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _ARITHMETIC
    return node.args if is_arithmetic else []  # type: ignore[attr-defined]
