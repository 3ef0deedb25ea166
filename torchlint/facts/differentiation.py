"""Which functions of a file evidently run in a differentiated path.

Library code is full of resizing and padding that no gradient ever passes: preprocessing, prediction, plotting. So a
functional operator that varies only in its backward pass is a sure finding only where gradients are seen to flow:
in `forward` of a module, in a loss, in code that calls `.backward()`, and in what these call in the same file.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchlint.facts.attributes import names_called
from torchlint.facts.gradients import gradless_lines
from torchlint.facts.reaching import reaching
from torchlint.facts.scopes import BindingKind, CallSite, Scope, ScopeKind
from torchlint.facts.tensors.methods import method_named
from torchlint.facts.tree import is_own

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

_APART = re.compile(
    r"augment|aug(?![a-z])|random_?(?:shift|crop|flip|affine|rotat|perspective|eras|resized)|"
    r"preprocess|pre_process|postprocess|(?<![a-z])transforms?(?![a-z])|(?<![a-z])resize_and|"
    r"(?<![a-z])data(?:sets?)?(?![a-z])|inference|predict(?!ion)|prefill|registrator|image_process|emphasis|"
    r"spectrogram|front_?end|fbank|mfcc|gammatone|(?<![a-z])[cv]qt(?![a-z])|feature_?extract|melconv"
)
"""Words in a path or a name that say: this code works on data, before or after the model."""
_SERVING = (
    *("vllm.model_executor", "vllm.multimodal", "sglang.srt", "sglang.multimodal_gen.runtime"),
    *("lmdeploy.pytorch", "tensorrt_llm."),
)
"""Inner modules of engines that run models and never train them."""

_DATA = re.compile(
    r"(?:^|_)(?:images?|imgs?|pixel_values|masks?|mask_inputs|frames?|ref|supp|lqs?|gts?|"
    r"waveforms?|wavs?|audios?|mels?|additional_inputs?|(?:pos|position)_ids|x_enc|x_dec)$"
)
"""What data is called; `x_enc` and `x_dec` are the raw series of forecasting models since Informer."""
_PREDICTED = re.compile(r"pred|logit|output|(?:^|_)hat(?:_|$)|(?:^|_)fake|recon(?:_|$|struct)|generated")
"""A predicted mask or image does carry a gradient."""

_LAYER = re.compile(r"^torch\.nn\.(?:Conv|Linear|LazyConv|LazyLinear|Sequential|Sigmoid|Softmax|Tanh)\w*\(\)$")
"""Instances of layers that have weights, or stand behind some."""
_ACTIVATIONS = frozenset({"sigmoid", "softmax", "log_softmax", "tanh", "gumbel_softmax"})

_STEPS = frozenset({"training_step", "train_step", "compute_loss", "closure", "train_one_epoch"})
_LOSSES = ("loss", "criterion")


def differentiated_scopes(facts: FileFacts) -> frozenset[int]:
    """The function scopes (0 for the module's own code) through which gradients are seen to flow."""
    return _reached(facts, {scope.index for scope in facts.reading.scopes if _is_forward(facts, scope)})


def loss_scopes(facts: FileFacts) -> frozenset[int]:
    """Those of them that a loss or a `.backward()` reaches: there gradients flow to raw signals too."""
    return _reached(facts, set())


def forward_symbols(facts: FileFacts) -> frozenset[str]:
    """The `forward` methods of modules, from which calls lead gradients to other files."""
    scopes = facts.reading.scopes if facts.imports_torch else ()
    return frozenset(scope.qualname for scope in scopes if _is_forward(facts, scope))


def loss_symbols(facts: FileFacts) -> frozenset[str]:
    """Losses, steps and code that goes backward: what they call on a prediction passes gradients on."""
    scopes = facts.reading.scopes if facts.imports_torch else ()
    named = {scope.qualname for scope in scopes if _is_loss(facts, scope)}
    return frozenset(named | {facts.symbol_of(site) for site in _backward_calls(facts) if scopes})


def _backward_calls(facts: FileFacts) -> Iterator[CallSite]:
    for site in facts.reading.calls:
        if isinstance(site.node.func, ast.Attribute) and site.node.func.attr == "backward":
            yield site


def works_on_data(facts: FileFacts, scope: int) -> bool:
    """Whether no gradient passes here: by the names around a scope (augmentation, prediction), or while serving."""
    if is_served(facts):
        return True
    names = [facts.path, *(facts.reading.scopes[index].name for index in facts.around(scope))]
    return any(_APART.search(name.lower()) for name in names)


def is_served(facts: FileFacts) -> bool:
    """Whether a file belongs to an engine that runs models and never trains them."""
    return facts.once(_is_served)


def _is_served(facts: FileFacts) -> bool:
    return any(target.module.startswith(_SERVING) for target, _ in facts.reading.imports)


def is_named_for_data(facts: FileFacts, expression: ast.expr | None, scope: int) -> bool:
    """Whether an input's own name says that it is raw data (`images`, `masks.float()`), and its values agree."""
    if isinstance(expression, ast.Name):
        bound = reaching(facts, expression.id, scope, expression.lineno)
        if bound and all(b.kind is BindingKind.ASSIGN and is_predicted(facts, b.value, b.scope) for b in bound):
            return False
    return _is_named_for_data(expression)


def is_predicted(facts: FileFacts, value: ast.expr | None, scope: int) -> bool:
    """Whether a model evidently computes a value: `outputs["mask"]`, `self.head(x)`, `torch.sigmoid(x)`."""
    while isinstance(value, ast.Subscript | ast.Attribute) or _is_view(value):
        value = value.func.value if isinstance(value, ast.Call) else value.value  # type: ignore[attr-defined, union-attr]
    if isinstance(value, ast.Name):
        return _PREDICTED.search(value.id.lower()) is not None
    if not isinstance(value, ast.Call):
        return False
    names = names_called(facts, value.func, scope)
    is_layer = names.complete and bool(names.names) and all(_LAYER.search(name) for name in names.names)
    word = names.only or str(getattr(value.func, "attr", ""))
    return is_layer or word.rpartition(".")[2] in _ACTIVATIONS


def _is_view(value: ast.expr | None) -> bool:
    """`x.squeeze(1)`: what a gradient flows through as it is."""
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute):
        return False
    found = method_named(value.func.attr)
    return found.rearranges and not found.cuts_gradient


