"""TL311 reseed-in-loop: random numbers that start anew in every round, or go on from fold to fold."""

from __future__ import annotations

import ast
import functools
import itertools
import re
from collections.abc import Iterator

import msgspec
from msgspec.structs import replace

from torchlint.checks.framework.drafts import Draft
from torchlint.checks.framework.registration import Finding, Triggers, check, sites_of
from torchlint.checks.framework.visit import Visit, remarks_in, spelling_of
from torchlint.diagnostics import Fix, Severity
from torchlint.facts.calls import known_functions
from torchlint.facts.classes import forward_of
from torchlint.facts.control.blocks import Loop, enclosing, loops_around
from torchlint.facts.control.conditions import tests_around
from torchlint.facts.data_loading.worker_seeding import worker_seeds
from torchlint.facts.definitions import seen_values
from torchlint.facts.entries import is_test
from torchlint.facts.file import FileFacts
from torchlint.facts.flow.values import Through
from torchlint.facts.functions import is_method
from torchlint.facts.graphs import reached
from torchlint.facts.options.declared import Option, options_in
from torchlint.facts.randomness.seeding import is_fixed, library_of, seeds_of
from torchlint.facts.scopes import CallSite, Site
from torchlint.facts.training.steps import is_optimizer_class
from torchlint.facts.tree import is_method_call, last_word, words_in
from torchlint.project.index import Project

_CODE = "TL311"
_VARIANTS = {"forward": "forward", "__getitem__": "item", "loop": "default"}
_ROUNDS = re.compile(r"epoch|(?:^|_)(?:iters?|iterations?|steps?|batch|batches|minibatch)(?:_|$)|loader")
"""Words of a loop over rounds of one training."""
_RUNS = re.compile(
    r"fold|split|trial|seed|(?:^|_)runs?(?:_|$)|repeat|repet|(?:^|_)reps?(?:_|$)|exp(?:s|eriment|_|$)|conf(?:ig|s)|cfg|model|net|"
    r"task|method|variant|param|size|length|benchmark|backend|setting|candidate|agent|client|device|dtype|layer|test|case|mode|impl"
)
"""Words of a loop over separate runs, each of which is seeded on purpose."""
_TRAINS = re.compile(r"^train(?!er|able|ing_args)|^fit$|^optimi[sz]e$|train_(?:one|epoch|step|batch|model)|_train$")
_STATE = re.compile(
    r"rng_state|fork_rng|getstate|setstate|get_state|set_state|isolate_rng|temp_seed|numpy_seed|freeze_rng"
)
_ON_PURPOSE = re.compile(r"determin|reproduc|repeatab|consisten|identical|(?:the )?same|fix(?:ed)? ")
_HELD = re.compile(r"\b(?:same|fixed|fix|hold|held|identical|constant|frozen|freeze)\b")
"""Words beside a seed in a loop by which the rounds shall draw alike."""
_PURPOSE_NAME = re.compile(
    r"val|test|eval|determin|fixed|static|dummy|fake|toy|synthetic|mock|debug|demo|reversib|rev_"
)
_FOLD = re.compile(r"(?:^|_)folds?(?:_|$)", re.IGNORECASE)
_FIX = Fix("seed folds", "seed at the start of each fold", "seed at the start of each fold in {count} places")


def _reseeds(facts: FileFacts) -> dict[ast.Call, _Reseed]:
    """The first call that seeds alike in each round, for each method and loop that has one."""
    found: dict[ast.Call, _Reseed] = {}
    if "seed" not in facts.source.text or is_test(facts.path) or "bench" in facts.path:
        return found
    seen: set[ast.AST] = set()
    elsewhere = facts.cached(worker_seeds)
    for site in facts.symbols.calls:
        # `generator = torch.manual_seed(0)` wants the generator that it gives.
        if site.node in elsewhere or not site.is_alone or library_of(facts, site) is None:
            continue
        reseed = _in_method(facts, site) or _in_training_loop(facts, site)
        if reseed is not None and reseed.again not in seen:
            seen.add(reseed.again)
            found[site.node] = reseed
    return found


