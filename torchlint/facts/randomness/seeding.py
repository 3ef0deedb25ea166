"""Calls that seed random number generators, by what they seed, and seeds that are the same each time."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Callable, Iterator, Mapping

from torchlint.catalogue.load import load_generators
from torchlint.catalogue.values import by_name
from torchlint.facts.control.conditions import decisions, without_negation
from torchlint.facts.control.order import Moment, moment_of
from torchlint.facts.definitions import only_value, seen_values
from torchlint.facts.file import FileFacts
from torchlint.facts.full_names import Names
from torchlint.facts.notation import hangs_on_call, last_part
from torchlint.facts.options.demands import Demand, demands_on
from torchlint.facts.places import Found, place_of
from torchlint.facts.scopes import CallSite, ScopeKind
from torchlint.facts.tree import children, is_literal_none, last_word
from torchlint.facts.values import all_given
from torchlint.facts.watch import Watch

EVERYTHING = frozenset({"torch", "numpy", "random"})

_OF_SEEDS = ("seed", "determinis", "reproducib")
_NO_SEEDING = re.compile(
    r"^(?:_?get|is|test|add|parse|check|print|log|initial|draw|sample|next|seedsequence|spawn|seed$)"
)
"""What speaks of seeds and seeds nothing, or, as `env.seed(0)`, something of its own."""
_ORDERING = re.compile(
    r"^_?(?:set|fix|init|initialize|setup|set_up|apply|make|enable|ensure|config\w*|manual|use|control|lock|re|seed)"
    r"(?:_?(?:seed|seeds|seeding|random|rng|global|all|every|everything|thing|torch|pytorch|numpy|np|python|cuda|cudnn|"
    r"determinis\w*|reproducib\w*|fully|full|mode|state|algorithms|the|for|and|number|generators?|training))*$",
    re.IGNORECASE,
)
"""What orders a seed, and names nothing else: `set_seed`, `fix_random_seeds`, `make_reproducible`."""
_SEED_ARGUMENTS = frozenset({"seed", "random_seed", "manual_seed", "rng_seed", "global_seed", "seed_everything"})
_OF_AN_OBJECT = frozenset(
    {"reset", "sample", "shuffle", "split", "train_test_split", "add_argument", "make", "generate"}
)

_ASKING = frozenset({"get_rng_state", "get_rng_state_all", "getstate", "get_state"})
"""Functions that give a generator's state."""
_NAMED_SEEDER = re.compile(
    r"_*(?:set|fix|init|setup)_?(?:all_|random_|global_|the_)?seeds?(?:_all)?|seed_(?:everything|all)|setup_seed"
)
"""Names by which projects call the function that seeds all libraries."""
_CONVERSIONS = frozenset(f"builtins.{name}" for name in ("int", "abs", "float", "str", "hash", "round"))
IsFixed = Callable[[ast.Name], bool]
"""Whether a name means the same each time."""


class SeedCall(Found, frozen=True, array_like=True, gc=False):
    """One call that seeds; `generators` are named as in the registry."""

    generators: frozenset[str]
    moment: Moment
    name: str
    """The full name of what is called, or its last word where that is not known."""
    by_argument: bool = False
    """Nothing but an argument says so (`mix(paths, seed=1)`): the seed may be for that call alone."""
    is_guess: bool = False
    """Nothing but a word says so, in the name or the arguments: enough to be silent about, too little to speak of."""
    demands: tuple[Demand, ...] = ()
    """What has to be so for the call to run."""
    without_cuda: bool = False
    """It runs only on a machine without a GPU: in the `else` of `if torch.cuda.is_available()`."""
    option: str = ""
    """The option that the user of a program must give for it to run, once the program is known."""


def seed_calls(facts: FileFacts, table: Mapping[str, frozenset[str]]) -> Iterator[SeedCall]:
    """What the calls of a file seed; the project's own functions are followed instead."""
    words = [word for word in facts.calls.words if any(one in word.lower() for one in _OF_SEEDS)]
    for site in facts.calls.find(names=table.keys(), words=words, keywords=_SEED_ARGUMENTS):
        names, word = facts.names(site.node.func, site.scope), last_word(site.node.func)
        generators = frozenset[str]().union(*(table[name] for name in names.names & table.keys()))
        has_own = any(name.partition(".")[0] in load_generators().with_own_generators for name in names.names)
        is_foreign = not generators and not names.of_project and not has_own
        speaks = is_foreign and _speaks_of_seeding(site, names)
        by_argument = is_foreign and not speaks and _is_given_seed(site.node)
        generators = EVERYTHING if speaks or by_argument else generators
        held_by = facts.symbols.scopes[site.scope]
        handed = facts.index.parents.get(held_by.node) if generators and held_by.kind is ScopeKind.LAMBDA else None
        # Data-loading workers alone run such a lambda, each in a process of its own.
        is_for_workers = isinstance(handed, ast.keyword) and handed.arg == "worker_init_fn"
        if not generators or is_for_workers:
            continue
        symbol, place = facts.symbol_of(site), place_of(facts, site.node, site.statement)
        moment, demands = moment_of(facts, site.statement), demands_on(facts, site.statement, site.scope)
        is_guess = by_argument or (speaks and not (site.is_alone and _ORDERING.match(word)))
        lacks, name = _lacks_cuda(facts, site.statement, site.scope), names.only or word
        yield SeedCall(facts.path, symbol, place, generators, moment, name, by_argument, is_guess, demands, lacks)


