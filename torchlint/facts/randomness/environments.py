"""Reinforcement-learning environments: who makes them, who seeds them, and who samples their action space.

An environment and its action space keep a generator each, and seeding one leaves the other alone: `reset(seed=0)` does
not seed the action space (gymnasium 0.27 to 1.4, vectorised ones as well).
"""

from __future__ import annotations

import ast
import enum
import re
from collections.abc import Iterator, Mapping

from torchlint.catalogue.load import load_generators
from torchlint.facts.file import FileFacts
from torchlint.facts.full_names import Names, dotted
from torchlint.facts.notation import is_of_project, result_of
from torchlint.facts.places import Found, place_of
from torchlint.facts.randomness.draws import is_incidental
from torchlint.facts.scopes import CallSite
from torchlint.facts.tree import is_literal_none, last_word, method_called
from torchlint.facts.values import all_given, argument_of, may_be_hidden
from torchlint.facts.watch import Watch

_TABLE = load_generators().environments
MAKERS = _TABLE.makers | _TABLE.algorithms
SPACES = frozenset({"action_space", "single_action_space"})
_LEARNING = _TABLE.algorithms | {f"{result_of(algorithm)}.learn" for algorithm in _TABLE.algorithms}
_NAMED = MAKERS | _LEARNING
_WORDS = ("gym", "env", "stable_baselines3", "sb3_contrib", *SPACES)
_REPORTING = re.compile(r"^(?:info|debug|warning|error|log|print|format|join|append|add_|save|write|update|append)")
_SEED = re.compile(r"seed", re.IGNORECASE)
_ENVIRONMENT = re.compile(r"env", re.IGNORECASE)


class EnvironmentPart(enum.Enum):
    """What a call does to an environment."""

    MADE = "made"
    """It is made without a seed, and draws."""
    RESET = "reset"
    SAMPLED = "sampled"
    """Its action space is sampled."""
    SEEDED = "seeded"
    SPACE_SEEDED = "space seeded"
    MAY_BE_SEEDED = "may be seeded"
    """Code that cannot be looked into gets a seed: it may seed the environment and its space."""
    TRAINED = "trained"
    """An algorithm of a library trains in it."""


class EnvironmentCall(Found, frozen=True, array_like=True, gc=False):
    """One call that concerns environments."""

    part: EnvironmentPart


def calls_for_environments(facts: FileFacts) -> list[CallSite]:
    """The calls that may do something to environments, by a cheap look at the text: most files have none."""
    if facts.source.mentions("seed"):
        return facts.symbols.calls
    return facts.calls.find(names=_NAMED, words=("sample", "reset")) if facts.source.mentions(*_WORDS) else []


def environment_calls(facts: FileFacts, watch: Watch) -> Iterator[EnvironmentCall]:
    """What the calls of a file do to environments."""
    for site in calls_for_environments(facts):
        part = _part(facts, site, facts.names(site.node.func, site.scope), watch.seeders)
        if part is not None:
            yield EnvironmentCall(facts.path, facts.symbol_of(site), place_of(facts, site.node), part)


def _part(
    facts: FileFacts, site: CallSite, names: Names, seeders: Mapping[str, frozenset[str]]
) -> EnvironmentPart | None:
    if makes_environment(facts, site, names):
        return EnvironmentPart.MADE
    if samples_actions(facts, site):
        return EnvironmentPart.SAMPLED
    found = _seeding(facts, site, names, seeders)
    if found is not None:
        return found
    if method_called(site.node) == "reset" and _ENVIRONMENT.search(_owner(site.node)):
        return EnvironmentPart.RESET
    return EnvironmentPart.TRAINED if names.only in _LEARNING else None


# -- making and sampling -------------------------------------------------------------------------


