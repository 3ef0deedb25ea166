"""What kind of value an expression is, as far as its own file shows. UNKNOWN is an honest answer."""

from __future__ import annotations

import ast
import enum
from typing import TYPE_CHECKING

from torchlint.facts.scopes import Binding, BindingKind, ScopeKind

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts


class Kind(enum.Enum):
    TENSOR = "tensor"
    MODULE = "module"
    NDARRAY = "ndarray"
    SET = "set"
    TEXT = "text"
    """str or bytes: what Python salts when it hashes."""
    NUMBER = "number"
    PATH = "path"
    OTHER = "other"
    """Known, and none of these."""
    UNKNOWN = "unknown"


_LITERALS: dict[type, Kind] = {
    str: Kind.TEXT,
    bytes: Kind.TEXT,
    int: Kind.NUMBER,
    float: Kind.NUMBER,
    bool: Kind.NUMBER,
}
_CALLS = {
    "builtins.str": Kind.TEXT,
    "builtins.bytes": Kind.TEXT,
    "builtins.repr": Kind.TEXT,
    "builtins.format": Kind.TEXT,
    "builtins.input": Kind.TEXT,
    "builtins.int": Kind.NUMBER,
    "builtins.float": Kind.NUMBER,
    "builtins.len": Kind.NUMBER,
    "builtins.set": Kind.SET,
    "builtins.frozenset": Kind.SET,
    "builtins.list": Kind.OTHER,
    "builtins.dict": Kind.OTHER,
    "builtins.tuple": Kind.OTHER,
    "builtins.sorted": Kind.OTHER,
    "pathlib.Path": Kind.PATH,
    "pathlib.PosixPath": Kind.PATH,
    "pathlib.Path.cwd": Kind.PATH,
    "pathlib.Path.home": Kind.PATH,
    "json.dumps": Kind.TEXT,
    "os.getcwd": Kind.TEXT,
    "os.path.join": Kind.TEXT,
    "os.path.basename": Kind.TEXT,
    "os.path.dirname": Kind.TEXT,
    "os.path.abspath": Kind.TEXT,
    "socket.gethostname": Kind.TEXT,
}
_TEXT_METHODS = frozenset(
    [
        "format",
        "join",
        "strip",
        "lower",
        "upper",
        "replace",
        "encode",
        "decode",
        "lstrip",
        "rstrip",
        "title",
        "hexdigest",
    ]
)
_PATH_METHODS = frozenset(["expanduser", "resolve", "absolute", "joinpath", "with_suffix", "with_name"])
_SET_METHODS = frozenset(["union", "intersection", "difference", "symmetric_difference", "copy"])
_ATTRIBUTES = {
    (Kind.PATH, "parent"): Kind.PATH,
    (Kind.PATH, "name"): Kind.TEXT,
    (Kind.PATH, "stem"): Kind.TEXT,
    (Kind.PATH, "suffix"): Kind.TEXT,
    (Kind.TENSOR, "T"): Kind.TENSOR,
    (Kind.TENSOR, "grad"): Kind.TENSOR,
    (Kind.TENSOR, "data"): Kind.TENSOR,
}
_ANNOTATIONS = {
    "builtins.str": Kind.TEXT,
    "builtins.bytes": Kind.TEXT,
    "builtins.int": Kind.NUMBER,
    "builtins.float": Kind.NUMBER,
    "builtins.set": Kind.SET,
    "builtins.frozenset": Kind.SET,
    "typing.Set": Kind.SET,
    "typing.FrozenSet": Kind.SET,
    "pathlib.Path": Kind.PATH,
    "numpy.ndarray": Kind.NDARRAY,
    "torch.nn.Module": Kind.MODULE,
}


def kind_of(facts: FileFacts, expression: ast.expr | None, scope: int, depth: int = 10) -> Kind:
    """The kind of `expression` read in `scope`; UNKNOWN unless every way it is bound agrees."""
    if expression is None or depth == 0:
        return Kind.UNKNOWN
    if isinstance(expression, ast.Constant):
        return _LITERALS.get(type(expression.value), Kind.OTHER)
    if type(expression) in _DISPLAYS:
        return _DISPLAYS[type(expression)]
    if isinstance(expression, ast.Name):
        return _of_name(facts, expression.id, scope, depth)
    if isinstance(expression, ast.Call):
        return _of_call(facts, expression, scope, depth)
    if isinstance(expression, ast.BinOp):
        return _of_operation(facts, expression, scope, depth)
    return _of_part(facts, expression, scope, depth)


_DISPLAYS: dict[type[ast.expr], Kind] = {
    ast.JoinedStr: Kind.TEXT,
    ast.Set: Kind.SET,
    ast.SetComp: Kind.SET,
    **dict.fromkeys(
        (ast.List, ast.Dict, ast.Tuple, ast.ListComp, ast.DictComp, ast.GeneratorExp, ast.Lambda), Kind.OTHER
    ),
}


