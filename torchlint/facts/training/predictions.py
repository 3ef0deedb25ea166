"""Models whose weights are loaded and that predict, in one function or script."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torchlint.catalogue.load import load_values
from torchlint.catalogue.values import Kind
from torchlint.facts.control.order import precedes
from torchlint.facts.scopes import BindingKind, ScopeKind
from torchlint.facts.tree import is_literal_none, is_method_call, is_own, method_called
from torchlint.facts.values import all_given, argument_of, may_be_hidden

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts
    from torchlint.facts.scopes import CallSite, Scope

LOADERS = frozenset({"load_state_dict", "load_from_checkpoint"})
_NORMALISED = re.compile(
    r"torchvision\.models\.(?:resnet|resnext|wide_resnet|densenet|mobilenet|efficientnet|googlenet|inception|"
    r"shufflenet|mnasnet|regnet)\w*"
)
"""Models of torchvision that hold batch norms."""
PRETRAINED = frozenset(
    f"torchvision.models.{name}"
    for name in (
        *("resnet18", "resnet34", "resnet50", "resnet101", "resnet152", "resnext50_32x4d", "resnext101_32x8d"),
        *("wide_resnet50_2", "wide_resnet101_2", "densenet121", "densenet161", "densenet169", "densenet201"),
        *("mobilenet_v2", "mobilenet_v3_small", "mobilenet_v3_large", "googlenet", "inception_v3"),
        *(f"efficientnet_b{size}" for size in range(8)),
        *("shufflenet_v2_x0_5", "shufflenet_v2_x1_0", "mnasnet0_5", "mnasnet1_0", "regnet_y_400mf", "regnet_x_400mf"),
    )
)
"""Those of them that come with weights, by their full names."""
_KEEPING = load_values().methods[Kind.MODULE] - {"eval", "train"} | {"module"}
"""What returns the model itself, in the mode that it was in."""
_WRAPPERS = frozenset(
    {"torch.nn.DataParallel", "torch.nn.parallel.DistributedDataParallel", "torch.compile", "torch.nn.Sequential"}
)
_HARMLESS = frozenset(
    [
        *("torch.save", "builtins.print", "builtins.isinstance", "builtins.type", "builtins.len", "builtins.id"),
        *("builtins.hasattr", "builtins.getattr", "builtins.setattr", "builtins.sum"),
    ]
)
"""What a model may be given to without that setting its mode."""
_MADE_UP = frozenset(f"torch.{name}" for name in ("randn", "rand", "ones", "zeros", "empty", "randint", "full"))
_OTHERWISE = re.compile(
    r"onnx|jit\.trace|jit\.script|torch\.export|monte.?carlo|mc_?dropout|mc_?samples|uncertain|bayes|ensemble|"
    r"\.training\s*=|quantiz",
    re.IGNORECASE,
)
"""Words of code that exports a model, or leaves it in training mode on purpose."""
_GENERATOR = re.compile(r"gan|generator|^net_?g$|^g$", re.IGNORECASE)
"""Names of models whose dropout may be wanted when they are used."""
_TRIAL = re.compile(r"dummy|example|trac|profil|bench|check|demo|export|flops|convert|warm_?up|summar", re.IGNORECASE)
"""Words of functions that try a model out, measure or translate it."""
_DEPTH = 6


@dataclass(frozen=True, slots=True)
class Prediction:
    """A model gets weights, and `call` uses what it computes."""

    model: str
    """Its class in the project, or the function of torchvision that makes it."""
    name: str
    """What holds it, as it is written."""
    is_global: bool
    """Whether a module holds it, so that every function of the project may set its mode."""
    call: ast.Call


@dataclass(frozen=True, slots=True, eq=False)
class _Holder:
    """Where a model is kept: a name of a scope, or an attribute of a class that is no module itself.

    What a module keeps follows the mode of the module.
    """

    name: str
    owner: Scope

    @property
    def is_attribute(self) -> bool:
        return self.owner.kind is ScopeKind.CLASS

    def is_read_by(self, facts: FileFacts, value: ast.expr, scope: int) -> bool:
        if self.is_attribute:
            return _own_attribute(value) == self.name and facts.class_of(scope) == self.owner.index
        return (
            isinstance(value, ast.Name)
            and value.id == self.name
            and facts.resolver.owner(value.id, scope) is self.owner
        )

    def values(self, facts: FileFacts) -> Iterator[tuple[ast.expr | None, int]]:
        """All that is put there; None for what is not followed."""
        if not self.is_attribute:
            for binding in self.owner.bindings[self.name]:
                yield (binding.value if binding.kind is BindingKind.ASSIGN else None), binding.scope
            return
        for assignment in facts.reading.assignments:
            if self.is_read_by(facts, assignment.target, assignment.scope):
                yield assignment.value, assignment.scope


def prediction_after(facts: FileFacts, site: CallSite) -> Prediction | None:
    """The first prediction of the model into which a call loads weights."""
    if _TRIAL.search(facts.symbol_of(site)):
        return None
    is_pretrained = facts.names(site.node.func, site.scope).only in PRETRAINED
    if not (_has_weights(facts, site) if is_pretrained else method_called(site.node) in LOADERS):
        return None
    value = _loaded(site)
    holder = _holder(facts, value, site.scope) if value is not None else None
    if value is None or holder is None or _GENERATOR.search(holder.name) or _means_otherwise(holder):
        return None
    model = _class_of(facts, holder)
    if model is None or _GENERATOR.search(model.rpartition("::")[2]) or _is_handed_out(facts, holder):
        return None
    for call in _calls_of(facts, holder):
        is_after = holder.is_attribute or precedes(facts, site.node, call.node)
        if is_after and not _TRIAL.search(facts.symbol_of(call)):
            return Prediction(model, ast.unparse(value), holder.owner.kind is ScopeKind.MODULE, call.node)
    return None


def _means_otherwise(holder: _Holder) -> bool:
    """Whether the function, class or script that keeps the model says so, its docstrings included."""
    return _OTHERWISE.search(ast.unparse(holder.owner.node)) is not None


def _has_weights(facts: FileFacts, site: CallSite) -> bool:
    """`weights="DEFAULT"`, or `pretrained=True` of older releases."""
    weights = argument_of(site.node, "weights", None)
    if weights is not None:
        return facts.value(weights, site.scope).constants != (None,)
    return facts.value(argument_of(site.node, "pretrained", 0), site.scope).constants == (True,)


def _loaded(site: CallSite) -> ast.expr | None:
    """`model` in `model.load_state_dict(...)`, `model = Net.load_from_checkpoint(...)`, `model = resnet18(...)`."""
    call, statement = site.node, site.statement
    if is_method_call(call, "load_state_dict"):
        value = call.func.value
        return value.value if isinstance(value, ast.Attribute) and value.attr == "module" else value
    return statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None


def _holder(facts: FileFacts, value: ast.expr, scope: int) -> _Holder | None:
    if isinstance(value, ast.Name):
        owner = facts.resolver.owner(value.id, scope)
        return _Holder(value.id, owner) if owner is not None else None
    attribute, around = _own_attribute(value), facts.class_of(scope)
    if attribute is None or around is None:
        return None
    # A class with bases may be a module, or what a framework sets the mode of.
    has_bases = bool(facts.reading.scopes[around].node.bases)  # type: ignore[attr-defined]
    return None if has_bases else _Holder(attribute, facts.reading.scopes[around])


def _own_attribute(value: ast.expr) -> str | None:
    """`model` in `self.model`."""
    return value.attr if is_own(value) else None


def _class_of(facts: FileFacts, holder: _Holder) -> str | None:
    """The project class that is kept an instance of, and nothing else."""
    found: set[str | None] = set()
    for value, scope in holder.values(facts):
        if value is None:
            return None
        if is_literal_none(value):
            continue
        root = _root(facts, value, scope)
        if not holder.is_read_by(facts, root, scope):
            found.add(_made(facts, root, scope))
    return found.pop() if len(found) == 1 else None


def _root(facts: FileFacts, value: ast.expr, scope: int, depth: int = _DEPTH) -> ast.expr:
    """`Net()` in `nn.DataParallel(Net()).to(device)`."""
    if depth == 0 or not isinstance(value, ast.Call):
        return value
    if is_method_call(value, *_KEEPING):
        return _root(facts, value.func.value, scope, depth - 1)
    if value.args and facts.names(value.func, scope).only in _WRAPPERS:
        return _root(facts, value.args[0], scope, depth - 1)
    return value


def _made(facts: FileFacts, root: ast.expr, scope: int) -> str | None:
    if not isinstance(root, ast.Call):
        return None
    name = facts.names(root.func, scope).only or ""
    if _NORMALISED.fullmatch(name):
        return name if argument_of(root, "norm_layer", None) is None and not may_be_hidden(root, None) else None
    return name.removesuffix(".load_from_checkpoint") if "::" in name else None


def _is_handed_out(facts: FileFacts, holder: _Holder) -> bool:
    """Whether code that cannot be looked into gets the model: it may set its mode."""
    for site in facts.reading.calls:
        given = all_given(site.node)
        if not any(_holds(facts, value, holder, site.scope) for value in given):
            continue
        callee = facts.names(site.node.func, site.scope).only
        if callee is None or not ("::" in callee or callee in _HARMLESS or callee in _WRAPPERS):
            return True
    return False


def _holds(facts: FileFacts, value: ast.expr, holder: _Holder, scope: int) -> bool:
    if isinstance(value, ast.Starred):
        value = value.value
    inner = value.elts if isinstance(value, ast.List | ast.Tuple) else ()
    return holder.is_read_by(facts, value, scope) or any(_holds(facts, one, holder, scope) for one in inner)


def _calls_of(facts: FileFacts, holder: _Holder) -> Iterator[CallSite]:
    """Calls of the model itself, whose result is used and whose input is not made up."""
    for site in facts.reading.calls:
        if not holder.is_read_by(facts, site.node.func, site.scope):
            continue
        is_used = not (isinstance(site.statement, ast.Expr) and site.statement.value is site.node)
        if is_used and site.node.args and not any(_is_made_up(facts, value, site.scope) for value in site.node.args):
            yield site


def _is_made_up(facts: FileFacts, value: ast.expr, scope: int) -> bool:
    """An input to try the model on."""
    if isinstance(value, ast.Starred):
        return True
    return any(name.replace("()", "").startswith(tuple(_MADE_UP)) for name in facts.names(value, scope).names)