@check(
    codes=(_CODE,),
    triggers=Triggers(sites=sites_of(_reseeds)),
    judge=lambda draft, project: draft if project.uses_torch(draft.path) else None,
)
def find(visit: Visit) -> Iterator[Finding]:
    """A seeding call with the same seed in each round of a training, each batch or each item."""
    reseed = visit.facts.cached(_reseeds).get(visit.call)
    if reseed is not None:
        values, related = {"spelling": spelling_of(visit)}, ((reseed.again, "it runs each time"),)
        yield Finding(_CODE, visit.node, values, _VARIANTS[reseed.where], related=related)


class _Reseed(msgspec.Struct, frozen=True):
    """A seeding call and what runs it again: `forward`, `__getitem__` or a loop."""

    site: CallSite
    where: str
    again: ast.AST


# -- forward and __getitem__ --------------------------------------------------------------------------------------


def _in_method(facts: FileFacts, site: CallSite) -> _Reseed | None:
    """A constant seed in what computes each batch, or each item of a dataset, with nothing that says why."""
    function = facts.symbols.scopes[facts.function_of(site.scope) or 0]
    is_getter = function.name == "__getitem__" and is_method(facts, function)
    method = forward_of(facts, site.scope) or (function if is_getter else None)
    known = [facts.value(seed, site.scope) for seed in seeds_of(site.node)]
    if method is None or not known or not all(values.is_known and None not in values.constants for values in known):
        return None
    if any(True for _ in tests_around(facts, site.statement)):
        return None
    names = f"{facts.symbols.scopes[method.parent or 0].name} {facts.path.rpartition('/')[2]}".lower()
    if _PURPOSE_NAME.search(names) or _ON_PURPOSE.search(remarks_in(facts, method.node)):
        return None
    return None if _keeps_state(method.node) else _Reseed(site, method.name, method.node)


# -- training loops -----------------------------------------------------------------------------------------------


def _in_training_loop(facts: FileFacts, site: CallSite) -> _Reseed | None:
    """A seed that holds still in a loop over the rounds of one training."""
    loop = next(loops_around(facts, site.statement), None)
    seeds = seeds_of(site.node)
    if loop is None or not seeds or not _is_over_rounds(loop) or not _trains(facts, loop):
        return None
    named = (node for node in ast.walk(loop) if isinstance(node, (ast.Name, ast.Attribute)))
    bound = {ast.unparse(node) for node in named if isinstance(node.ctx, ast.Store)}
    if not all(is_fixed(facts, seed, site.scope, lambda name: name.id not in bound) for seed in seeds):
        return None
    attributes = (node for seed in seeds for node in ast.walk(seed) if isinstance(node, ast.Attribute))
    if any(ast.unparse(node) in bound for node in attributes):
        return None
    if _HELD.search(remarks_in(facts, site.statement)) or _keeps_state(loop):
        return None
    inside = itertools.takewhile(lambda outer: outer is not loop, enclosing(facts, site.statement))
    is_chosen = any(isinstance(outer, (ast.If, ast.While, ast.Try)) for outer in inside)
    return None if is_chosen else _Reseed(site, "loop", loop)


def _is_over_rounds(loop: Loop) -> bool:
    """Whether the words of a loop's header speak of epochs, steps or batches, and not of runs."""
    header = [loop.test] if isinstance(loop, ast.While) else [loop.target, loop.iter]
    if isinstance(header[-1], (ast.List, ast.Tuple)):
        return False
    words = [word.lower() for expression in header for word in _last_words(expression)]
    return any(map(_ROUNDS.search, words)) and not any(map(_RUNS.search, words))


def _last_words(expression: ast.AST) -> Iterator[str]:
    """Names, and of `config.train.epochs` the `epochs`."""
    if isinstance(expression, ast.Attribute):
        yield expression.attr
        return
    if isinstance(expression, ast.Name):
        yield expression.id
    for child in ast.iter_child_nodes(expression):
        yield from _last_words(child)


