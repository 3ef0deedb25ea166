"""Calls that make a tensor without initial values: `torch.empty`, its relatives, constructors that are given sizes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from torchlint.catalogue.load import load_values
from torchlint.catalogue.values import Kind
from torchlint.facts.control.conditions import managers_around, tests_around
from torchlint.facts.file import FileFacts
from torchlint.facts.notation import Member, reference
from torchlint.facts.scopes import CallSite
from torchlint.facts.tensors.elements import is_count
from torchlint.facts.tensors.kinds import kind_of
from torchlint.facts.tree import last_word, method_called

MAKERS = frozenset({"torch.empty", "torch.empty_like", "torch.empty_strided", "torch.empty_permuted"})
"""Functions whose result holds whatever the memory held before."""
TYPED = frozenset(name for name in load_values().annotations[Kind.TENSOR] if name.endswith("Tensor"))
"""Constructors that allocate when they are given sizes, and copy when they are given data."""
METHOD_MAKERS = frozenset({"new_empty", "new_empty_strided"})

_SIZED_LAYERS = frozenset(
    f"torch.nn.{name}" for name in ["Linear", "Embedding", "Conv1d", "Conv2d", "Conv3d", "GRU", "LSTM", "RNN"]
)
"""Layers whose first two arguments are numbers."""
_LAID_OUT = ("strided", "permuted")
"""Makers whose first argument alone is the shape."""
_STAND_IN = re.compile(
    r"(?:^|_)(?:fake|meta|abstract|mock|dummy|stub|symbolic|shapes?|bench\w*|warm_?up|profile\w*|flops|latency|throughput|timing)(?:_|$)",
    re.IGNORECASE,
)
"""Functions that only tell the shape of a result, stand-ins for one, and measurements, which any values serve."""
_REGISTERING = re.compile(r"fake|abstract|meta\b|register_kernel|\bimpl\w*\(|custom_op|overload|fixture")
"""Decorators under which nobody reads the values of a result."""
_VALUELESS = re.compile(r"meta\b|fake|init_empty_weights|skip_init|no_init|init_on_device|raises", re.IGNORECASE)
"""Contexts in which tensors have no memory, or errors are expected."""
_ASKS_FOR_EMPTINESS = re.compile(
    r"\b0\b|\bnot\b|\bis None\b|numel|\blen\(|empty|size|shape|meta|fake|is_compiling|is_tracing|dry|idle"
)
"""Tests of branches that handle tensors without elements, values that were not given, or runs without values."""


def makes_uninitialised(facts: FileFacts, site: CallSite) -> bool:
    """Whether a call returns a tensor of evidently more than no elements whose memory nothing has written."""
    call, scope = site.node, site.scope
    devices = (keyword.value for keyword in call.keywords if keyword.arg == "device")
    if not _is_maker(facts, call, scope) or any(_VALUELESS.search(ast.unparse(device)) for device in devices):
        return False
    return not any(0 in facts.value(size, scope).constants for size in _sizes(call))


def _is_maker(facts: FileFacts, call: ast.Call, scope: int) -> bool:
    if any(callee.partial for callee in facts.names(call.func, scope).callees):
        return False  # what the partial fixes, such as a device, is not looked into
    name = facts.names(call.func, scope).only
    if name in MAKERS:
        return not any(keyword.arg == "out" for keyword in call.keywords)
    if name in TYPED:
        return _is_given_sizes(facts, call, scope)
    if not isinstance(call.func, ast.Attribute) or getattr(call.func.value, "id", "") in ("self", "cls"):
        return False  # a class may well have a `new_empty` of its own
    names = facts.names(call.func, scope).names
    if not all(name.startswith("torch.") and isinstance(reference(name), Member) for name in names):
        return False  # a function of some module, or a method of a class of the project
    if call.func.attr in METHOD_MAKERS:
        return facts.imports_torch and kind_of(facts, call.func.value, scope) in (Kind.TENSOR, Kind.UNKNOWN)
    is_new = call.func.attr == "new" and kind_of(facts, call.func.value, scope) is Kind.TENSOR
    return is_new and _is_given_sizes(facts, call, scope)


def _is_given_sizes(facts: FileFacts, call: ast.Call, scope: int) -> bool:
    """Whether a constructor's arguments are sizes, not data: several, or one that is a number or a shape."""
    if any(keyword.arg == "size" for keyword in call.keywords):
        return True
    if len(call.args) > 1:
        return all(isinstance(size, ast.Starred) or not _is_data(size) for size in call.args)
    if not call.args:
        return False
    argument = call.args[0]
    if isinstance(argument, ast.Starred):
        return _tells_shape(argument.value)
    if isinstance(argument, ast.Attribute):  # of an image or a Gym space `shape` and `size` are tuples, hence data
        return argument.attr == "shape" and kind_of(facts, argument.value, scope) is Kind.TENSOR
    return _tells_shape(argument) or _is_whole_number(facts, argument, scope)


