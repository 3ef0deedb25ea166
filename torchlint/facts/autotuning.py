"""Which block sizes of an autotuned Triton kernel decide the order of a sum."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

_REDUCING = frozenset({"sum", "dot", "cumsum", "reduce", "dot_scaled"})


def tuned_sums(facts: FileFacts, call: ast.Call, scope: int) -> tuple[str, list[str]] | None:
    """The kernel that `@triton.autotune(...)` decorates, and the tuned names along which it adds up.

    None where the call decorates nothing, or no configuration changes the order of a sum.
    """
    kernel = next((s.node for s in facts.reading.scopes if _decorates(s.node, call)), None)
    if not isinstance(kernel, ast.FunctionDef):
        return None
    found = sorted(_varying_keys(facts, call, scope) & set(_summed_along(kernel)))
    return (kernel.name, found) if found else None


def _decorates(node: ast.AST, call: ast.Call) -> bool:
    return any(decorator is call for decorator in getattr(node, "decorator_list", ()))


def _varying_keys(facts: FileFacts, call: ast.Call, scope: int) -> set[str]:
    """The names of `triton.Config({...})` entries that have more than one value among the configurations."""
    values: dict[str, set[str]] = {}
    for config in _configurations(facts, call, scope):
        if config.args and isinstance(config.args[0], ast.Dict):
            for key, value in zip(config.args[0].keys, config.args[0].values, strict=True):
                if isinstance(key, ast.Constant) and isinstance(key.value, str):
                    # A value that is computed (in a comprehension over sizes) takes several.
                    options = {ast.unparse(value)} if isinstance(value, ast.Constant) else {"first", "second"}
                    values.setdefault(key.value, set()).update(options)
    return {name for name, options in values.items() if len(options) > 1}


def _configurations(facts: FileFacts, call: ast.Call, scope: int) -> Iterator[ast.Call]:
    given = next((keyword.value for keyword in call.keywords if keyword.arg == "configs"), None)
    given = given if given is not None else (call.args[0] if call.args else None)
    if isinstance(given, ast.Name):
        owner = facts.resolver.owner(given.id, scope)
        bindings = owner.bindings[given.id] if owner else []
        given = bindings[0].value if len(bindings) == 1 else None
    for node in ast.walk(given) if given is not None else ():
        if isinstance(node, ast.Call) and facts.names(node.func, scope).only == "triton.Config":
            yield node


def _summed_along(kernel: ast.FunctionDef) -> Iterator[str]:
    """Names that are the step of an accumulating loop, or the length of a range where the kernel reduces."""
    reduces = any(_is_reduction(node) for node in ast.walk(kernel))
    for node in ast.walk(kernel):
        if isinstance(node, ast.For) and isinstance(node.iter, ast.Call) and _accumulates(node):
            yield from _names_in(node.iter)
        elif reduces and isinstance(node, ast.Call) and _called(node) == "arange":
            yield from _names_in(node)


def _accumulates(loop: ast.For) -> bool:
    return any(
        (isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add) and not _is_pointer(node)) or _is_dot(node)
        for node in ast.walk(loop)
    )


def _is_pointer(node: ast.AugAssign) -> bool:
    """`a_ptrs += BLOCK_K * stride`: the loop moves on, it adds nothing up."""
    target = node.target.id.lower() if isinstance(node.target, ast.Name) else ""
    return any(word in target for word in ("ptr", "offs", "offset", "idx", "start"))


def _is_dot(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and _called(node) in ("dot", "dot_scaled")


def _is_reduction(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and _called(node) in _REDUCING - {"dot", "dot_scaled"}


def _called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _names_in(node: ast.AST) -> Iterator[str]:
    return (child.id for child in ast.walk(node) if isinstance(child, ast.Name))
