"""Where a file's code is differentiated by itself, and what its calls pass on of gradients.

Library code is full of resizing and padding that no gradient ever passes: preprocessing, prediction, plotting. So a
functional operator that varies only in its backward pass is a sure finding only where gradients are seen to flow:
in `forward` of a module, in a loss, in code that calls `.backward()`, and in what these call (project/gradients.py).
"""

from __future__ import annotations

import ast
import enum
import re
from collections.abc import Iterator

import msgspec

from torchlint.facts.callees import names_called
from torchlint.facts.definitions import definitions_of, seen_values
from torchlint.facts.file import FileFacts
from torchlint.facts.flow.values import Parameter
from torchlint.facts.functions import decorators_of, is_method
from torchlint.facts.gradients import asks_for_gradient, is_cut_off, is_gradless
from torchlint.facts.memoizing import followed, memoized
from torchlint.facts.scopes import CallSite, Scope, ScopeKind
from torchlint.facts.tensors.methods import method_named
from torchlint.facts.tree import is_method_call, is_of_own, is_own, last_word, method_called, only_target
from torchlint.facts.words import says

_SERVING = (
    *("vllm.model_executor", "vllm.multimodal", "sglang.srt", "sglang.multimodal_gen.runtime"),
    *("lmdeploy.pytorch", "tensorrt_llm."),
)
"""Inner modules of engines that run models and never train them."""

_LAYER = re.compile(r"^torch\.nn\.(?:Conv|Linear|LazyConv|LazyLinear|Sequential|Sigmoid|Softmax|Tanh)\w*\(\)$")
"""Instances of layers that have weights, or stand behind some."""
_ACTIVATIONS = frozenset({"sigmoid", "softmax", "log_softmax", "tanh", "gumbel_softmax"})

_STEPS = frozenset({"training_step", "train_step", "compute_loss", "closure", "train_one_epoch"})
_LOSSES = ("loss", "criterion")


class Evidence(enum.Enum):
    """What must be seen to carry a gradient before one is taken to flow through a function."""

    ANY = enum.auto()
    """Any call from differentiated code will do."""
    SIGNAL = enum.auto()
    """Of code for signals, which are mostly raw: a loss, or a call that gives it a prediction."""
    PREDICTION = enum.auto()
    """Of code that is named for work on data: only a call that gives it a prediction."""


