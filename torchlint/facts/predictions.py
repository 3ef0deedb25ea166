"""Models whose weights are loaded and that predict, in one function or script."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torchlint.facts.scopes import BindingKind

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts
    from torchlint.facts.scopes import CallSite, Scope

LOADERS = frozenset({"load_state_dict", "load_from_checkpoint"})
_KEEPING = frozenset({"to", "cuda", "cpu", "float", "half", "double", "bfloat16", "requires_grad_", "module"})
"""Methods that return the model itself."""
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
"""Words of files that export a model, or leave it in training mode on purpose."""
_GENERATOR = re.compile(r"gan|generator|^net_?g$|^g$", re.IGNORECASE)
"""Names of models whose dropout may be wanted when they are used."""
_TRIAL = re.compile(r"dummy|example|trac|profil|bench|check|demo|export|flops|convert|warm_?up|summar", re.IGNORECASE)
"""Words of functions that try a model out, measure or translate it."""
_DEPTH = 6


@dataclass(frozen=True, slots=True)
class Prediction:
    """A model of the project's class `model` gets weights, and `call` uses what it computes."""

    model: str
    name: str
    """The variable that holds it."""
    call: ast.Call


def prediction_after(facts: FileFacts, site: CallSite) -> Prediction | None:
    """The first prediction of the model into which a call loads weights."""
    if not isinstance(site.node.func, ast.Attribute) or _OTHERWISE.search(facts.source.text):
        return None
    name = _loaded_name(site)
    owner = facts.resolver.owner(name, site.scope) if name is not None else None
    if name is None or owner is None or _GENERATOR.search(name) or _TRIAL.search(facts.symbol_of(site)):
        return None
    model = _class_of(facts, owner, name)
    if model is None or _GENERATOR.search(model.rpartition("::")[2]) or _is_handed_out(facts, owner, name):
        return None
    for call in _calls_of(facts, owner, name):
        if call.node.lineno >= site.node.lineno and not _TRIAL.search(facts.symbol_of(call)):
            return Prediction(model, name, call.node)
    return None


def _loaded_name(site: CallSite) -> str | None:
    """`model` in `model.load_state_dict(...)`, or in `model = Net.load_from_checkpoint(...)`."""
    function = site.node.func
    assert isinstance(function, ast.Attribute)
    if function.attr == "load_state_dict":
        value = function.value
        if isinstance(value, ast.Attribute) and value.attr == "module":
            value = value.value
        return value.id if isinstance(value, ast.Name) else None
    statement = site.statement
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
        return target.id if isinstance(target, ast.Name) else None
    return None


def _class_of(facts: FileFacts, owner: Scope, name: str) -> str | None:
    """The project class that a name holds an instance of, and nothing else."""
    found: set[str | None] = set()
    for binding in owner.bindings[name]:
        if binding.kind is not BindingKind.ASSIGN or binding.value is None:
            return None
        root = _root(facts, binding.value, binding.scope)
        if isinstance(root, ast.Name) and root.id == name:
            continue
        found.add(_made(facts, root, binding.scope))
    return found.pop() if len(found) == 1 else None


def _root(facts: FileFacts, value: ast.expr, scope: int, depth: int = _DEPTH) -> ast.expr:
    """`Net()` in `nn.DataParallel(Net()).to(device)`."""
    if depth == 0 or not isinstance(value, ast.Call):
        return value
    function = value.func
    if isinstance(function, ast.Attribute) and function.attr in _KEEPING:
        return _root(facts, function.value, scope, depth - 1)
    if value.args and facts.names(function, scope).only in _WRAPPERS:
        return _root(facts, value.args[0], scope, depth - 1)
    return value


def _made(facts: FileFacts, root: ast.expr, scope: int) -> str | None:
    if not isinstance(root, ast.Call):
        return None
    name = facts.names(root.func, scope).only
    return name.removesuffix(".load_from_checkpoint") if name is not None and "::" in name else None


def _is_handed_out(facts: FileFacts, owner: Scope, name: str) -> bool:
    """Whether code that cannot be looked into gets the model: it may set its mode."""
    for site in facts.reading.calls:
        given = [*site.node.args, *(keyword.value for keyword in site.node.keywords)]
        if not any(_is_it(facts, value, owner, name, site.scope) for value in given):
            continue
        callee = facts.names(site.node.func, site.scope).only
        if callee is None or not ("::" in callee or callee in _HARMLESS or callee in _WRAPPERS):
            return True
    return False


def _is_it(facts: FileFacts, value: ast.expr, owner: Scope, name: str, scope: int) -> bool:
    if isinstance(value, ast.Starred):
        value = value.value
    if not isinstance(value, ast.Name):
        inner = value.elts if isinstance(value, ast.List | ast.Tuple) else ()
        return any(_is_it(facts, one, owner, name, scope) for one in inner)
    return value.id == name and facts.resolver.owner(name, scope) is owner


def _calls_of(facts: FileFacts, owner: Scope, name: str) -> Iterator[CallSite]:
    """Calls of the model itself, whose result is used and whose input is not made up."""
    for site in facts.reading.calls:
        if not _is_it(facts, site.node.func, owner, name, site.scope):
            continue
        is_used = not (isinstance(site.statement, ast.Expr) and site.statement.value is site.node)
        if is_used and site.node.args and not any(_is_made_up(facts, value, site.scope) for value in site.node.args):
            yield site


def _is_made_up(facts: FileFacts, value: ast.expr, scope: int) -> bool:
    """An input to try the model on."""
    if isinstance(value, ast.Starred):
        return True
    return any(name.replace("()", "").startswith(tuple(_MADE_UP)) for name in facts.names(value, scope).names)
