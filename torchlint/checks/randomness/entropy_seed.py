"""TL302 entropy-seed: a seed that no run can repeat."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from msgspec.structs import asdict, replace

from torchlint.catalogue.load import load_generators
from torchlint.checks.framework.drafts import Draft
from torchlint.checks.framework.registration import Finding, Triggers, check
from torchlint.checks.framework.visit import Visit
from torchlint.checks.randomness.entropy import Entropy, Number, Seeds, is_asked_for
from torchlint.facts.entries import is_test
from torchlint.facts.options.demands import Demand, default_of
from torchlint.facts.origins import Origin
from torchlint.facts.randomness.seeding import SeedCall
from torchlint.facts.tree import is_literal_none
from torchlint.project.index import Project
from torchlint.project.options import option_for_seed, unmet
from torchlint.project.origins import origins_answered
from torchlint.project.programs import Program

_CODE = "TL302"
_SETTERS = load_generators().setters | load_generators().without_argument

_OPEN = "open"
"""No finding yet: whether anybody gives a parameter, the project knows."""
_UNSET = frozenset({"numpy.random.seed", "random.seed"})
"""Setters that take entropy from the system when they get no seed, or None."""


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
        for one in origins_answered(project, draft.origins, Seeds(project.catalogue).of_end):
            if not isinstance(one, Entropy):
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
    return any(
        draft.values["generator"] in seed.generators and not _is_later(seed, draft)
        for path in program.files & project.summaries.keys()
        for seed in project.summaries[path].seeds
    )


def _is_later(seed: SeedCall, draft: Draft) -> bool:
    """Whether a call seeds below the draw, in the same function."""
    path, symbol, line = draft.values["path"], draft.values["symbol"], int(draft.values["line"])
    return (seed.path, seed.symbol) == (path, symbol) and seed.moment.start[0] > line


@check(
    codes=(_CODE,),
    triggers=Triggers(calls=_SETTERS),
    judge=_judge,
)
def find(visit: Visit) -> Iterator[Finding]:
    """A seeding call whose seed comes from the clock, the process, the system's entropy or a salted hash."""
    setter, call = visit.callee(), visit.call
    if setter not in _SETTERS or is_asked_for(visit.facts, visit.statement):
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
    found = Seeds(visit.catalogue).of(visit.facts, seed, visit.scope)
    origins = tuple(one for one in found if isinstance(one, Origin))
    sources = [one for one in found if isinstance(one, Entropy)]
    told = bool(origins or sources) and None not in found and not (origins and Number.FIXED in found)
    unset = _unset_parameter(visit, seed) if setter in _UNSET and not sources else {}
    if told or unset:
        message, values = _told(sources, is_choice=Number.FIXED in found) if told else (_OPEN, {})
        values = {"setter": setter, **values, **unset}
        yield Finding(_CODE, visit.node, values, message, origins=origins if told else ())


def _unset_parameter(visit: Visit, seed: ast.expr) -> dict[str, str]:
    """The parameter that a seed is, where it is None unless somebody gives it; empty where it is something else."""
    parameter, function = visit.facts.parameter_named(seed, visit.scope), visit.facts.function_of(visit.scope)
    if parameter is None or function is None or None not in default_of(visit.facts, function, parameter):
        return {}
    return {"parameter": parameter, "symbol": visit.facts.symbols.scopes[function].qualname}


def _told(sources: Sequence[Entropy], *, is_choice: bool) -> tuple[str, dict[str, str]]:
    """The message about the first source, and the words that fill it."""
    if not sources:
        return "default", {}
    values = {key: str(value) for key, value in asdict(sources[0]).items()}
    return "drawn" if sources[0].generator else "choice" if is_choice else "default", values


def _judge_open(draft: Draft, project: Project) -> Draft | None:
    """Some caller gives entropy: others may give a number, and the code does not tell who calls."""
    if is_test(draft.path):
        return None
    answers = origins_answered(project, draft.origins, Seeds(project.catalogue).of_end)
    source = next((one for one in answers if isinstance(one, Entropy)), None)
    return None if source is None else replace(draft, values={**draft.values, "source": source.source})


@check(codes=(_CODE,), triggers=Triggers(calls=_SETTERS), judge=_judge_open, is_open=True)
def left_open(visit: Visit) -> Iterator[Finding]:
    """A seed that others give: `def seed_all(seed): torch.manual_seed(seed)`."""
    seed = _seed_given(visit.call)
    found = () if seed is None else Seeds(visit.catalogue).of(visit.facts, seed, visit.scope)
    origins = tuple(one for one in found if isinstance(one, Origin))
    if origins:
        yield Finding(_CODE, visit.node, {"setter": visit.callee() or ""}, origins=origins)


def _seed_given(call: ast.Call) -> ast.expr | None:
    return call.args[0] if call.args else next((k.value for k in call.keywords if k.arg in ("seed", "a")), None)
