"""TL304 unseeded-object: a generator, or a split, that takes its entropy from the system."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from torchlint.catalogue.load import load_generators
from torchlint.checks.framework.drafts import Draft
from torchlint.checks.framework.registration import Finding, Triggers, check
from torchlint.checks.framework.spelling import spelling_of
from torchlint.checks.framework.visit import Visit
from torchlint.facts.calls import arguments_for
from torchlint.facts.classes import values_kept
from torchlint.facts.control.conditions import tests_around
from torchlint.facts.definitions import End, Parameter, Through, definitions_of, is_none
from torchlint.facts.entries import is_beside_training
from torchlint.facts.file import FileFacts
from torchlint.facts.flow.tracker import Analysis, Sink, follow
from torchlint.facts.flow.values import Move, Stored, Value
from torchlint.facts.randomness.draws import is_incidental
from torchlint.facts.values import argument_of, may_be_hidden
from torchlint.project.index import Project

_CODE = "TL304"
_OBJECTS = {"numpy.random.default_rng": "seed", "numpy.random.RandomState": "seed", "random.Random": "x"}
"""Each with the name of its first parameter, the seed."""
_SPLITS = {call: entry for entry in load_generators().split for call in entry.calls}
_SHUFFLED = frozenset({"sklearn.model_selection.KFold", "sklearn.model_selection.StratifiedKFold"})
"""What draws only when it is asked to shuffle, and `train_test_split` unless it is asked not to."""
_SEEDING = frozenset({"seed", "setstate", "set_state", "manual_seed", "bit_generator"})
_CHOICE = re.compile(r"\b(?:none|seed|rng|random_?state|generator|determin)", re.IGNORECASE)
_PROCESS_WIDE = re.compile(r"uuid|session|trace|token|id$|name|port|lock|backoff|retry|jitter", re.IGNORECASE)


def _judge(draft: Draft, project: Project) -> Draft | None:
    """Splits: where the programs that reach them seed nothing, and do not train, which TL301 speaks of."""
    if is_beside_training(draft.path) or not project.uses_torch(draft.path):
        return None
    if draft.message != "split":
        return draft if _is_used_unseeded(draft, project) else None
    generator, symbol = draft.values["generator"], (draft.path, draft.values["symbol"])
    found = [
        project.randomness_of(program) for program in project.programs.reaching(draft.path) if symbol in program.reached
    ]
    is_unseeded = all(generator not in one.seeded and one.training is None for one in found)
    return draft if found and is_unseeded else None


def _is_used_unseeded(draft: Draft, project: Project) -> bool:
    """Generators: where some file uses it, and none seeds it."""
    if project.flows.sink_of(draft.exits, _Seeding) is not None:
        return False
    return bool(draft.values["use"]) or project.flows.sink_of(draft.exits, _Use) is not None


@check(
    codes=(_CODE,),
    triggers=Triggers(calls=frozenset({*_OBJECTS, *_SPLITS})),
    judge=_judge,
)
def find(visit: Visit) -> Iterator[Finding]:
    """Generators made without a seed, and splits without a generator."""
    name = visit.callee() or ""
    if name in _OBJECTS and _is_unseeded(visit, _OBJECTS[name]) and not _is_choice(visit):
        use, seeding = (follow(analysis(visit.facts), Value(visit.call)) for analysis in (_Use, _Seeding))
        if seeding.sink is None and (use.sink is not None or use.exits):
            values = {"spelling": spelling_of(visit), "use": "" if use.sink is None else use.sink.what}
            yield Finding(_CODE, visit.node, values, exits=tuple(seeding.exits))
    elif name in _SPLITS:
        split = _SPLITS[name]
        if _draws(visit, name, split.argument):
            symbol = visit.facts.symbol_of(visit.site)
            values = {"generator": split.generator, "symbol": symbol, "argument": split.argument}
            yield Finding(_CODE, visit.node, {"spelling": spelling_of(visit), **values}, "split")


def _is_unseeded(visit: Visit, parameter: str) -> bool:
    """No seed is given here."""
    if _is_given(visit, parameter, 0) or may_be_hidden(visit.call, 0):
        return False
    return not is_incidental(visit.facts, visit.site) and not _PROCESS_WIDE.search(visit.facts.symbol_of(visit.site))


def _is_given(visit: Visit, parameter: str, position: int | None) -> bool:
    """Whether a seed or generator is given; None, written out or handed on, says the same as nothing."""
    given = argument_of(visit.call, parameter, position)
    if given is None:
        return False
    ends = definitions_of(visit.facts, given, visit.scope, Through.PARAMETERS | Through.RESULTS)
    return not all(is_none(end) or _is_always_handed(visit.facts, end) for end in ends)


def _is_always_handed(facts: FileFacts, end: End) -> bool:
    """Whether each call that is seen gives a parameter; one that is left out may be an option for others."""
    given = arguments_for(facts, end.name, end.function) if isinstance(end, Parameter) else []
    return bool(given) and None not in given


class _Seeding(Analysis):
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
        return [Sink("seeded", above)] if is_state or (is_call and above.attr in _SEEDING) else ()

    def beyond(self, move: Move) -> Iterator[Move | Sink]:
        """An attribute that gets other generators as well."""
        if isinstance(move, Stored) and values_kept(self.facts, move.owner, move.name) > 1:
            yield Sink("another one", move.value.node)


class _Use(Analysis):
    """Where a generator is drawn from, or handed to code that is not seen."""

    def steps(self, value: Value) -> Iterable[Move | Sink]:
        above = self.facts.index.parents[value.node]
        if isinstance(above, ast.Attribute):
            return [Sink("drawn from", above)]
        moves = list(self.passes(value))
        return moves or ([Sink("handed on", above)] if isinstance(above, ast.Call | ast.keyword) else ())


def _is_choice(visit: Visit) -> bool:
    """A fallback for a generator or a seed that the caller did not give."""
    if any(_CHOICE.search(ast.unparse(test)) for test in tests_around(visit.facts, visit.statement)):
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
        return _CHOICE.search(ast.unparse(above.test)) is not None
    return isinstance(above, ast.IfExp | ast.BoolOp | ast.arguments | ast.Dict)


def _draws(visit: Visit, name: str, argument: str) -> bool:
    if _is_given(visit, argument, None) or may_be_hidden(visit.call, None):
        return False
    if any(isinstance(given, ast.Starred) for given in visit.call.args):
        return name == "sklearn.model_selection.train_test_split" and not _is_false(visit, "shuffle")
    if name in _SHUFFLED:
        asked = visit.value(argument_of(visit.call, "shuffle", None))
        return asked.only(bool) is True
    return not _is_false(visit, "shuffle")


def _is_false(visit: Visit, argument: str) -> bool:
    given = argument_of(visit.call, argument, None)
    return given is not None and visit.value(given).constants != (True,)
