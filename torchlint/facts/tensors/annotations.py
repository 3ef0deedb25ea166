"""Which kind of value a type annotation says, or a name of calls, methods and attributes (`values.toml`)."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable, Mapping
from typing import Literal

from torchlint.catalogue.load import load_values
from torchlint.catalogue.values import Kind, by_name
from torchlint.facts.file import FileFacts
from torchlint.facts.memoizing import followed
from torchlint.facts.notation import hangs_on_call, is_result, maker_of
from torchlint.facts.tensors.methods import method_named
from torchlint.facts.tree import is_ellipsis, is_literal_none

LITERALS: dict[type, Kind] = {
    **dict.fromkeys((str, bytes), Kind.TEXT),
    **dict.fromkeys((int, float, bool), Kind.NUMBER),
}
DISPLAYS: dict[type[ast.expr], Kind] = {
    ast.JoinedStr: Kind.TEXT,
    **dict.fromkeys((ast.Set, ast.SetComp), Kind.SET),
    **dict.fromkeys(
        (ast.List, ast.Dict, ast.Tuple, ast.ListComp, ast.DictComp, ast.GeneratorExp, ast.Lambda), Kind.OTHER
    ),
}
_RESULTS = {"number": Kind.NUMBER, "array": Kind.NDARRAY, "other": Kind.OTHER}
INDEXED = (Kind.TENSOR, Kind.NDARRAY, Kind.TEXT)
"""Their parts are of the same kind."""
Part = int | Literal["whole", "any", "each"]
"""What of a value is meant: itself, what stands at one position, at some position or key, or what a loop gives."""


def is_layer(name: str) -> bool:
    """Whether a full name is one of torch's own layers."""
    is_class = name.startswith("torch.nn.") and name.rpartition(".")[2][:1].isupper()
    return is_class and not hangs_on_call(name) and not name.startswith(("torch.nn.utils.", "torch.nn.attention."))


def gives_one_tensor(layer: str) -> bool:
    """Whether a layer returns one tensor when it is called."""
    return not any(word in layer for word in load_values().not_one_tensor)


def of_function(name: str) -> Kind:
    """What a call gives, by the full name of what is called; a layer that is made is a module."""
    if name in _calls():
        return _calls()[name]
    home, _, last = name.rpartition(".")
    is_several = home in ("torch", "torch.linalg") and method_named(last).results in ("parts", "pair", "several")
    if is_several or of_class(name) is Kind.TENSOR:
        return Kind.TENSOR
    if is_result(name) and is_layer(maker_of(name)):  # `nn.BCELoss()(x, y)`
        return Kind.TENSOR if gives_one_tensor(name) else Kind.UNKNOWN
    if is_layer(name):
        return Kind.MODULE
    return Kind.NDARRAY if name.startswith("numpy.") and not hangs_on_call(name) else Kind.UNKNOWN


def of_method(method: str, receiver: Kind) -> Kind:
    """What a method of this name returns on a value of this kind."""
    if receiver is Kind.TENSOR:
        return _RESULTS.get(method_named(method).results, receiver)
    if receiver is Kind.NDARRAY:
        return Kind.UNKNOWN if method in ("tolist", "item") else Kind.NDARRAY
    return receiver if method in load_values().methods.get(receiver, ()) else Kind.UNKNOWN


def of_class(name: str | None) -> Kind:
    """What an annotation says, by its full name."""
    return _classes().get(name or "", Kind.UNKNOWN)


@functools.cache
def _calls() -> Mapping[str, Kind]:
    return by_name(load_values().calls)


@functools.cache
def _classes() -> Mapping[str, Kind]:
    return by_name(load_values().annotations)


@followed(otherwise=Kind.UNKNOWN)
def kind_of_annotation(facts: FileFacts, annotation: ast.expr, scope: int, part: Part = "whole") -> Kind:
    """What an annotation says of a value or a part of it, also as a string, optional, or of jaxtyping.

    UNKNOWN where its options differ.
    """
    annotation = _unquoted(annotation)
    options = _options(facts, annotation, scope)
    if options is not None:
        return agreed(kind_of_annotation(facts, option, scope, part) for option in options)
    held = annotation.slice if isinstance(annotation, ast.Subscript) else None
    name = facts.names(annotation.value if isinstance(annotation, ast.Subscript) else annotation, scope).only
    whole = of_class(name)
    if part == "whole" or whole in INDEXED or held is None:
        return whole if part == "whole" or whole in INDEXED else Kind.UNKNOWN
    chosen = _held_at(held, name, part)
    return agreed(kind_of_annotation(facts, element, scope) for element in chosen)


def _held_at(held: ast.expr, holder: str | None, part: Part) -> list[ast.expr]:
    """The annotations of a part: of `list[Tensor]`, `tuple[Tensor, int]`, `dict[str, Tensor]`."""
    generics = load_values().generics
    if holder in generics.sequences:
        return [held]
    if holder in generics.mappings and part != "each" and isinstance(held, ast.Tuple) and len(held.elts) == 2:
        return [held.elts[1]]
    if holder not in generics.tuples:
        return []
    elements = held.elts if isinstance(held, ast.Tuple) else [held]
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