def makes_environment(facts: FileFacts, site: CallSite, names: Names) -> bool:
    """Whether a call makes an environment that draws, without a seed.

    A name that the code does not show counts: nearly all environments draw where an episode starts.
    """
    call = site.node
    if not names.complete or not names.names or not names.names <= MAKERS:
        return False
    if may_be_hidden(call, 1) or any(keyword.arg and _SEED.search(keyword.arg) for keyword in call.keywords):
        return False
    is_algorithm = names.names <= _TABLE.algorithms
    asked = (("env", 1),) if is_algorithm else (("id", 0), ("env_id", 0))
    wanted = next((one for name, place in asked if (one := argument_of(call, name, place)) is not None), None)
    if wanted is None or (is_algorithm and not isinstance(wanted, ast.Constant)):
        return False
    known = facts.value(wanted, site.scope)
    if known.is_known:
        return all(isinstance(one, str) and re.fullmatch(_TABLE.random, one) for one in known.constants)
    return isinstance(wanted, (ast.Name, ast.Attribute, ast.Subscript))


def samples_actions(facts: FileFacts, site: CallSite) -> bool:
    """`env.action_space.sample()`, whose result something uses."""
    function = site.node.func
    if not isinstance(function, ast.Attribute) or function.attr != "sample" or _owner(site.node) not in SPACES:
        return False
    return not (is_incidental(facts, site) or site.is_alone or isinstance(site.statement, ast.Assert))


# -- seeding -------------------------------------------------------------------------------------


def _seeding(
    facts: FileFacts, site: CallSite, names: Names, seeders: Mapping[str, frozenset[str]]
) -> EnvironmentPart | None:
    call = site.node
    if any(name in seeders or name.partition(".")[0] in _TABLE.elsewhere for name in names.names):
        return None
    method = method_called(call)
    if method == "seed":
        return _by_seed_method(call, names) if any(not is_literal_none(given) for given in all_given(call)) else None
    if method == "reset":
        return EnvironmentPart.SEEDED if _is_reset_with_seed(facts, site) else None
    # `VectorEnv(make, seed=args.seed)`, `make(name, seed)`; what the project's own does is followed.
    word, by_keyword = last_word(call.func), (one.arg or "" for one in call.keywords if not is_literal_none(one.value))
    gets_seed = any(map(_SEED.search, (*by_keyword, *map(last_word, all_given(call)))))
    may_seed = _SEED.search(word) or (gets_seed and not _REPORTING.match(word))
    return EnvironmentPart.MAY_BE_SEEDED if may_seed and not names.of_project else None


def _by_seed_method(call: ast.Call, names: Names) -> EnvironmentPart | None:
    """`env.seed(0)`, `env.action_space.seed(0)`, or a `seed` of a library's own environment."""
    owner = _owner(call)
    if "space" in owner:
        return None if "observation" in owner else EnvironmentPart.SPACE_SEEDED
    foreign = [
        name for name in names.names if not is_of_project(name) and name.partition(".")[0] not in ("gymnasium", "gym")
    ]
    return EnvironmentPart.MAY_BE_SEEDED if foreign else EnvironmentPart.SEEDED


def _is_reset_with_seed(facts: FileFacts, site: CallSite) -> bool:
    """A wrapper's `reset` only passes on what it was given."""
    passes_on = facts.function_name(site.scope) == "reset"
    if any(keyword.arg is None for keyword in site.node.keywords):
        return not passes_on
    seeds = [keyword.value for keyword in site.node.keywords if keyword.arg and _SEED.search(keyword.arg)]
    seeds += [given for given in site.node.args if _SEED.search(last_word(given))]
    own = [seed for seed in seeds if not is_literal_none(seed)]
    return any(not (passes_on and facts.parameter_named(seed, site.scope) is not None) for seed in own)


def _owner(call: ast.Call) -> str:
    """The last word of what a method is called on: `action_space` in `self.env.action_space.sample()`."""
    value = call.func.value if isinstance(call.func, ast.Attribute) else call.func
    while isinstance(value, ast.Subscript):
        value = value.value
    return (dotted(value) or "").rpartition(".")[2]
