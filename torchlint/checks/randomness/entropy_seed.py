"""TL302 entropy-seed: a seed that no run can repeat."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from torchlint.catalogue import Catalogue
from torchlint.catalogue.load import load_generators
from torchlint.catalogue.values import Kind
from torchlint.checks.framework.drafts import Draft
from torchlint.checks.framework.registration import Finding, Triggers, check
from torchlint.checks.framework.visit import Visit
from torchlint.facts.calls import callers
from torchlint.facts.control.conditions import tests_around
from torchlint.facts.control.order import precedes
from torchlint.facts.definitions import Definition, Parameter, Through, definitions_of, is_none
from torchlint.facts.entries import is_test
from torchlint.facts.full_names import dotted
from torchlint.facts.randomness.seeding import SeedCall
from torchlint.facts.tensors.kinds import kind_of
from torchlint.facts.tree import is_literal_none, is_main_guard, is_own
from torchlint.project.index import Project
from torchlint.project.programs import Program

_CODE = "TL302"
_SETTERS = load_generators().setters | load_generators().without_argument

_UNSET = frozenset({"numpy.random.seed", "random.seed"})
"""Setters that take entropy from the system when they get no seed, or None."""

_HASH = "builtins.hash"
_ARITHMETIC = frozenset({"int", "abs", "round", "min", "max"})


@dataclass(frozen=True, slots=True)
class _Entropy:
    """Where a seed comes from; `generator` is the one it is drawn from, as in the registry."""

    source: str
    generator: str = ""
    symbol: str = ""
    line: int = 0


def _judge(draft: Draft, project: Project) -> Draft | None:
    """Tests that draw another case every time are meant to; what is drawn repeats once its generator is seeded."""
    if is_test(draft.path):
        return None
    if draft.message != "drawn":
        return draft
    programs = project.programs.reaching(draft.path)
    return draft if programs and not any(_is_seeded_in(one, draft, project) for one in programs) else None


def _is_seeded_in(program: Program, draft: Draft, project: Project) -> bool:
    """Whether a program may have seeded the generator that the seed is drawn from."""
    return any(
        draft.values["generator"] in seed.generators and not _is_later(seed, draft)
        for path in program.files & project.summaries.keys()
        for seed in project.summaries[path].seeds
    )


def _is_later(seed: SeedCall, draft: Draft) -> bool:
    """Whether a call seeds below the draw, in the same function."""
    symbol, line = draft.values["symbol"], int(draft.values["line"])
    return (seed.path, seed.symbol) == (draft.path, symbol) and seed.moment.start[0] > line


@check(
    codes=(_CODE,),
    triggers=Triggers(calls=_SETTERS),
    judge=_judge,
)
def find(visit: Visit) -> Iterator[Finding]:
    """A seeding call whose seed comes from the clock, the process, the system's entropy or a salted hash."""
    setter, call = visit.callee(), visit.call
    if setter not in _SETTERS or _is_fallback(visit):
        return
    if setter in load_generators().without_argument:
        # `seed = torch.seed()` keeps the seed it drew, so that a run can be told to repeat it.
        if not call.args and visit.site.is_alone:
            yield Finding(_CODE, visit.node, {"setter": setter}, "unset")
    else:
        yield from _seeded(visit, setter, call)


def _seeded(visit: Visit, setter: str, call: ast.Call) -> Iterator[Finding]:
    seed = call.args[0] if call.args else next((k.value for k in call.keywords if k.arg in ("seed", "a")), None)
    if seed is None or is_literal_none(seed):
        if setter in _UNSET and (seed is not None or not call.keywords):
            yield Finding(_CODE, visit.node, {"setter": setter}, "unset")
        return
    found = _source(visit, seed, visit.scope)
    if found is not None and not found.generator:
        yield Finding(_CODE, visit.node, {"setter": setter, "source": found.source})
    elif found is not None:
        drawn = {"generator": found.generator, "symbol": found.symbol, "line": str(found.line)}
        yield Finding(_CODE, visit.node, {"setter": setter, "source": found.source, **drawn}, "drawn")