def _trains(facts: FileFacts, loop: ast.stmt) -> bool:
    """Whether a loop goes on with one training: it steps, or calls what trains, and builds no model of its own."""
    is_training = False
    for site in facts.symbols.calls:
        if loop not in (site.statement, *enclosing(facts, site.statement)):
            continue
        last = last_word(site.node.func)
        if is_optimizer_class(facts.names(site.node.func, site.scope).only or ""):
            return False
        is_training = is_training or last == "backward" or _TRAINS.search(last.lower()) is not None
    return is_training


# -- both ---------------------------------------------------------------------------------------------------------


def _keeps_state(node: ast.AST) -> bool:
    """Whether code puts an earlier state back, or works on a fork of it."""
    return any(map(_STATE.search, words_in(node)))


def _judge_carried(draft: Draft, project: Project) -> Draft | None:
    return replace(draft, fix=_FIX) if project.uses_torch(draft.path) and not is_test(draft.path) else None


def _loops(facts: FileFacts) -> Iterator[Site]:
    """Loops over folds that an option picks, in a file that seeds and does so in no fold."""
    if not facts.source.mentions("fold") or not facts.source.mentions("seed"):
        return
    for statement, scope in facts.symbols.scope_of.items():
        target = statement.target if isinstance(statement, ast.For) else None
        if isinstance(statement, ast.For) and isinstance(target, ast.Name) and _FOLD.search(target.id):
            option = _picked_by(facts, statement, scope)
            own = [one for one in facts.symbols.calls if statement in enclosing(facts, one.statement)]
            run = reached(own, functools.partial(_run_by, facts))
            seeded = any(map(_seeds, facts.symbols.calls)) and not any(map(_seeds, run))
            made = any(is_optimizer_class(facts.names(one.node.func, one.scope).only or "") for one in run)
            trains_anew = made and any(is_method_call(one.node, "backward") for one in run)
            if option is not None and seeded and trains_anew:
                yield Site(statement.iter, scope, statement)


@check(codes=(_CODE,), triggers=Triggers(sites=_loops), judge=_judge_carried)
def carried(visit: Visit) -> Iterator[Finding]:
    """A loop whose folds are trained one behind the other, or one alone where the option says so."""
    loop = visit.statement
    option = _picked_by(visit.facts, loop, visit.scope) if isinstance(loop, ast.For) else None
    if option is not None and isinstance(loop, ast.For):
        values = {"spelling": ast.unparse(loop.target), "option": option.shown}
        yield Finding(_CODE, loop.iter, values, "carried", severity=Severity.INFO)


def _picked_by(facts: FileFacts, loop: ast.For, scope: int) -> Option | None:
    """The option that says which folds are run: it is gone through, or compared with the fold."""
    declared = {one.name: one for one in facts.cached(options_in) if one.shown and _FOLD.search(one.name)}
    values = [(loop.iter, scope), *seen_values(facts, loop.iter, scope, Through.PARAMETERS)]
    asked = [value for value, _ in values if not _is_number(value)]
    name = last_word(loop.target)
    tests = [one.test for one in ast.walk(loop) if isinstance(one, ast.If)]
    asked += [one for one in tests if any(isinstance(node, ast.Name) and node.id == name for node in ast.walk(one))]
    read = (node.attr for one in asked for node in ast.walk(one) if isinstance(node, ast.Attribute))
    return next((declared[attribute] for attribute in read if attribute in declared), None)


def _is_number(value: ast.expr) -> bool:
    """`range(args.folds)`: how many there are, which all runs have."""
    return isinstance(value, ast.Call) and last_word(value.func) == "range" and len(value.args) == 1


def _run_by(facts: FileFacts, site: CallSite) -> Iterator[CallSite]:
    """The calls in the functions of the file that a call runs."""
    functions = known_functions(facts, site.node.func, site.scope)
    return (inner for function in functions for inner in facts.calls_in(function))


def _seeds(site: CallSite) -> bool:
    return "seed" in last_word(site.node.func).lower()
