"""The kinds of values that torchlint tells apart, and which of them a type annotation names."""

from __future__ import annotations

import ast
import enum
from typing import TYPE_CHECKING, Literal

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


_SEQUENCES = frozenset(
    f"{home}.{name}"
    for home, names in {
        "builtins": ("list",),
        "typing": ("List", "Sequence", "Iterable", "Iterator", "Collection"),
        "collections.abc": ("Sequence", "Iterable", "Iterator", "Collection"),
    }.items()
    for name in names
)
_MAPPINGS = frozenset(
    f"{home}.{name}"
    for home, names in {
        "builtins": ("dict",),
        "typing": ("Dict", "Mapping", "MutableMapping", "OrderedDict"),
        "collections": ("OrderedDict",),
        "collections.abc": ("Mapping", "MutableMapping"),
    }.items()
    for name in names
)
_TUPLES = frozenset({"builtins.tuple", "typing.Tuple"})

Part = int | Literal["whole", "any", "each"]
"""What of a value is meant: itself, what stands at one position, at some position or key, or what a loop gives."""


def kind_of_annotation(facts: FileFacts, annotation: ast.expr, scope: int, depth: int = 4) -> Kind:
    """What an annotation says, also as a string, optional, or of jaxtyping; UNKNOWN where its options differ."""
    if depth == 0:
        return Kind.UNKNOWN
    annotation = _unquoted(annotation)
    options = _options(facts, annotation, scope)
    if options is not None:
        return _agreed({kind_of_annotation(facts, option, scope, depth - 1) for option in options})
    if isinstance(annotation, ast.Subscript):
        annotation = annotation.value
    found = facts.names(annotation, scope).only
    if found in facts.resolver.table.facts.tensor_annotations:
        return Kind.TENSOR
    return _ANNOTATIONS.get(found or "", Kind.UNKNOWN)


def kind_of_annotated_part(facts: FileFacts, annotation: ast.expr, scope: int, part: Part, depth: int = 4) -> Kind:
    """What an annotation says of a part: `list[Tensor]`, `tuple[Tensor, int]`, `dict[str, Tensor]`."""
    if depth == 0 or part == "whole":
        return kind_of_annotation(facts, annotation, scope, depth)
    annotation = _unquoted(annotation)
    options = _options(facts, annotation, scope)
    if options is not None:
        return _agreed({kind_of_annotated_part(facts, option, scope, part, depth - 1) for option in options})
    whole = kind_of_annotation(facts, annotation, scope, depth)
    if whole in (Kind.TENSOR, Kind.NDARRAY, Kind.TEXT) or not isinstance(annotation, ast.Subscript):
        return whole if whole in (Kind.TENSOR, Kind.NDARRAY, Kind.TEXT) else Kind.UNKNOWN
    name, inner = facts.names(annotation.value, scope).only, annotation.slice
    if name in _SEQUENCES:
        return kind_of_annotation(facts, inner, scope, depth - 1)
    if name in _MAPPINGS and part != "each" and isinstance(inner, ast.Tuple) and len(inner.elts) == 2:
        return kind_of_annotation(facts, inner.elts[1], scope, depth - 1)
    if name in _TUPLES:
        chosen = _of_tuple(inner.elts if isinstance(inner, ast.Tuple) else [inner], part)
        return _agreed({kind_of_annotation(facts, element, scope, depth - 1) for element in chosen})
    return Kind.UNKNOWN


def _of_tuple(elements: list[ast.expr], part: Part) -> list[ast.expr]:
    if elements and isinstance(elements[-1], ast.Constant) and elements[-1].value is Ellipsis:
        return elements[:1]
    if not isinstance(part, int):
        return elements
    return [elements[part]] if -len(elements) <= part < len(elements) else []


def _agreed(kinds: set[Kind]) -> Kind:
    return kinds.pop() if len(kinds) == 1 else Kind.UNKNOWN


def _unquoted(annotation: ast.expr) -> ast.expr:
    """The annotation that a string holds; one that cannot be read stays."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        try:
            return ast.parse(annotation.value, mode="eval").body
        except (SyntaxError, ValueError):
            return annotation
    return annotation


def _options(facts: FileFacts, annotation: ast.expr, scope: int) -> list[ast.expr] | None:
    """The types but None that `Tensor | None`, `Optional[Tensor]` or `Float[Tensor, "b"]` allow; None for others."""
    if isinstance(annotation, ast.BinOp) and isinstance(annotation.op, ast.BitOr):
        options = [annotation.left, annotation.right]
    elif isinstance(annotation, ast.Subscript):
        inner = annotation.slice
        name = facts.names(annotation.value, scope).only or ""
        if name.startswith("jaxtyping.") and isinstance(inner, ast.Tuple) and inner.elts:
            return [inner.elts[0]]
        if name not in ("typing.Optional", "typing.Union", "typing.Annotated"):
            return None
        options = list(inner.elts) if isinstance(inner, ast.Tuple) else [inner]
        options = options[:1] if name == "typing.Annotated" else options
    else:
        return None
    return [option for option in options if not (isinstance(option, ast.Constant) and option.value is None)]