def _is_data(argument: ast.expr) -> bool:
    """A display, text or a number with a fraction: no size of a tensor."""
    if isinstance(argument, ast.Constant):
        return not isinstance(argument.value, int)
    return not isinstance(argument, (ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.BinOp))


def _is_whole_number(facts: FileFacts, expression: ast.expr, scope: int) -> bool:
    """Whether an expression is evidently one size; alone, a name may as well be a list."""
    if isinstance(expression, ast.Constant):
        return isinstance(expression.value, int)
    if isinstance(expression, ast.BinOp):
        return all(_is_whole_number(facts, side, scope) for side in (expression.left, expression.right))
    if isinstance(expression, ast.Subscript):
        return _tells_shape(expression.value) and not isinstance(expression.slice, ast.Slice)
    if isinstance(expression, ast.Call):
        return is_count(facts, expression, scope)
    if not isinstance(expression, ast.Name):
        return False
    # What the same function makes a layer of, `nn.Linear(width, 4)`, is a number.
    return kind_of(facts, expression, scope) is Kind.NUMBER or any(
        isinstance(size, ast.Name) and size.id == expression.id
        for site in facts.symbols.calls
        if site.scope == scope and facts.names(site.node.func, scope).only in _SIZED_LAYERS
        for size in site.node.args[:2]
    )


def _tells_shape(expression: ast.expr) -> bool:
    """`x.shape` or `x.size()`."""
    if isinstance(expression, ast.Call) and not expression.args and not expression.keywords:
        return method_called(expression) == "size"
    return isinstance(expression, ast.Attribute) and expression.attr in ("shape", "size")


def _sizes(call: ast.Call) -> Iterator[ast.expr]:
    is_strided = last_word(call.func).endswith(_LAID_OUT)
    named = (keyword.value for keyword in call.keywords if keyword.arg in ("size", "shape"))
    for argument in (*call.args[: 1 if is_strided else None], *named):
        if isinstance(argument, (ast.Tuple, ast.List)):
            yield from argument.elts
        elif isinstance(argument, ast.BinOp):  # `x.shape[:-1] + (0,)`
            yield from (part for node in ast.walk(argument) if isinstance(node, ast.Tuple) for part in node.elts)
        else:
            yield argument


def is_beside_the_point(facts: FileFacts, site: CallSite) -> bool:
    """Whether nobody is to read the values that code makes here: stand-ins, shape functions, branches for emptiness."""
    if _STAND_IN.search(PurePosixPath(facts.path).stem):
        return True
    for index in facts.around(site.scope):
        node = facts.symbols.scopes[index].node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        is_function = not isinstance(node, ast.ClassDef)
        if is_function and (_STAND_IN.search(node.name) or node.name == "__new__"):
            return True
        if any(_REGISTERING.search(ast.unparse(decorator)) for decorator in node.decorator_list):
            return True
    if any(_VALUELESS.search(ast.unparse(manager)) for manager in managers_around(facts, site.statement)):
        return True
    return any(_ASKS_FOR_EMPTINESS.search(ast.unparse(test)) for test in tests_around(facts, site.node))
