"""TL304 unseeded-object: a generator, or a split, that takes its entropy from the system."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchlint.catalogue.load import load_generators
from torchlint.checks.framework.drafts import Draft
from torchlint.checks.framework.registration import Finding, Triggers, check
from torchlint.checks.framework.visit import Visit, spelling_of
from torchlint.checks.randomness.given_seeds import (
    Seed,
    Seeding,
    Use,
    is_fallback,
    is_given,
    may_be_unset,
    seed_of,
    seeds,
)
from torchlint.facts.entries import is_beside_training
from torchlint.facts.flow.tracker import follow
from torchlint.facts.flow.values import Value
from torchlint.facts.origins import Origin
from torchlint.facts.randomness.draws import is_incidental
from torchlint.facts.values import argument_of, may_be_hidden
from torchlint.project.beside_training import is_only_tried
from torchlint.project.flows import origins_answered
from torchlint.project.index import Project

_CODE = "TL304"
_OBJECTS = {"numpy.random.default_rng": "seed", "numpy.random.RandomState": "seed", "random.Random": "x"}
"""Each with the name of its first parameter, the seed."""
_SPLITS = {call: entry for entry in load_generators().split for call in entry.calls}
_SHUFFLED = frozenset({"sklearn.model_selection.KFold", "sklearn.model_selection.StratifiedKFold"})
"""What draws only when it is asked to shuffle, and `train_test_split` unless it is asked not to."""
_PROCESS_WIDE = re.compile(r"uuid|session|trace|token|id$|name|port|lock|backoff|retry|jitter", re.IGNORECASE)


def _judge(draft: Draft, project: Project) -> Draft | None:
    """Splits: where the programs that reach them seed nothing, and do not train, which TL301 speaks of."""
    if is_beside_training(draft.path) or not project.uses_torch(draft.path):
        return None
    if is_only_tried(project, draft.path, draft.values["symbol"]):
        return None
    if draft.message != "split":
        # A generator that some file uses, and none seeds or gives a seed.
        is_given = any(one is not Seed.NOTHING for one in origins_answered(project, draft.origins, seed_of))
        if is_given or project.flows.sink_of(draft.exits, Seeding) is not None:
            return None
        is_used = bool(draft.values["use"]) or project.flows.sink_of(draft.exits, Use) is not None
        return draft if is_used else None
    programs = [one for one in project.programs.reaching(draft.path) if draft.symbol in one.reached]
    found = [project.randomness_of(program) for program in programs]
    is_unseeded = all(draft.values["generator"] not in one.seeded and one.training is None for one in found)
    return draft if found and is_unseeded else None


@check(codes=(_CODE,), triggers=Triggers(calls=frozenset({*_OBJECTS, *_SPLITS})), judge=_judge)
def find(visit: Visit) -> Iterator[Finding]:
    """Generators made without a seed, and splits without a generator."""
    name = visit.callee() or ""
    if name in _OBJECTS and _is_unseeded(visit, _OBJECTS[name]) and not is_fallback(visit):
        use, seeding = (follow(analysis(visit.facts), Value(visit.call)) for analysis in (Use, Seeding))
        if seeding.sink is None and (use.sink is not None or use.exits):
            values = {"spelling": spelling_of(visit), "symbol": visit.symbol}
            values["use"] = "" if use.sink is None else use.sink.what
            origins = tuple(one for one in seeds(visit, _OBJECTS[name], 0) if isinstance(one, Origin))
            yield Finding(_CODE, visit.node, values, exits=tuple(seeding.exits), origins=origins)
    elif name in _SPLITS:
        split = _SPLITS[name]
        if _draws(visit, name, split.argument):
            values = {"spelling": spelling_of(visit), "symbol": visit.symbol}
            values |= {"generator": split.generator, "argument": split.argument}
            yield Finding(_CODE, visit.node, values, "split")


def _is_unseeded(visit: Visit, parameter: str) -> bool:
    """No seed is given here, or none on one branch."""
    if may_be_hidden(visit.call, 0) or not may_be_unset(seeds(visit, parameter, 0)):
        return False
    return not is_incidental(visit.facts, visit.site) and not _PROCESS_WIDE.search(visit.symbol)


def _draws(visit: Visit, name: str, argument: str) -> bool:
    if is_given(visit, argument, None) or may_be_hidden(visit.call, None):
        return False
    shuffle = argument_of(visit.call, "shuffle", None)
    asked = visit.value(shuffle)
    shuffles = shuffle is None or asked.constants == (True,)
    if any(isinstance(given, ast.Starred) for given in visit.call.args):
        return name == "sklearn.model_selection.train_test_split" and shuffles
    return asked.only(bool) is True if name in _SHUFFLED else shuffles
