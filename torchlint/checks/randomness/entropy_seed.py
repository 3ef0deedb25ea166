"""TL302 entropy-seed: a seed that no run can repeat."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec
from msgspec.structs import asdict, replace

from torchlint.catalogue import Catalogue
from torchlint.catalogue.load import load_generators
from torchlint.catalogue.values import Kind
from torchlint.checks.framework.drafts import Draft
from torchlint.checks.framework.registration import Finding, Triggers, check
from torchlint.checks.framework.visit import Visit
from torchlint.checks.randomness.given_seeds import Seed
from torchlint.facts.calls import callers
from torchlint.facts.control.conditions import tests_around
from torchlint.facts.definitions import definitions_of, is_none
from torchlint.facts.entries import is_test
from torchlint.facts.file import FileFacts
from torchlint.facts.flow.values import EVERYWHERE, Definition, End, Parameter
from torchlint.facts.memoizing import followed
from torchlint.facts.notation import result_of
from torchlint.facts.options.demands import Demand, default_of
from torchlint.facts.origins import Origin, beyond
from torchlint.facts.tensors.kinds import kind_of
from torchlint.facts.tree import is_literal_none
from torchlint.project.flows import origins_answered
from torchlint.project.index import Project
from torchlint.project.options import option_for_seed, unmet
from torchlint.project.programs import Program

_CODE = "TL302"
_SETTERS = load_generators().setters | load_generators().without_argument

_OPEN = "open"
"""No finding yet: whether anybody gives a parameter, the project knows."""
_UNSET = frozenset({"numpy.random.seed", "random.seed"})
"""Setters that take entropy from the system when they get no seed, or None."""
_HASH = "builtins.hash"
_ARITHMETIC = frozenset({"int", "abs", "round", "min", "max"})
_CHOICE = re.compile(r"seed|determin|random", re.IGNORECASE)
_NAMED = re.compile(r"\w+ := ")


class _Entropy(msgspec.Struct, frozen=True):
    """What differs in every run; `generator` is the one that a seed is drawn from, as in the registry."""

    source: str
    generator: str = ""
    path: str = ""
    symbol: str = ""
    line: int = 0


_Found = _Entropy | Literal[Seed.NUMBER] | Origin | None
"""None stands for a choice, and for what is not seen."""


def _is_asked_for(facts: FileFacts, node: ast.stmt | ast.expr) -> bool:
    """Whether code runs under a test of the seed: `if args.seed is None:`."""
    return any(_CHOICE.search(_NAMED.sub("", ast.unparse(test))) for test in tests_around(facts, node))


@followed(otherwise=(None,))
def _seeds_of(facts: FileFacts, catalogue: Catalogue, seed: ast.expr, scope: int) -> tuple[_Found, ...]:
    """What a seed may be, each once: through arithmetic, `int()` and what keeps it."""
    ends = definitions_of(facts, seed, scope, EVERYWHERE)
    found = dict.fromkeys(one for end in ends for one in _seeds_at(catalogue, facts, end))
    if any(isinstance(end, Parameter) for end in ends):  # callers that give a number choose for themselves
        return tuple(None if one is Seed.NUMBER else one for one in found)
    return tuple(found)


def _seeds_at(catalogue: Catalogue, facts: FileFacts, end: End) -> Iterator[_Found]:
    """The same of an end of a definition."""
    origin = beyond(facts, end)
    if origin is not None:
        yield origin
    elif isinstance(end, Definition) and not end.parts:
        yield from () if is_none(end) else _of_node(facts, catalogue, end.node, end.scope)
    elif isinstance(end, Definition) and isinstance(end.node, ast.Call):  # `uuid.uuid4().int`
        yield _drawn(facts, catalogue, end.node, end.scope)
    elif not isinstance(end, Parameter) or not callers(facts, end.function):
        yield None


def _of_node(facts: FileFacts, catalogue: Catalogue, node: ast.expr, scope: int) -> tuple[_Found, ...]:
    if isinstance(node, ast.Constant):
        return (Seed.NUMBER,)
    for inner in _calls_in(node):
        found = _drawn(facts, catalogue, inner, scope)
        if found is not None:
            return (None if _is_asked_for(facts, inner) else found,)
    of_operands = [_seeds_of(facts, catalogue, one, scope) for one in _operands(node)]
    return max(of_operands, key=_weight, default=(None,))


def _drawn(facts: FileFacts, catalogue: Catalogue, call: ast.Call, scope: int) -> _Entropy | None:
    name = facts.names(call.func, scope).only or ""
    if name in load_generators().entropy:
        return _Entropy(result_of(name))
    if name == _HASH and call.args and kind_of(facts, call.args[0], scope) is Kind.TEXT:
        return _Entropy(f"hash({ast.unparse(call.args[0])})")
    entries = (entry for entry in catalogue.randomness.draw if not entry.makes and name in entry.calls)
    generator = next((entry.generator for entry in entries), None)
    symbol = facts.symbol_at(scope, facts.index.statement_of(call))
    return None if generator is None else _Entropy(result_of(name), generator, facts.path, symbol, call.lineno)


def _weight(found: Sequence[_Found]) -> int:
    """Which operand decides of a result: one that is entropy, else one that may be."""
    if None not in found:
        return 3 if any(isinstance(one, _Entropy) for one in found) else 2 if found != (Seed.NUMBER,) else 0
    return 1


def _calls_in(seed: ast.expr) -> Iterator[ast.Call]:
    """Calls that decide the seed; those in a choice are asked for by themselves."""
    if isinstance(seed, (ast.BoolOp, ast.IfExp, ast.Lambda)):
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


def _judge(draft: Draft, project: Project) -> Draft | None:
    """Tests that draw another case every time are meant to; what is drawn repeats once its generator is seeded."""
    if is_test(draft.path):
        return None
    if draft.values.get("parameter") and _is_never_given(draft, project):
        return replace(draft, message="unset")
    if draft.message == _OPEN and not draft.origins:
        return None
    if draft.origins:
        found = []
        for one in origins_answered(project, draft.origins, functools.partial(_seeds_at, project.catalogue)):
            if not isinstance(one, _Entropy):
                return None
            found.append(one)
        if not found:  # a circle: where the value enters it, nobody shows
            return None
        message, values = _told(found, is_choice=False)
        draft = replace(draft, values={**values, **draft.values}, message=message)
    if draft.message != "drawn":
        return draft
    programs = project.programs.reaching(draft.path)
    return draft if programs and not any(_is_seeded_in(one, draft, project) for one in programs) else None


def _is_never_given(draft: Draft, project: Project) -> bool:
    """Whether programs run the call, all without the seed that the function takes, and no option brings it."""
    asked = Demand(draft.values["parameter"], draft.values["symbol"], compared=ast.IsNot.__name__, value=None)
    calls = [one for one in project.summaries[draft.path].seeds if one.place.location == draft.location]
    reached = (one for one in project.programs.reaching(draft.path) if (draft.path, asked.function) in one.reached)
    running = [one for one in reached if any(option_for_seed(one, project, call) is not None for call in calls)]
    lacking = [unmet([asked], draft.path, program, project) for program in running]
    return bool(lacking) and all(one is not None and not one.option for one in lacking)


def _is_seeded_in(program: Program, draft: Draft, project: Project) -> bool:
    """Whether a program may have seeded the generator that the seed is drawn from."""
    seeds = (seed for path in program.files & project.summaries.keys() for seed in project.summaries[path].seeds)
    path, symbol, line = draft.values["path"], draft.values["symbol"], int(draft.values["line"])
    return any(
        draft.values["generator"] in seed.generators
        # below the draw, in the same function, it seeds too late
        and not ((seed.path, seed.symbol) == (path, symbol) and seed.moment.start[0] > line)
        for seed in seeds
    )


@check(codes=(_CODE,), triggers=Triggers(calls=_SETTERS), judge=_judge)
def find(visit: Visit) -> Iterator[Finding]:
    """A seeding call whose seed comes from the clock, the process, the system's entropy or a salted hash."""
    setter, call = visit.callee(), visit.call
    if setter not in _SETTERS or _is_asked_for(visit.facts, visit.statement):
        return
    if setter in load_generators().without_argument:
        # `seed = torch.seed()` keeps the seed it drew, so that a run can be told to repeat it.
        if not call.args and visit.site.is_alone:
            yield Finding(_CODE, visit.node, {"setter": setter}, "unset")
    else:
        yield from _seeded(visit, setter, call)