def _is_fallback(visit: Visit) -> bool:
    """Under an `if` that asks for the seed: `if args.seed is None:`."""
    tests = [ast.unparse(test).lower() for test in tests_around(visit.facts, visit.statement)]
    return any(word in test for test in tests for word in ("seed", "determin", "random"))


def _source(visit: Visit, seed: ast.expr, scope: int, depth: int = 6) -> _Entropy | None:
    """The entropy in a seed expression, looked for through arithmetic, `int()` and what keeps it; None for a choice."""
    if depth == 0:
        return None
    for inner in _calls_in(seed):
        name = visit.facts.names(inner.func, scope).only
        if name in load_generators().entropy:
            return _Entropy(f"{name}()")
        if name == _HASH and inner.args and _is_salted(visit, inner.args[0], scope):
            return _Entropy(f"hash({ast.unparse(inner.args[0])})")
        generator = _generator(visit.catalogue, name)
        if generator is not None:
            return _Entropy(f"{name}()", generator, _symbol(visit, inner), inner.lineno)
    for held in _held_in(seed):
        found = _bound_source(visit, held, scope, depth)
        if found is not None:
            return found
    return None


def _generator(catalogue: Catalogue, name: str | None) -> str | None:
    """The library's own generator that a call draws values from."""
    entries = (entry for entry in catalogue.randomness.draw if not entry.makes)
    return next((entry.generator for entry in entries if name in entry.calls), None)


def _symbol(visit: Visit, call: ast.Call) -> str:
    return next((visit.facts.symbol_of(site) for site in visit.facts.reading.calls if site.node is call), "")


def _calls_in(seed: ast.expr) -> Iterator[ast.Call]:
    """Calls that decide the seed; those in a fallback (`seed or time.time()`, `x if x else time.time()`) do not."""
    if isinstance(seed, ast.BoolOp | ast.IfExp | ast.Lambda):
        return
    if isinstance(seed, ast.Call):
        yield seed
    for child in ast.iter_child_nodes(seed):
        if isinstance(child, ast.expr):
            yield from _calls_in(child)


def _held_in(seed: ast.expr) -> Iterator[ast.Name | ast.Attribute]:
    if isinstance(seed, ast.Name | ast.Attribute):
        yield seed
    elif isinstance(seed, ast.BinOp):
        yield from _held_in(seed.left)
        yield from _held_in(seed.right)
    elif isinstance(seed, ast.Call) and isinstance(seed.func, ast.Name) and seed.func.id in _ARITHMETIC:
        for argument in seed.args:
            yield from _held_in(argument)


def _bound_source(visit: Visit, held: ast.Name | ast.Attribute, scope: int, depth: int) -> _Entropy | None:
    """The entropy in the value of a name or an attribute, when all that is seen to be its value has some."""
    if isinstance(held, ast.Attribute) and not is_own(held):
        return _kept_source(visit, held, depth)
    ends = definitions_of(visit.facts, held, scope, Through.PARAMETERS | Through.RESULTS)
    found = [
        _source(visit, end.node, end.scope, depth - 1) if isinstance(end, Definition) else None
        for end in ends
        if not is_none(end) and not (isinstance(end, Parameter) and callers(visit.facts, end.function))
    ]
    return found[0] if found and None not in found else None


def _kept_source(visit: Visit, held: ast.Attribute, depth: int) -> _Entropy | None:
    """`options.seed = random.randint(1, 10000)`, whatever was asked: the only assignment, and under no `if`."""
    facts, kept = visit.facts, dotted(held)
    found = [one for one in facts.reading.assignments if kept is not None and dotted(one.target) == kept]
    if len(found) != 1 or found[0].value is None or not precedes(facts, found[0].statement, visit.call):
        return None
    if any(not is_main_guard(test) for test in tests_around(facts, found[0].statement)):
        return None
    return _source(visit, found[0].value, found[0].scope, depth - 1)


def _is_salted(visit: Visit, argument: ast.expr, scope: int) -> bool:
    return kind_of(visit.facts, argument, scope) is Kind.TEXT