def _lacks_cuda(facts: FileFacts, statement: ast.stmt, scope: int) -> bool:
    """Whether a statement runs only where there is no GPU."""
    for decision, answer in decisions(facts, statement):
        test, is_negated = without_negation(decision.test)
        value, where = only_value(facts, test, scope)
        is_asked = isinstance(value, ast.Call) and facts.names(value.func, where).only == "torch.cuda.is_available"
        if is_asked and answer is is_negated:
            return True
    return False


def _speaks_of_seeding(site: CallSite, names: Names) -> bool:
    """Whether code that cannot be looked into seeds, by its name: `engine.set_seed(...)`, for no result."""
    word = last_word(site.node.func)
    if any(one in word.lower() for one in _OF_SEEDS) and not _NO_SEEDING.match(word.lower()):
        return site.is_alone or _ORDERING.match(word) is not None
    # `library.seed(0)` is a function; on an object it is that object's
    return word == "seed" and any(not hangs_on_call(name) for name in names.names)


def _is_given_seed(call: ast.Call) -> bool:
    """Whether code that cannot be looked into may seed, by what it is given: `Algorithm(..., seed=1)`."""
    word = last_word(call.func)
    if word == "seed" or word in _OF_AN_OBJECT:
        return False
    return any(keyword.arg in _SEED_ARGUMENTS and not is_literal_none(keyword.value) for keyword in call.keywords)


def restores_generators(facts: FileFacts, watch: Watch) -> bool:
    """Whether generators are set to a state that was kept; not to one that the same code has just asked for."""
    return any(not _is_put_back(facts, site) for site in facts.calls.find(names=watch.restorers))


def _is_put_back(facts: FileFacts, site: CallSite) -> bool:
    given = site.node.args[:1]
    states = [value for one in given for value, _ in [(one, site.scope), *seen_values(facts, one, site.scope)]]
    return any(isinstance(one, ast.Call) and last_word(one.func) in _ASKING for one in states)


def library_of(facts: FileFacts, site: CallSite) -> str | None:
    """Whose random numbers a call seeds: `all` for a function that is named for it."""
    name = facts.names(site.node.func, site.scope).only or ""
    if name in _seeders():
        return _seeders()[name]
    is_named = _NAMED_SEEDER.fullmatch(last_part(name))
    return "all" if is_named and site.node.args else None


@functools.cache
def _seeders() -> Mapping[str, str]:
    return by_name(load_generators().seeders)


def seed_of(call: ast.Call) -> ast.expr | None:
    """The seed that a seeder is given; None where there is none to be seen, and for the literal None."""
    given = call.args[0] if call.args else next((k.value for k in call.keywords if k.arg in ("seed", "a")), None)
    return None if isinstance(given, ast.Starred) or is_literal_none(given) else given


def seeds_of(call: ast.Call) -> list[ast.expr]:
    """All that a seeder is given, the seed first: projects add a rank or a round. Empty where something is hidden."""
    seed = seed_of(call)
    given = all_given(call)
    is_hidden = any(keyword.arg is None for keyword in call.keywords)
    if seed is None or is_hidden or any(isinstance(argument, ast.Starred) for argument in given):
        return []
    return [seed, *(argument for argument in given if argument is not seed)]


def is_fixed(facts: FileFacts, seed: ast.expr, scope: int, is_fixed_name: IsFixed) -> bool:
    """Whether a seed expression gives the same each time: constants, names that hold still, arithmetic on them."""
    if isinstance(seed, ast.Constant):
        return seed.value is not None
    if isinstance(seed, ast.Name):
        return is_fixed_name(seed)
    if isinstance(seed, ast.Call):
        if seed.keywords or facts.names(seed.func, scope).only not in _CONVERSIONS:
            return False
        return all(is_fixed(facts, argument, scope, is_fixed_name) for argument in seed.args)
    if not isinstance(seed, (ast.Attribute, ast.BinOp, ast.UnaryOp, ast.Subscript)):
        return False
    return all(is_fixed(facts, part, scope, is_fixed_name) for part in children(seed))  # type: ignore[arg-type]