def _of_part(facts: FileFacts, expression: ast.expr, scope: int, depth: int) -> Kind:
    """Expressions whose kind is that of a part of them."""
    if isinstance(expression, ast.IfExp):
        sides = {kind_of(facts, side, scope, depth - 1) for side in (expression.body, expression.orelse)}
        return sides.pop() if len(sides) == 1 else Kind.UNKNOWN
    if isinstance(expression, ast.UnaryOp):
        return kind_of(facts, expression.operand, scope, depth - 1)
    if isinstance(expression, ast.Subscript):
        inner = kind_of(facts, expression.value, scope, depth - 1)
        return inner if inner in (Kind.TENSOR, Kind.NDARRAY, Kind.TEXT) else Kind.UNKNOWN
    if isinstance(expression, ast.Attribute):
        owner = kind_of(facts, expression.value, scope, depth - 1)
        return _ATTRIBUTES.get((owner, expression.attr), Kind.UNKNOWN)
    return Kind.UNKNOWN


def _of_name(facts: FileFacts, name: str, scope: int, depth: int) -> Kind:
    owner = facts.resolver.owner(name, scope)
    if owner is None:
        return Kind.UNKNOWN
    kinds = {_of_binding(facts, binding, owner.index, name, depth) for binding in owner.bindings[name]}
    return kinds.pop() if len(kinds) == 1 else Kind.UNKNOWN


def _of_binding(facts: FileFacts, binding: Binding, owner: int, name: str, depth: int) -> Kind:
    if binding.annotation is not None:
        return _of_annotation(facts, binding.annotation, binding.scope)
    if binding.kind is BindingKind.ASSIGN:
        return kind_of(facts, binding.value, binding.scope, depth - 1)
    if binding.kind is BindingKind.PARAMETER and _is_forward_input(facts, owner, name):
        return Kind.TENSOR
    return Kind.UNKNOWN


def _is_forward_input(facts: FileFacts, scope: int, name: str) -> bool:
    """An undefaulted parameter of `forward` in an `nn.Module`."""
    function = facts.reading.scopes[scope]
    if function.kind is not ScopeKind.FUNCTION or function.name != "forward" or name == "self":
        return False
    return all(binding.value is None for binding in function.bindings[name]) and is_module_class(facts, function.parent)


def is_module_class(facts: FileFacts, scope: int | None, depth: int = 6) -> bool:
    """Whether a class scope is an `nn.Module`, through classes of the same file."""
    if scope is None or depth == 0 or facts.reading.scopes[scope].kind is not ScopeKind.CLASS:
        return False
    owner = facts.reading.scopes[scope]
    bases: list[ast.expr] = owner.node.bases  # type: ignore[attr-defined]
    for base in bases:
        for name in facts.names(base, owner.parent or 0).names:
            if name in ("torch.nn.Module", "lightning.pytorch.LightningModule"):
                return True
            path, _, qualname = name.partition("::")
            own = next((s.index for s in facts.reading.scopes if s.qualname == qualname), None)
            if path == facts.path and own != scope and is_module_class(facts, own, depth - 1):
                return True
    return False


def _of_annotation(facts: FileFacts, annotation: ast.expr, scope: int) -> Kind:
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        try:
            annotation = ast.parse(annotation.value, mode="eval").body
        except (SyntaxError, ValueError):
            return Kind.UNKNOWN
    if isinstance(annotation, ast.Subscript):
        annotation = annotation.value
    found = facts.names(annotation, scope).only
    if found in facts.resolver.table.facts.tensor_annotations:
        return Kind.TENSOR
    return _ANNOTATIONS.get(found or "", Kind.UNKNOWN)


def _of_operation(facts: FileFacts, expression: ast.BinOp, scope: int, depth: int) -> Kind:
    left, right = (kind_of(facts, e, scope, depth - 1) for e in (expression.left, expression.right))
    for kind in (Kind.TENSOR, Kind.NDARRAY):
        if kind in (left, right):
            return kind
    if isinstance(expression.op, ast.Div) and left is Kind.PATH:
        return Kind.PATH
    if isinstance(expression.op, ast.Mod | ast.Mult) and left is Kind.TEXT:
        return Kind.TEXT
    if left is Kind.SET and isinstance(expression.op, ast.BitOr | ast.BitAnd | ast.Sub | ast.BitXor):
        return Kind.SET
    return left if left is right else Kind.UNKNOWN


def _of_call(facts: FileFacts, call: ast.Call, scope: int, depth: int) -> Kind:
    name = facts.names(call.func, scope).only
    if name is not None:
        if name in _CALLS:
            return _CALLS[name]
        if name in facts.resolver.table.facts.tensor_functions:
            return Kind.TENSOR
        if name.startswith("torch.nn.") and name.rpartition(".")[2][:1].isupper() and "()" not in name:
            return Kind.MODULE
        if name.startswith("numpy.") and "()" not in name:
            return Kind.NDARRAY
    if isinstance(call.func, ast.Attribute):
        receiver = kind_of(facts, call.func.value, scope, depth - 1)
        return _of_method(call.func.attr, receiver)
    return Kind.UNKNOWN


def _of_method(method: str, receiver: Kind) -> Kind:
    if receiver is Kind.TENSOR:
        return {"numpy": Kind.NDARRAY, "item": Kind.NUMBER, "tolist": Kind.OTHER, "size": Kind.OTHER}.get(
            method, receiver
        )
    if receiver is Kind.TEXT:
        return Kind.TEXT if method in _TEXT_METHODS else Kind.UNKNOWN
    if receiver is Kind.PATH:
        return Kind.PATH if method in _PATH_METHODS else Kind.UNKNOWN
    if receiver is Kind.SET:
        return Kind.SET if method in _SET_METHODS else Kind.UNKNOWN
    return Kind.UNKNOWN
