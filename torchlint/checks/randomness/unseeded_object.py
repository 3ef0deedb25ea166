"""TL304 unseeded-object: a generator, or a split, that takes its entropy from the system."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TypeGuard

from torchlint.catalogue.load import load_generators
from torchlint.checks.framework.drafts import Draft
from torchlint.checks.framework.registration import Finding, Triggers, check
from torchlint.checks.framework.spelling import spelling_of
from torchlint.checks.framework.visit import Visit
from torchlint.facts.control.conditions import tests_around
from torchlint.facts.entries import is_beside_training
from torchlint.facts.file import FileFacts
from torchlint.facts.full_names import dotted
from torchlint.facts.randomness.draws import is_incidental
from torchlint.facts.tree import is_method_call, targets_of
from torchlint.facts.values import Values, argument_of, may_be_hidden
from torchlint.project.index import Project

_CODE = "TL304"
_OBJECTS = {"numpy.random.default_rng": "seed", "numpy.random.RandomState": "seed", "random.Random": "x"}
"""Each with the name of its first parameter, the seed."""
_SPLITS = {call: entry for entry in load_generators().split for call in entry.calls}
_SHUFFLED = frozenset({"sklearn.model_selection.KFold", "sklearn.model_selection.StratifiedKFold"})
"""What draws only when it is asked to shuffle, and `train_test_split` unless it is asked not to."""
_SEEDING = frozenset({"seed", "setstate", "set_state", "manual_seed", "bit_generator"})
_OTHER = re.compile(r"env|space|faker|game", re.IGNORECASE)
"""What has a method `seed` and is no generator."""
_CHOICE = re.compile(r"\b(?:none|seed|rng|random_?state|generator|determin)", re.IGNORECASE)
_PROCESS_WIDE = re.compile(r"uuid|session|trace|token|id$|name|port|lock|backoff|retry|jitter", re.IGNORECASE)


def _judge(draft: Draft, project: Project) -> Draft | None:
    """Splits: where the programs that reach them seed nothing, and do not train, which TL301 speaks of."""
    if is_beside_training(draft.path) or not project.uses_torch(draft.path):
        return None
    if draft.message != "split":
        return draft
    generator, symbol = draft.values["generator"], (draft.path, draft.values["symbol"])
    found = [
        project.randomness_of(program) for program in project.programs.reaching(draft.path) if symbol in program.reached
    ]
    is_unseeded = all(generator not in one.seeded and one.training is None for one in found)
    return draft if found and is_unseeded else None


@check(
    codes=(_CODE,),
    triggers=Triggers(calls=frozenset({*_OBJECTS, *_SPLITS})),
    judge=_judge,
)
def find(visit: Visit) -> Iterator[Finding]:
    """Generators made without a seed, and splits without a generator."""
    name = visit.callee() or ""
    if name in _OBJECTS and _is_unseeded(visit, _OBJECTS[name]) and not _is_choice(visit):
        yield Finding(_CODE, visit.node, {"spelling": spelling_of(visit)})
    elif name in _SPLITS:
        split = _SPLITS[name]
        if _draws(visit, name, split.argument):
            symbol = visit.facts.symbol_of(visit.site)
            values = {"generator": split.generator, "symbol": symbol, "argument": split.argument}
            yield Finding(_CODE, visit.node, {"spelling": spelling_of(visit), **values}, "split")


def _is_unseeded(visit: Visit, parameter: str) -> bool:
    """No seed is given here, nor to the name or attribute that keeps the generator."""
    if _is_given(visit, parameter, 0) or may_be_hidden(visit.call, 0):
        return False
    statement = visit.statement
    if is_incidental(visit.facts, visit.site) or _PROCESS_WIDE.search(visit.facts.symbol_of(visit.site)):
        return False
    if visit.facts.once(_seeds_objects) and _escapes(visit.facts, visit.call):
        return False
    if isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is visit.call:
        return not any(_is_seeded_later(visit.facts, target, statement) for target in targets_of(statement))
    return True


def _is_given(visit: Visit, parameter: str, position: int | None) -> bool:
    """Whether a seed or generator is given; a `None` that is written out says the same as nothing."""
    given = argument_of(visit.call, parameter, position)
    return given is not None and visit.value(given) != Values((None,), complete=True)


def _is_seeded_later(facts: FileFacts, target: ast.expr, statement: ast.stmt) -> bool:
    """Whether `rng.seed(...)` or another value for the same name or attribute may follow."""
    held = dotted(target)
    if held is None or _is_fallback(facts, held) or not _is_read(facts, held):
        return True  # not followed, or never used
    calls = (site.node for site in facts.reading.calls)
    if any(is_method_call(call, *_SEEDING) and dotted(call.func.value) == held for call in calls):
        return True
    for other in facts.reading.assign_sites:
        for one in targets_of(other.node):
            written = dotted(one) or ""
            is_state = written.startswith(f"{held}.")
            if is_state or (other.node is not statement and written.rpartition(".")[2] == held.rpartition(".")[2]):
                return True
    return False


def _seeds_objects(facts: FileFacts) -> bool:
    """Whether the file seeds any generator object: a parameter, a part of something, another name."""
    for site in facts.reading.calls:
        if is_method_call(site.node, *_SEEDING):
            owner = site.node.func.value
            outside = facts.names(owner, site.scope).names  # of `torch.random`, but also of `Random()`
            if all("()" in name or "::" in name for name in outside) and not _OTHER.search(ast.unparse(owner)):
                return True
    return False


def _escapes(facts: FileFacts, made: ast.Call) -> bool:
    """Whether more than its own draws are made of a generator: it gets another name, is handed on or kept."""
    holder = facts.index.parents[made]
    if isinstance(holder, ast.Attribute):
        return False
    if not isinstance(holder, ast.Assign | ast.AnnAssign):
        return True
    targets = targets_of(holder)
    if len(targets) != 1 or not isinstance(targets[0], ast.Name):
        return True
    return any(not isinstance(facts.index.parents[read], ast.Attribute) for read in facts.index.reads_of(targets[0]))


def _is_read(facts: FileFacts, held: str) -> bool:
    return any(
        dotted(node) == held
        for node in ast.walk(facts.tree)
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load)
    )


def _is_fallback(facts: FileFacts, held: str) -> bool:
    """`default_rng(seed) if seed else rng`: the generator serves callers that ask for no seed."""
    choices = (node for node in ast.walk(facts.tree) if isinstance(node, ast.IfExp | ast.BoolOp))
    return any(dotted(inner) == held for node in choices for inner in ast.iter_child_nodes(node) if _is_name(inner))


def _is_name(node: ast.AST) -> TypeGuard[ast.expr]:
    return isinstance(node, ast.Name | ast.Attribute)


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