def _is_named_for_data(expression: ast.expr | None) -> bool:
    while isinstance(expression, ast.Call | ast.Attribute | ast.Subscript):
        if isinstance(expression, ast.Call):
            expression = expression.func
        elif isinstance(expression, ast.Attribute) and isinstance(expression.value, ast.Name):
            name = expression.attr if expression.value.id == "self" else expression.value.id
            return _says_data(name)
        else:
            expression = expression.value
    return isinstance(expression, ast.Name) and _says_data(expression.id)


def _says_data(name: str) -> bool:
    return _DATA.search(name.lower()) is not None and _PREDICTED.search(name.lower()) is None


def _reached(facts: FileFacts, starts: set[int]) -> frozenset[int]:
    reached = starts | {scope.index for scope in facts.reading.scopes if _is_loss(facts, scope)}
    reached |= {_runner(facts, site.scope) for site in _backward_calls(facts)}
    calls = facts.once(_calls_within)
    waiting = sorted(reached)
    while waiting:
        for callee in calls.get(waiting.pop(), ()):
            if callee not in reached:
                reached.add(callee)
                waiting.append(callee)
    return frozenset(reached)


def _runner(facts: FileFacts, scope: int) -> int:
    """The function whose code a scope is; 0 for code that runs at import."""
    return facts.function_of(scope) or 0


def _is_forward(facts: FileFacts, scope: Scope) -> bool:
    """`forward` of a class. A static `forward(ctx, ...)` belongs to an autograd Function, which records nothing."""
    if scope.kind is not ScopeKind.FUNCTION or scope.name != "forward" or scope.parent is None:
        return False
    return facts.reading.scopes[scope.parent].kind is ScopeKind.CLASS and not _is_static(scope)


def _is_loss(facts: FileFacts, scope: Scope) -> bool:
    if scope.kind is not ScopeKind.FUNCTION or scope.parent is None:
        return False
    owner = facts.reading.scopes[scope.parent]
    in_loss_class = owner.kind is ScopeKind.CLASS and owner.name.lower().endswith(_LOSSES)
    return in_loss_class or scope.name in _STEPS or any(word in scope.name.lower() for word in _LOSSES)


def _is_static(scope: Scope) -> bool:
    decorators = scope.node.decorator_list  # type: ignore[attr-defined]
    return any(isinstance(decorator, ast.Name) and decorator.id == "staticmethod" for decorator in decorators)


def _calls_within(facts: FileFacts) -> dict[int, set[int]]:
    """For each function the functions of this file that it calls where gradients are on."""
    by_name = {scope.qualname: scope.index for scope in facts.reading.scopes if scope.kind is ScopeKind.FUNCTION}
    off = facts.once(gradless_lines)
    calls: dict[int, set[int]] = {}
    for site in facts.reading.calls:
        if any(first <= site.node.lineno <= last for first, last in off):
            continue
        for qualname in _callees(facts, site.node.func, site.scope):
            if qualname in by_name:
                calls.setdefault(_runner(facts, site.scope), set()).add(by_name[qualname])
    return calls


def _callees(facts: FileFacts, function: ast.expr, scope: int) -> Iterator[str]:
    if is_own(function):
        owner = facts.class_of(scope)
        if owner is not None:
            yield f"{facts.reading.scopes[owner].qualname}.{function.attr}"
        return
    for name in facts.names(function, scope).names:
        path, _, qualname = name.partition("::")
        if path == facts.path:
            yield qualname
