"""Which kind of value a type annotation names."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

from torchlint.catalogue.load import load_values
from torchlint.catalogue.values import Kind
from torchlint.facts.tensors.kind_tables import of_class
from torchlint.facts.tree import is_ellipsis, is_literal_none

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts


INDEXED = (Kind.TENSOR, Kind.NDARRAY, Kind.TEXT)
"""Their parts are of the same kind."""
Part = int | Literal["whole", "any", "each"]
"""What of a value is meant: itself, what stands at one position, at some position or key, or what a loop gives."""


def kind_of_annotation(
    facts: FileFacts, annotation: ast.expr, scope: int, part: Part = "whole", depth: int = 4
) -> Kind:
    """What an annotation says of a value or a part of it, also as a string, optional, or of jaxtyping.

    UNKNOWN where its options differ.
    """
    if depth <= 0:
        return Kind.UNKNOWN
    annotation = _unquoted(annotation)
    options = _options(facts, annotation, scope)
    if options is not None:
        return agreed(kind_of_annotation(facts, option, scope, part, depth - 1) for option in options)
    held = annotation.slice if isinstance(annotation, ast.Subscript) else None
    name = facts.names(annotation.value if isinstance(annotation, ast.Subscript) else annotation, scope).only
    whole = of_class(name)
    if part == "whole" or whole in INDEXED or held is None:
        return whole if part == "whole" or whole in INDEXED else Kind.UNKNOWN
    chosen = _held_at(held, name, part)
    return agreed(kind_of_annotation(facts, element, scope, depth=depth - 1) for element in chosen)


def _held_at(held: ast.expr, holder: str | None, part: Part) -> list[ast.expr]:
    """The annotations of a part: of `list[Tensor]`, `tuple[Tensor, int]`, `dict[str, Tensor]`."""
    generics = load_values().generics
    if holder in generics.sequences:
        return [held]
    if holder in generics.mappings and part != "each" and isinstance(held, ast.Tuple) and len(held.elts) == 2:
        return [held.elts[1]]
    if holder in generics.tuples:
        return _of_tuple(held.elts if isinstance(held, ast.Tuple) else [held], part)
    return []


def _of_tuple(elements: list[ast.expr], part: Part) -> list[ast.expr]:
    if elements and is_ellipsis(elements[-1]):
        return elements[:1]
    if not isinstance(part, int):
        return elements
    return [elements[part]] if -len(elements) <= part < len(elements) else []


def agreed(kinds: Iterable[Kind]) -> Kind:
    """The one kind that all of these are."""
    found = set(kinds)
    return found.pop() if len(found) == 1 else Kind.UNKNOWN


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
    return [option for option in options if not is_literal_none(option)]
