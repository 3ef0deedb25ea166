"""What modules do when they run: which hold dropout or batch norms, who sets the mode, what replicas share."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

import msgspec

from torchlint.diagnostics import Location
from torchlint.facts.control.conditions import tests_around
from torchlint.facts.data_loading.kept_generators import kept_generator
from torchlint.facts.file import FileFacts
from torchlint.facts.full_names import Names
from torchlint.facts.grouping import grouped
from torchlint.facts.memoizing import memoized
from torchlint.facts.notation import is_of_project
from torchlint.facts.randomness.draws import Draw, drawn_calls, possible_draws
from torchlint.facts.scopes import CallSite, ScopeKind
from torchlint.facts.tree import is_method_call, last_word, words_in
from torchlint.facts.values import argument_of, may_be_hidden
from torchlint.facts.words import says

if TYPE_CHECKING:
    from torchlint.facts.watch import Watch

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
_CONDITIONAL = (ast.IfExp, ast.BoolOp, ast.Lambda, ast.comprehension)
_PLAIN = ("torch.", "builtins.", "math.", "collections.", "functools.", "itertools.", "typing.", "copy.", "logging.")
"""Namespaces of functions and layers that do nothing of the kind, unless the registry says so."""


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
    varying = (name for name in facts.calls.names if name in _VARYING or is_of_project(name))
    parts = (_varying_part(facts, site) for site in facts.calls.find(names=varying)) if facts.imports_torch else ()
    classes = (one for one in facts.symbols.scopes if one.kind is ScopeKind.CLASS)
    own = frozenset(one.qualname for one in classes if {"train", "eval"} & one.bindings.keys())
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
    if name is None or not (name in _VARYING or is_of_project(name)):
        return None
    function, owner = facts.function_of(site.scope), facts.class_of(site.scope)
    if function is None or owner is None or facts.symbols.scopes[function].parent != owner:
        return None
    wanted = "forward" if name in DROPOUT_FUNCTIONS else "__init__"
    if facts.function_name(site.scope) != wanted or next(tests_around(facts, site.statement), None) is not None:
        return None
    if any(isinstance(above, _CONDITIONAL) for above, _ in facts.index.ancestors(site.node)):
        return None
    if not is_of_project(name) and not _varies(facts, site, name):
        return None
    return facts.symbols.scopes[owner].qualname, name


def _varies(facts: FileFacts, site: CallSite, name: str) -> bool:
    """Whether the layer evidently does something else in training mode."""
    call = site.node
    if may_be_hidden(call, 0):
        return False
    if name in NORMS:
        kept = argument_of(call, "track_running_stats", 4)
        return kept is None or facts.value(kept, site.scope).constants == (True,)
    if name in DROPOUT_FUNCTIONS:  # `training=self.training`
        mode = argument_of(call, "training", 2)
        if not isinstance(mode, ast.Attribute) or mode.attr != "training":
            return False
    given = argument_of(call, "p", 1 if name in DROPOUT_FUNCTIONS else 0)
    rate = facts.value(given, site.scope)
    return given is None or (rate.is_known and all(isinstance(one, (int, float)) and one > 0 for one in rate.constants))


def weight_loaders(facts: FileFacts) -> frozenset[str]:
    """The symbols that load weights under no condition, so that the weights that were drawn decide nothing."""
    calls = ((site, site.node) for site in facts.calls.find(words=LOADERS))
    loading = ((site, ast.unparse(call.func.value)) for site, call in calls if is_method_call(call))
    models = (site for site, holder in loading if not _BESIDE_MODELS.search(holder))
    return frozenset(facts.symbol_of(one) for one in models if next(tests_around(facts, one.statement), None) is None)


class SharedDraw(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A draw from a generator that all threads of the process share."""

    symbol: str
    name: str
    """As it is written."""
    location: Location


class BatchUse(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What changes when a batch is split among threads."""

    draws: tuple[SharedDraw, ...]
    """The first draw of each symbol from a generator that they share."""
    unsettled: frozenset[str]
    """Symbols that may draw, or whose result may depend on the whole batch."""


def batch_use(facts: FileFacts, watch: Watch) -> BatchUse:
    """All of it."""
    drawn = drawn_calls(facts, watch)
    shared = (_shared_draw(facts, site, drawn.get(site), watch.cpu_draws) for site in possible_draws(facts, watch))
    draws = grouped((one.symbol, one) for one in shared if one is not None)
    unsettled = {facts.symbol_of(site) for site, names in facts.calls.named if _hangs_on_batch(site, names, watch)}
    unsettled |= {one.symbol for one in drawn.values() if one.makes != "model"}
    return BatchUse(tuple(alike[0] for alike in draws.values()), frozenset(unsettled))


def _shared_draw(facts: FileFacts, site: CallSite, drawn: Draw | None, cpu_draws: frozenset[str]) -> SharedDraw | None:
    """A draw from Python's, NumPy's or torch's generator of the CPU, or from one that an object or a module keeps.

    None where it depends on a choice, as of a way to sample that a model may have: it may not be the usual one.
    """
    is_on_cpu = all(one.arg not in ("device", "generator", None) for one in site.node.keywords)
    is_global = drawn is not None and (
        drawn.generator in ("numpy", "random") or (is_on_cpu and drawn.name in cpu_draws)
    )
    is_shared = is_global or kept_generator(facts, site) is not None
    if is_shared and all(_is_usual(facts, test) for test in tests_around(facts, site.node)):
        return SharedDraw(facts.symbol_of(site), ast.unparse(site.node.func), facts.locate(site.node))
    return None


@memoized
def _is_usual(facts: FileFacts, test: ast.expr) -> bool:  # noqa: ARG001
    """`self.training`, `random.random() < 0.5`, `self.p > 0`: training alone, by chance, or unless it is turned off."""
    return any(says(word, "chance") for word in words_in(test))


def _hangs_on_batch(site: CallSite, names: Names, watch: Watch) -> bool:
    """Whether a call may look at a whole batch, or draw where that is not seen; what is not known may do so.

    Methods of whatever object count as plain: what they belong to is made by another call.
    """
    if not names.complete or not names.callees:
        return not isinstance(site.node.func, ast.Attribute)
    if names.names & watch.batch_layers or argument_of(site.node, "dropout", None) is not None:
        return True
    return not all(is_of_project(name) or name.startswith(_PLAIN) for name in names.names)
