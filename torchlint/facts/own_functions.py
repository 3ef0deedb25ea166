"""Which functions of its own file a call runs, and what they return."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchlint.facts.attributes import attribute_values
from torchlint.facts.scopes import Scope, ScopeKind
from torchlint.facts.tree import is_self
from torchlint.facts.values import Constant, argument_of

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts
    from torchlint.facts.scopes import CallSite

_TRANSPARENT = frozenset(
    {
        *("builtins.staticmethod", "builtins.classmethod", "abc.abstractmethod", "typing.override", "functools.cache"),
        *("functools.lru_cache", "functools.lru_cache()", "functools.wraps()", "torch.compile", "torch.compile()"),
        *("torch.no_grad", "torch.no_grad()", "torch.inference_mode", "torch.inference_mode()", "torch.enable_grad()"),
        *(
            "torch.jit.script",
            "torch.jit.ignore",
            "torch.jit.export",
            "torch.jit.unused",
            "torch.jit.script_if_tracing",
        ),
    }
)
"""Decorators that leave alone what a function returns."""

_NOT_MODULES = frozenset({"builtins.object", "torch.autograd.Function", "abc.ABC", "typing.Protocol"})


def is_module_class(facts: FileFacts, scope: int | None, depth: int = 6) -> bool:
    """Whether a class scope is an `nn.Module`, through classes of the same file."""
    if scope is None or depth == 0 or facts.reading.scopes[scope].kind is not ScopeKind.CLASS:
        return False
    owner = facts.reading.scopes[scope]
    bases: list[ast.expr] = owner.node.bases  # type: ignore[attr-defined]
    names = [name for base in bases for name in facts.names(base, owner.parent or 0).names]
    if any(name in ("torch.nn.Module", "lightning.pytorch.LightningModule") for name in names):
        return True
    own = [own_scope(facts, name) for name in names]
    return any(found != scope and is_module_class(facts, found, depth - 1) for found in own)


def forward_of(facts: FileFacts, scope: int) -> Scope | None:
    """The `forward` that runs the code of a scope, of a class that is a module or may be one by its bases."""
    index = facts.function_of(scope)
    function = None if index is None else facts.reading.scopes[index]
    if function is None or function.name != "forward" or function.parent is None:
        return None
    owner = facts.reading.scopes[function.parent]
    if owner.kind is not ScopeKind.CLASS:
        return None
    bases = [facts.names(base, owner.parent or 0).only for base in owner.node.bases]  # type: ignore[attr-defined]
    is_module = any(base not in _NOT_MODULES for base in bases) and "torch.autograd.Function" not in bases
    return function if is_module and "self" in function.bindings else None


def own_scope(facts: FileFacts, name: str) -> int | None:
    """The scope of the function or class of this file that a full name means."""
    path, _, qualname = name.partition("::")
    return facts.once(_by_qualname).get(qualname) if path == facts.path else None


def _by_qualname(facts: FileFacts) -> dict[str, int | None]:
    """The scopes that a name means for certain: where it is defined twice, None."""
    found: dict[str, int | None] = {}
    for scope in facts.reading.scopes[1:]:
        if scope.kind in (ScopeKind.FUNCTION, ScopeKind.CLASS):
            found[scope.qualname] = None if scope.qualname in found else scope.index
    return found


def called_functions(facts: FileFacts, call: ast.Call, scope: int) -> list[int]:
    """The functions of this file that a call may run; empty where it may run others."""
    if is_self(call.func):
        forward = method_of(facts, facts.class_of(scope), "forward")
        return [] if forward is None else [forward]
    values = attribute_values(facts, call.func, scope)
    if values == [] and isinstance(call.func, ast.Attribute):
        method = method_of(facts, facts.class_of(scope), call.func.attr)
        return [] if method is None else [method]
    if values is None:
        names = [facts.names(call.func, scope).only]
    else:
        names = [_instance(facts, choice, where) for value, where in values for choice in choices(value)]
    found = [None if name is None else _function(facts, name) for name in names]
    return [] if None in found else [index for index in found if index is not None]


def calls_of(facts: FileFacts, function: int) -> list[CallSite]:
    """The calls in this file that may run one of its functions."""
    return facts.once(_calls_by_function).get(function, [])


def _calls_by_function(facts: FileFacts) -> dict[int, list[CallSite]]:
    found: dict[int, list[CallSite]] = {}
    for site in facts.reading.calls:
        for function in called_functions(facts, site.node, site.scope):
            found.setdefault(function, []).append(site)
    return found


def choices(value: ast.expr) -> Iterator[ast.expr]:
    """`Linear(3, 3)` and `Identity()` in `Linear(3, 3) if wide else Identity()`; None is no choice."""
    if isinstance(value, ast.IfExp):
        yield from choices(value.body)
        yield from choices(value.orelse)
    elif not (isinstance(value, ast.Constant) and value.value is None):
        yield value


def _instance(facts: FileFacts, value: ast.expr, scope: int) -> str | None:
    return facts.names(value, scope).only if isinstance(value, ast.Call) else None


def _function(facts: FileFacts, name: str) -> int | None:
    """The function that calling a full name runs: for an instance of a class (`path::Net()`), its `forward`."""
    found = own_scope(facts, name.replace("()", ""))
    if found is None:
        return None
    if facts.reading.scopes[found].kind is ScopeKind.FUNCTION:
        return None if name.endswith("()") else found
    if not name.endswith("()"):
        return None
    return method_of(facts, found, "forward" if is_module_class(facts, found) else "__call__")


def method_of(facts: FileFacts, owner: int | None, name: str, depth: int = 6) -> int | None:
    """The method of a class, or of its bases in the same file."""
    if owner is None or depth == 0:
        return None
    scopes = facts.reading.scopes
    bindings = scopes[owner].bindings.get(name)
    if bindings is not None:
        return bindings[0].definition if len(bindings) == 1 else None
    for base in getattr(scopes[owner].node, "bases", ()):
        inherited = own_scope(facts, facts.names(base, scopes[owner].parent or 0).only or "")
        if inherited is not None and inherited != owner:
            return method_of(facts, inherited, name, depth - 1)
    return None


def is_plain(facts: FileFacts, function: Scope) -> bool:
    """Whether a call gives what the function returns: no generator, no coroutine, no decorator that changes it."""
    node = function.node
    if not isinstance(node, ast.FunctionDef):
        return False
    names = [facts.names(decorator, function.parent or 0).only for decorator in node.decorator_list]
    return all(name in _TRANSPARENT for name in names) and function.index not in facts.once(_generators)


def _generators(facts: FileFacts) -> set[int]:
    found = set()
    for statement, scope in facts.reading.scope_of.items():
        value = getattr(statement, "value", None)
        if isinstance(value, ast.Yield | ast.YieldFrom):
            function = facts.function_of(scope)
            found.add(-1 if function is None else function)
    return found


def returned_values(facts: FileFacts, function: int) -> list[ast.expr]:
    """All that a function returns, but None."""
    return facts.once(_returns).get(function, [])


def _returns(facts: FileFacts) -> dict[int, list[ast.expr]]:
    found: dict[int, list[ast.expr]] = {}
    for statement, scope in facts.reading.scope_of.items():
        value = statement.value if isinstance(statement, ast.Return) else None
        if value is not None and not (isinstance(value, ast.Constant) and value.value is None):
            found.setdefault(scope, []).append(value)
    return found


def usual_values(facts: FileFacts, expression: ast.expr, scope: int) -> tuple[Constant, ...]:
    """What a parameter is by its literal default, and what calls in this file give for it literally."""
    function = facts.function_of(scope)
    if function is None or not isinstance(expression, ast.Name) or facts.parameter_named(expression, scope) is None:
        return ()
    owner = facts.reading.scopes[function]
    if expression.id not in owner.bindings or not isinstance(owner.node, ast.FunctionDef):
        return ()
    default = owner.bindings[expression.id][0]
    names = [argument.arg for argument in (*owner.node.args.posonlyargs, *owner.node.args.args)]
    is_method = facts.reading.scopes[owner.parent or 0].kind is ScopeKind.CLASS
    if is_method and names[:1] == [expression.id]:
        return ()
    position = names.index(expression.id) - is_method if expression.id in names else None
    given = [(argument_of(site.node, expression.id, position), site.scope) for site in calls_of(facts, function)]
    values = [facts.value(one, where) for one, where in [(default.value, default.scope), *given]]
    return tuple(constant for value in values if value.is_known for constant in value.constants)
