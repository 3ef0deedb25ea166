"""What a statement does to the queue of a GPU: it adds work, waits for it, or neither.

torch hands work to CUDA and goes on. What reads a result in Python waits until it is there. Of everything that is not
known here, nobody can say which.
"""

from __future__ import annotations

import ast
import enum
import itertools
from collections.abc import Iterable, Iterator

from torchlint.catalogue.values import Kind
from torchlint.facts.calls import known_functions
from torchlint.facts.classes import is_module_class
from torchlint.facts.definitions import step_back
from torchlint.facts.file import FileFacts
from torchlint.facts.flow.values import Definition
from torchlint.facts.functions import own_scope
from torchlint.facts.grouping import grouped
from torchlint.facts.memoizing import followed
from torchlint.facts.notation import hangs_on_call, maker_of
from torchlint.facts.scopes import CallSite
from torchlint.facts.tensors.devices import Device, is_dtype, is_on_cuda, moved_to
from torchlint.facts.tensors.kind_evidence import shows_tensor
from torchlint.facts.tensors.kinds import kind_of
from torchlint.facts.tensors.methods import methods_that
from torchlint.facts.training.steps import is_optimizer
from torchlint.facts.tree import MethodCall, index_parts, is_method_call, last_word


class Effect(enum.IntEnum):
    NOTHING = 0
    WORK = 1
    """Adds work that evidently runs on CUDA."""
    COPY = 2
    """Copies to the device, which waits for the work before it, or computes a loss in a way that nobody knows."""
    WAIT = 3
    UNKNOWN = 4


_QUIET = frozenset(
    {
        *("builtins.len", "builtins.range", "builtins.enumerate", "builtins.zip", "builtins.isinstance"),
        *("builtins.getattr", "builtins.hasattr", "builtins.list", "builtins.tuple", "builtins.dict", "builtins.super"),
        *("torch.no_grad", "torch.inference_mode", "torch.enable_grad", "torch.set_grad_enabled", "torch.autocast"),
        *("torch.amp.autocast", "torch.cuda.amp.autocast", "torch.is_grad_enabled", "contextlib.nullcontext"),
        *("torch.cuda.is_available", "torch.device", "torch.cuda.nvtx.range_push", "torch.cuda.nvtx.range_pop"),
        *("torch.autograd.no_grad", "torch.is_tensor", "time.time", "time.perf_counter", "time.monotonic"),
    }
)
_QUIET_METHODS = frozenset(
    {"zero_grad", "parameters", "train", "eval", "append", "size", "dim", "numel", "keys", "values", "items"}
)
_VIEWS = frozenset({"view", "reshape", "permute", "transpose", "unsqueeze", "squeeze", "detach", "t", "flatten"})
_WAITING = methods_that(lambda method: bool(method.waits)) | frozenset(
    [
        *("synchronize", "wait", "elapsed_time", "join", "acquire", "get", "query", "record", "load", "save"),
        *("numpy", "from_numpy"),
    ]
)
"""Names of functions and methods that wait for the device, or may."""
_CLONING = frozenset(
    {"float", "int", "bool", "complex", "print", "str", "repr", "format", "min", "max", "sum", "sorted"}
)
_MODELS = frozenset({"model", "net", "network", "ddp_model"})
_LOSSES = frozenset({"criterion", "loss_fn", "loss_func", "loss_function"})


def effects(facts: FileFacts, statement: ast.stmt, before: ast.expr | None = None) -> Iterator[Effect]:
    """What the expressions of one statement do; with `before`, only those that are evaluated before it."""
    expressions = list(_own_expressions(statement))
    if before is not None:  # what stands there, without what it is part of
        around = {id(outer) for outer, _ in facts.index.ancestors(before)}
        first = itertools.takewhile(lambda node: node is not before, expressions)
        expressions = [node for node in first if id(node) not in around]
    asked = {id(expression) for expression in expressions}
    yield from (_of_call(facts, site) for site in facts.cached(_sites).get(statement, ()) if id(site.node) in asked)
    scope = facts.symbols.scope_of[statement]
    for node in expressions:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult) and is_on_cuda(facts, node, scope):
            yield Effect.WORK
        if isinstance(node, (ast.Await, ast.Yield, ast.YieldFrom, ast.Lambda)):
            yield Effect.UNKNOWN
        if isinstance(node, ast.FormattedValue) and not isinstance(node.value, ast.Constant):
            yield Effect.NOTHING if kind_of(facts, node.value, scope) in (Kind.NUMBER, Kind.TEXT) else Effect.WAIT
        if isinstance(node, (ast.Compare, ast.BoolOp, ast.IfExp)) and not _is_plain_test(node):
            yield Effect.WAIT
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
            is_plain = all(isinstance(part, (ast.Constant, ast.Slice, ast.UnaryOp)) for part in index_parts(node))
            yield Effect.NOTHING if is_plain else Effect.WAIT


def _sites(facts: FileFacts) -> dict[ast.stmt, list[CallSite]]:
    return grouped((site.statement, site) for site in facts.symbols.calls)


