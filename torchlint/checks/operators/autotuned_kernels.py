"""TL117 autotuned-kernel: `@triton.autotune` over a size along which the kernel adds, and inductor's tuning."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.checks.framework.drafts import OperatorUse
from torchlint.checks.framework.operator_verdict import judge_operators
from torchlint.checks.framework.registration import Finding, Triggers, check
from torchlint.checks.framework.visit import WRITERS, Visit, spelling_of, writes
from torchlint.facts.definitions import seen_values
from torchlint.facts.file import FileFacts
from torchlint.facts.tree import index_parts, is_literal_none, last_word, names_in, targets_of
from torchlint.facts.values import argument_of

_CODE = "TL117"
_PRODUCTS = ("dot", "dot_scaled")
_SUMS = frozenset({"sum", "cumsum", "reduce", "associative_scan"})
_POINTERS = ("ptr", "offs", "offset", "idx", "start")
_FOLDING = frozenset({*_PRODUCTS, "make_block_ptr", "reshape", "view", "trans", "broadcast_to", "expand_dims"})
"""What makes blocks of more than one dimension, or takes them."""
_CONFIG = "torch._inductor.config"
_OPTIONS = ("max_autotune", "max_autotune_gemm", "max_autotune_pointwise", "coordinate_descent_tuning")
_TUNING = frozenset(f"{_CONFIG}.{name}" for name in (*_OPTIONS, "triton.multi_kernel"))
"""Options by which kernels that round differently are timed; inductor's `deterministic` silences them all."""
_VARIABLES = frozenset(f"TORCHINDUCTOR_{name.upper()}" for name in (*_OPTIONS, "multi_kernel"))


@check(codes=(_CODE,), triggers=Triggers(calls=frozenset({"triton.autotune"})))
def find(visit: Visit) -> Iterator[Finding]:
    """The decorator, when its configurations change the order of a sum."""
    decorated = (s.node for s in visit.facts.symbols.scopes if visit.call in getattr(s.node, "decorator_list", ()))
    kernel = next(decorated, None) if visit.callee() == "triton.autotune" else None
    if not isinstance(kernel, ast.FunctionDef):
        return
    tuned: dict[str, set[str]] = {}
    for config in _configurations(visit.facts, visit.call, visit.scope):
        if config.args and isinstance(config.args[0], ast.Dict):
            for key, value in zip(config.args[0].keys, config.args[0].values, strict=True):
                if isinstance(key, ast.Constant) and isinstance(key.value, str):
                    # A value that is computed (in a comprehension over sizes) takes several.
                    options = {ast.unparse(value)} if isinstance(value, ast.Constant) else {"first", "second"}
                    tuned.setdefault(key.value, set()).update(options)
    varying = {name for name, options in tuned.items() if len(options) > 1}
    found = sorted(varying & _summed_along(kernel))
    if found:
        values = {"name": kernel.name, "keys": " and ".join(f"`{name}`" for name in found)}
        yield Finding(_CODE, visit.node, values, "triton")


def _configurations(facts: FileFacts, call: ast.Call, scope: int) -> Iterator[ast.Call]:
    given = argument_of(call, "configs", None)
    given = given if given is not None else (call.args[0] if call.args else None)
    values = seen_values(facts, given, scope) if given is not None else []
    for node in ast.walk(values[0][0]) if len(values) == 1 else ():
        if isinstance(node, ast.Call) and facts.names(node.func, scope).only == "triton.Config":
            yield node


def _summed_along(kernel: ast.FunctionDef) -> set[str]:
    """Names that are the step of an accumulating loop, or the length of the range that the kernel reduces."""
    # Where blocks have several dimensions, the length of a range says nothing.
    called = [node for node in ast.walk(kernel) if isinstance(node, ast.Call)]
    words = {last_word(call.func) for call in called}
    read = [node for node in ast.walk(kernel) if isinstance(node, ast.Subscript)]
    is_flat = words.isdisjoint(_FOLDING) and not any(is_literal_none(part) for one in read for part in index_parts(one))
    ranges = [call for call in called if last_word(call.func) == "arange"] if is_flat and words & _SUMS else []
    found = {name for call in ranges for name in names_in(call)}
    for node in ast.walk(kernel):
        if isinstance(node, ast.For) and isinstance(node.iter, ast.Call) and _accumulates(node):
            found.update(names_in(node.iter))
    return found


def _accumulates(loop: ast.For) -> bool:
    """Whether the loop adds to a block that it does not make anew in each turn."""
    made_anew: set[str] = set()
    added_to: set[str] = set()
    for node in (node for statement in loop.body for node in ast.walk(statement)):
        if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add) and isinstance(node.target, ast.Name):
            if not isinstance(node.value, ast.Constant):
                added_to.add(node.target.id)
        elif isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            (added_to if _adds_to(node.value, node.targets[0].id) else made_anew).add(node.targets[0].id)
    # `a_ptrs += BLOCK_K * stride`: the loop moves on, it adds nothing up.
    return any(not any(word in name.lower() for word in _POINTERS) for name in added_to - made_anew)


def _adds_to(value: ast.expr, name: str) -> bool:
    """`total = total + x`, `total = tl.dot(a, b, total)`."""
    is_read = any(isinstance(node, ast.Name) and node.id == name for node in ast.walk(value))
    return is_read and any(
        (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add))
        or (isinstance(node, ast.Call) and last_word(node.func) in _PRODUCTS)
        for node in ast.walk(value)
    )


@check(codes=(_CODE,), triggers=Triggers(calls=WRITERS, assigned=_TUNING, keys=_VARIABLES), judge=judge_operators)
def inductor(visit: Visit) -> Iterator[Finding]:
    """The call or statement that turns the tuning on."""
    assigned = visit.assignment.value if isinstance(visit.node, (ast.Assign, ast.AnnAssign)) else None
    is_on = assigned is not None and visit.value(assigned).constants in ((True,), (1,))
    is_named = is_on and any(_TUNING & visit.names(target).names for target in targets_of(visit.statement))
    if is_named or any("1" in writes(visit, name) for name in _VARIABLES):
        values = {"spelling": spelling_of(visit), "name": "torch.compile", "unread": ""}
        yield Finding(_CODE, visit.node, values, operators=(OperatorUse("inductor_compile"),))