def _seeded(visit: Visit, setter: str, call: ast.Call) -> Iterator[Finding]:
    seed = _seed_given(call)
    if seed is None or is_literal_none(seed):
        if setter in _UNSET and (seed is not None or not call.keywords):
            yield Finding(_CODE, visit.node, {"setter": setter}, "unset")
        return
    found = _seeds_of(visit.facts, visit.catalogue, seed, visit.scope)
    origins = tuple(one for one in found if isinstance(one, Origin))
    sources = [one for one in found if isinstance(one, _Entropy)]
    told = bool(origins or sources) and None not in found and not (origins and Seed.NUMBER in found)
    unset = _unset_parameter(visit, seed) if setter in _UNSET and not sources else {}
    if told or unset:
        message, values = _told(sources, is_choice=Seed.NUMBER in found) if told else (_OPEN, {})
        values = {"setter": setter, **values, **unset}
        yield Finding(_CODE, visit.node, values, message, origins=origins if told else ())


def _unset_parameter(visit: Visit, seed: ast.expr) -> dict[str, str]:
    """The parameter that a seed is, where it is None unless somebody gives it; empty where it is something else."""
    parameter, function = visit.facts.parameter_named(seed, visit.scope), visit.facts.function_of(visit.scope)
    if parameter is None or function is None or None not in default_of(visit.facts, function, parameter):
        return {}
    return {"parameter": parameter, "symbol": visit.facts.symbols.scopes[function].qualname}


def _told(sources: Sequence[_Entropy], *, is_choice: bool) -> tuple[str, dict[str, str]]:
    """The message about the first source, and the words that fill it."""
    if not sources:
        return "default", {}
    values = {key: str(value) for key, value in asdict(sources[0]).items()}
    return "drawn" if sources[0].generator else "choice" if is_choice else "default", values


def _judge_open(draft: Draft, project: Project) -> Draft | None:
    """Some caller gives entropy: others may give a number, and the code does not tell who calls."""
    if is_test(draft.path):
        return None
    answers = origins_answered(project, draft.origins, functools.partial(_seeds_at, project.catalogue))
    source = next((one for one in answers if isinstance(one, _Entropy)), None)
    return None if source is None else replace(draft, values={**draft.values, "source": source.source})


@check(codes=(_CODE,), triggers=Triggers(calls=_SETTERS), judge=_judge_open, is_open=True)
def left_open(visit: Visit) -> Iterator[Finding]:
    """A seed that others give: `def seed_all(seed): torch.manual_seed(seed)`."""
    seed = _seed_given(visit.call)
    found = () if seed is None else _seeds_of(visit.facts, visit.catalogue, seed, visit.scope)
    origins = tuple(one for one in found if isinstance(one, Origin))
    if origins:
        yield Finding(_CODE, visit.node, {"setter": visit.callee() or ""}, origins=origins)


def _seed_given(call: ast.Call) -> ast.expr | None:
    return call.args[0] if call.args else next((k.value for k in call.keywords if k.arg in ("seed", "a")), None)
