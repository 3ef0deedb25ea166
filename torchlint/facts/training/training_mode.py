"""What a model is like when it runs: which classes hold dropout or batch norms, who sets the mode, or loads weights."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from torchlint.facts.control.conditions import tests_around
from torchlint.facts.scopes import ScopeKind
from torchlint.facts.tree import is_method_call, last_word
from torchlint.facts.values import argument_of, may_be_hidden

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts
    from torchlint.facts.scopes import CallSite

DROPOUTS = frozenset(
    [*(f"torch.nn.Dropout{d}" for d in ("", "1d", "2d", "3d")), "torch.nn.AlphaDropout", "torch.nn.FeatureAlphaDropout"]
)
NORMS = frozenset([*(f"torch.nn.BatchNorm{d}" for d in ("1d", "2d", "3d")), "torch.nn.SyncBatchNorm"])
DROPOUT_FUNCTIONS = frozenset(f"torch.nn.functional.dropout{d}" for d in ("", "1d", "2d", "3d"))
"""Layers and functions that do something else while a module is in training mode."""
_VARYING = DROPOUTS | NORMS | DROPOUT_FUNCTIONS
_SETS_MODE = re.compile(r"eval|^train$|^freeze")
"""Last words of calls that may set the mode of a module, or run a trainer that does."""
_RUNS = frozenset({"fit", "predict", "test", "validate", "train_model"})
LOADERS = frozenset({"load_state_dict", "load_from_checkpoint"})
_BESIDE_MODELS = re.compile(r"opt|sched|scaler|solver|sgd|adam|loader|sampler|ema", re.IGNORECASE)
"""What else has a state to be loaded."""


class ModuleModes(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What a file says about training mode."""

    parts: tuple[tuple[str, str], ...]
    """Pairs of a class and a layer, or class of the project, that every instance of it holds."""
    setters: frozenset[str]
    """Symbols that may set the mode of a module."""
    own: frozenset[str]
    """Classes with a mode of their own: what they hold may be frozen."""


def module_modes(facts: FileFacts) -> ModuleModes:
    """All of it."""
    words = (word for word in facts.calls.words if word in _RUNS or _SETS_MODE.search(word))
    setters = frozenset(facts.symbol_of(site) for site in facts.calls.find(words=words) if _sets_mode(facts, site))
    varying = (name for name in facts.calls.names if name in _VARYING or "::" in name)
    parts = (_varying_part(facts, site) for site in facts.calls.find(names=varying)) if facts.imports_torch else ()
    own = frozenset(classes_with_a_mode_of_their_own(facts))
    return ModuleModes(tuple(dict.fromkeys(part for part in parts if part is not None)), setters, own)


def _sets_mode(facts: FileFacts, site: CallSite) -> bool:
    """Whether a call may turn training mode on or off; the project's own functions are followed instead."""
    function = site.node.func
    word, is_method = last_word(function), isinstance(function, ast.Attribute)
    if word in ("eval", "train") and is_method:
        return True
    is_followed = bool(facts.names(function, site.scope).of_project)
    return not is_followed and (is_method or word not in _RUNS)


def _varying_part(facts: FileFacts, site: CallSite) -> tuple[str, str] | None:
    """A class, and a layer or class of the project that every instance of it holds, if that may vary in training."""
    name = facts.names(site.node.func, site.scope).only
    if name is None or not (name in _VARYING or "::" in name):
        return None
    function, owner = facts.function_of(site.scope), facts.class_of(site.scope)
    if function is None or owner is None or facts.symbols.scopes[function].parent != owner:
        return None
    wanted = "forward" if name in DROPOUT_FUNCTIONS else "__init__"
    if facts.function_name(site.scope) != wanted or not _is_unconditional(facts, site):
        return None
    if "::" not in name and not _varies(facts, site, name):
        return None
    return facts.symbols.scopes[owner].qualname, name


def _is_unconditional(facts: FileFacts, site: CallSite) -> bool:
    if any(True for _ in tests_around(facts, site.statement)):
        return False
    kinds = (ast.IfExp, ast.BoolOp, ast.Lambda, ast.comprehension)
    return not any(isinstance(above, kinds) for above, _ in facts.index.ancestors(site.node))


def _varies(facts: FileFacts, site: CallSite, name: str) -> bool:
    """Whether the layer evidently does something else in training mode."""
    call = site.node
    if may_be_hidden(call, 0):
        return False
    if name in NORMS:
        kept = argument_of(call, "track_running_stats", 4)
        return kept is None or facts.value(kept, site.scope).constants == (True,)
    if name in DROPOUT_FUNCTIONS and not _follows_mode(call):
        return False
    given = argument_of(call, "p", 1 if name in DROPOUT_FUNCTIONS else 0)
    rate = facts.value(given, site.scope)
    return given is None or (rate.is_known and all(isinstance(one, int | float) and one > 0 for one in rate.constants))


def _follows_mode(call: ast.Call) -> bool:
    """`training=self.training`."""
    given = argument_of(call, "training", 2)
    return isinstance(given, ast.Attribute) and given.attr == "training"


def classes_with_a_mode_of_their_own(facts: FileFacts) -> Iterator[str]:
    """Classes that define `train` or `eval`."""
    for scope in facts.symbols.scopes:
        if scope.kind is ScopeKind.CLASS and {"train", "eval"} & scope.bindings.keys():
            yield scope.qualname


def weight_loaders(facts: FileFacts) -> frozenset[str]:
    """The symbols that load weights under no condition, so that the weights that were drawn decide nothing."""
    return frozenset(facts.symbol_of(site) for site in facts.calls.find(words=LOADERS) if _loads_weights(facts, site))


def _loads_weights(facts: FileFacts, site: CallSite) -> bool:
    if not is_method_call(site.node):
        return False
    is_model = not _BESIDE_MODELS.search(ast.unparse(site.node.func.value))
    return is_model and not any(True for _ in tests_around(facts, site.statement))