def _own_expressions(node: ast.AST) -> Iterator[ast.expr]:
    """The expressions of a statement, as written, without those of the statements in it."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            yield child
        if isinstance(child, (ast.expr, ast.withitem, ast.keyword, ast.comprehension)):
            yield from _own_expressions(child)


def _is_plain_test(node: ast.expr) -> bool:
    """Tests of flags and of whether something is None: no tensor is read for them."""
    if isinstance(node, ast.Compare):
        is_identity = all(isinstance(operator, (ast.Is, ast.IsNot, ast.In, ast.NotIn)) for operator in node.ops)
        # What comes round every so many steps is counted, not computed.
        counts = isinstance(node.left, ast.BinOp) and isinstance(node.left.op, ast.Mod)
        texts = (isinstance(one, ast.Constant) and isinstance(one.value, str) for one in node.comparators)
        return is_identity or counts or any(texts)
    parts = node.values if isinstance(node, ast.BoolOp) else [node.test]  # type: ignore[attr-defined]
    return all(isinstance(part, (ast.Name, ast.Attribute, ast.Call, ast.Compare, ast.UnaryOp)) for part in parts)


def _of_call(facts: FileFacts, site: CallSite) -> Effect:
    call, scope = site.node, site.scope
    name = facts.names(call.func, scope).only or ""
    if name in _QUIET:
        return Effect.NOTHING
    last = last_word(call.func)
    if last in _WAITING or last in _CLONING:
        return Effect.WAIT
    if name.startswith("torch.") and not hangs_on_call(name):
        return _of_torch(facts, call, name, scope)
    is_given_cuda = last in _MODELS and any(is_on_cuda(facts, argument, scope) for argument in call.args)
    if is_given_cuda or is_on_cuda(facts, call.func, scope):
        # Work, unless its own code in this file waits, or may.
        names = _made_as(facts, call.func, scope)
        if any("detection" in name or "generat" in name.lower() for name in names):
            return Effect.UNKNOWN
        own = [one for one in (own_scope(facts, name) for name in names) if one is not None]
        is_work = all(is_module_class(facts, one) and not _waits_in(facts, one) for one in own)
        return Effect.WORK if is_work else Effect.UNKNOWN
    if last in _LOSSES:
        return Effect.COPY
    if is_method_call(call):
        return _of_method(facts, call, scope)
    return Effect.NOTHING if kind_of(facts, call.func, scope) is Kind.MODULE else Effect.UNKNOWN


def _of_torch(facts: FileFacts, call: ast.Call, name: str, scope: int) -> Effect:
    if name.startswith(("torch.optim.", "torch.utils.", "torch.cuda.", "torch.distributed.", "torch.profiler")):
        return Effect.UNKNOWN
    if name.startswith("torch.nn.utils.clip_grad") or name == "torch.autograd.backward":
        return Effect.NOTHING
    if name.startswith("torch.linalg.") or kind_of(facts, call, scope) is not Kind.TENSOR:
        return Effect.UNKNOWN
    return Effect.WORK if is_on_cuda(facts, call, scope) else Effect.NOTHING


def _made_as(facts: FileFacts, module: ast.expr, scope: int) -> set[str]:
    """The full names of what the module may be an instance of, or made by."""
    names = set(facts.names(module, scope).names)
    for binding in facts.bindings(module, scope):
        for node in ast.walk(binding.value) if binding.value is not None else ():
            if isinstance(node, ast.Call):
                names |= facts.names(node.func, binding.scope).names
    return {maker_of(name) for name in names}


def _waits_in(facts: FileFacts, owner: int) -> bool:
    waiting = (_WAITING - {"get", "load"}) | {"float", "int", "bool", "print"}
    own = (site for site in facts.symbols.calls if facts.class_of(site.scope) == owner)
    return any(last_word(site.node.func) in waiting for site in own)


def _of_method(facts: FileFacts, call: MethodCall, scope: int) -> Effect:
    function = call.func
    if function.attr in _QUIET_METHODS:
        return Effect.NOTHING
    if function.attr == "cuda":
        return Effect.COPY
    if function.attr == "to":
        # `.to("cuda")` copies to the device, `.to(torch.half)` stays there; any other may lead off it.
        is_dtype_given = bool(call.args) and is_dtype(facts, call.args[0], scope)
        is_copy = Device.CUDA in (moved_to(facts, call, scope) or Device.NONE)
        return Effect.COPY if is_copy else Effect.NOTHING if is_dtype_given else Effect.WAIT
    if function.attr == "backward":
        return Effect.WORK if _comes_from_cuda(facts, function.value, scope) else Effect.NOTHING
    if function.attr == "step":
        is_known = is_optimizer(facts, function.value, scope) or "sched" in last_word(function.value)
        return Effect.NOTHING if is_known and not call.args else Effect.UNKNOWN
    if known_functions(facts, call.func, scope):
        return Effect.UNKNOWN
    if kind_of(facts, function.value, scope) is Kind.TENSOR or shows_tensor(call):
        is_work = is_on_cuda(facts, function.value, scope) and function.attr not in _VIEWS
        return Effect.WORK if is_work else Effect.NOTHING
    return Effect.NOTHING if kind_of(facts, function, scope) is Kind.MODULE else Effect.UNKNOWN


@followed(otherwise=False)
def _comes_from_cuda(facts: FileFacts, loss: ast.expr, scope: int) -> bool:
    """Whether a loss is computed from what a model on CUDA gives."""
    if is_on_cuda(facts, loss, scope):
        return True
    if isinstance(loss, ast.Call):
        return any(_comes_from_cuda(facts, argument, scope) for argument in loss.args)
    if isinstance(loss, (ast.Subscript, ast.Attribute)):
        return _comes_from_cuda(facts, loss.value, scope)
    if isinstance(loss, ast.BinOp):
        return any(_comes_from_cuda(facts, side, scope) for side in (loss.left, loss.right))
    steps = step_back(facts, Definition(loss, scope)) or ()
    return any(isinstance(one, Definition) and _comes_from_cuda(facts, one.node, one.scope) for one in steps)


def strongest(found: Iterable[Effect]) -> Effect:
    return max(found, default=Effect.NOTHING)