class Passage(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The function through which a gradient has to come back to what varies only in its backward pass."""

    symbol: str
    asks: Evidence
    parameter: tuple[int, str] | None = None
    """The parameter that the operator works on, if it is one: its place among the arguments of a call, and its name."""
    is_named_for_data: bool = False
    """Whether that is all that says anything of the operator's input: a helper's `img` may be features."""


class Passing(enum.IntEnum):
    """What a call passes on of gradients."""

    NOTHING = 0
    """Gradients are off."""
    RECORDED = 1
    CARRIED = 2
    """Something that the call gives may carry a gradient."""
    PREDICTED = 3
    """Something that it gives is evidently predicted."""


def passing_of(facts: FileFacts, site: CallSite) -> Passing:
    """What a call passes on to whatever it runs, or hands a function to."""
    if is_gradless(facts, site.node):
        return Passing.NOTHING
    if not facts.imports_torch:
        return Passing.RECORDED
    values = [value for _, value in _given(site.node)]
    if any(is_predicted(facts, value, site.scope) and _may_carry(facts, value, site.scope) for value in values):
        return Passing.PREDICTED
    # `self.step()`, `super().step()`: the object that holds the weights is handed on.
    is_carrying = is_of_own(site.node.func) or any(_may_carry(facts, value, site.scope) for value in values)
    return Passing.CARRIED if is_carrying else Passing.RECORDED


def carried_by(facts: FileFacts, site: CallSite) -> tuple[int | str, ...]:
    """The arguments of a call that may carry a gradient, by position and keyword."""
    return tuple(key for key, value in _given(site.node) if _may_carry(facts, value, site.scope))


def _given(call: ast.Call) -> Iterator[tuple[int | str, ast.expr]]:
    for index, one in enumerate(call.args):
        yield ("*", one.value) if isinstance(one, ast.Starred) else (index, one)
    yield from ((keyword.arg or "*", keyword.value) for keyword in call.keywords)


def _may_carry(facts: FileFacts, value: ast.expr, scope: int) -> bool:
    if isinstance(value, ast.Constant) or is_cut_off(facts, value, scope):
        return False
    if not is_named_for_data(facts, value, scope):
        return True
    # What a parameter of a function beside a loss stands for, say `img`, a model mostly made.
    if not isinstance(value, ast.Name) or facts.function_name(scope) in ("", "forward"):
        return False
    has_losses = bool(facts.cached(loss_symbols))
    return has_losses and any(isinstance(one, Parameter) for one in definitions_of(facts, value, scope))


def forward_symbols(facts: FileFacts) -> frozenset[str]:
    """The `forward` methods of modules, from which calls lead gradients to other files."""
    methods = (one for one in facts.symbols.scopes if one.kind is ScopeKind.FUNCTION and one.name == "forward")
    forwards = (one for one in methods if is_method(facts, one))
    # A static `forward(ctx, ...)` belongs to an autograd Function, which records nothing.
    return frozenset(one.qualname for one in forwards if "builtins.staticmethod" not in decorators_of(facts, one))


def loss_symbols(facts: FileFacts) -> frozenset[str]:
    """Losses, steps and code that goes backward: what they call on a prediction passes gradients on."""
    named = {scope.qualname for scope in facts.symbols.scopes if _is_loss(facts, scope)}
    backward = [site for site in facts.calls.find(words=("backward",)) if method_called(site.node)]
    return frozenset(named | {facts.symbol_of(site) for site in (*backward, *_leaves(facts))})


def stands_in_loss(facts: FileFacts, scope: int) -> bool:
    """Whether code belongs to a loss, or to a step of training, by its name or that of its class."""
    return any(_is_loss(facts, facts.symbols.scopes[index]) for index in facts.around(scope))


def _leaves(facts: FileFacts) -> Iterator[CallSite]:
    """Tensors made to want a gradient and kept in a name: somebody takes it. Attributes are a model's weights."""
    asking = facts.source.mentions("requires_grad", "Parameter")
    for site in facts.symbols.calls if asking and facts.imports_torch else ():
        target = only_target(site.statement)
        is_kept = isinstance(target, ast.Name) and getattr(site.statement, "value", None) is site.node
        is_made = not is_method_call(site.node, "requires_grad_") or isinstance(site.node.func.value, ast.Call)
        if is_kept and is_made and asks_for_gradient(facts, site.node, site.scope):
            yield site


def works_on_data(facts: FileFacts, scope: int) -> bool:
    """Whether no gradient passes here: by the names around a scope (augmentation, prediction), or while serving."""
    if is_served(facts):
        return True
    names = [facts.path, *(facts.symbols.scopes[index].name for index in facts.around(scope))]
    return any(says(name, "data_work") for name in names)


@memoized
def is_served(facts: FileFacts) -> bool:
    """Whether a file belongs to an engine that runs models and never trains them."""
    return any(target.module.startswith(_SERVING) for target, _ in facts.symbols.imports)


def is_named_for_data(facts: FileFacts, expression: ast.expr | None, scope: int) -> bool:
    """Whether an input's own name says that it is raw data (`images`, `masks.float()`), and its values agree."""
    named = expression
    while isinstance(named, (ast.Call, ast.Attribute, ast.Subscript)) and not is_own(named):
        named = named.func if isinstance(named, ast.Call) else named.value
    is_raw = says(last_word(named), "raw_data") and not says(last_word(named), "predicted")
    return is_raw and not _holds_predictions(facts, expression, scope)


@followed(otherwise=False)
def _holds_predictions(facts: FileFacts, value: ast.expr | None, scope: int) -> bool:
    """`masks = outputs["masks"][kept]`: all that a name is bound to is predicted, or a part of what is."""
    value = _viewed(value)
    if is_predicted(facts, value, scope):
        return True
    values = seen_values(facts, value, scope) if isinstance(value, ast.Name) else []
    return bool(values) and all(_holds_predictions(facts, one, where) for one, where in values)


def is_predicted(facts: FileFacts, value: ast.expr | None, scope: int) -> bool:
    """Whether a model evidently computes a value: `outputs["mask"]`, `self.head(x)`, `torch.sigmoid(x)`."""
    value = _viewed(value)
    if isinstance(value, ast.Name):
        return says(value.id, "predicted")
    if not isinstance(value, ast.Call):
        return False
    names = names_called(facts, value.func, scope)
    is_layer = names.complete and bool(names.names) and all(_LAYER.search(name) for name in names.names)
    word = names.only or method_called(value)
    return is_layer or word.rpartition(".")[2] in _ACTIVATIONS


def _viewed(value: ast.expr | None) -> ast.expr | None:
    """What a part, a field or a view is of: `x` for `x.squeeze(1)`, which a gradient flows through as it is."""
    while True:
        called = method_named(method_called(value))
        if is_method_call(value) and called.rearranges and not called.cuts_gradient:
            value = value.func.value
        elif isinstance(value, (ast.Subscript, ast.Attribute)):
            value = value.value
        else:
            return value


def _is_loss(facts: FileFacts, scope: Scope) -> bool:
    if scope.kind is not ScopeKind.FUNCTION or scope.parent is None:
        return False
    owner = facts.symbols.scopes[scope.parent]
    in_loss_class = owner.kind is ScopeKind.CLASS and owner.name.lower().endswith(_LOSSES)
    return in_loss_class or scope.name in _STEPS or any(word in scope.name.lower() for word in _LOSSES)
