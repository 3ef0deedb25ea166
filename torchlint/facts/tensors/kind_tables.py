"""What calls, methods, attributes and annotations say of kinds, asked by name of `rules/registry/values.toml`."""

from __future__ import annotations

import ast
import functools
from collections.abc import Mapping

from torchlint.catalogue.load import load_values
from torchlint.catalogue.values import Kind, by_name
from torchlint.facts.tensors.methods import method_named

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


def is_layer(name: str) -> bool:
    """Whether a full name is one of torch's own layers."""
    is_class = name.startswith("torch.nn.") and name.rpartition(".")[2][:1].isupper()
    return is_class and "()" not in name and not name.startswith(("torch.nn.utils.", "torch.nn.attention."))


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
    if name.endswith("()") and is_layer(name[:-2]):  # `nn.BCELoss()(x, y)`
        return Kind.TENSOR if gives_one_tensor(name) else Kind.UNKNOWN
    if is_layer(name):
        return Kind.MODULE
    return Kind.NDARRAY if name.startswith("numpy.") and "()" not in name else Kind.UNKNOWN


def of_method(method: str, receiver: Kind) -> Kind:
    """What a method of this name returns on a value of this kind."""
    if receiver is Kind.TENSOR:
        return _RESULTS.get(method_named(method).results, receiver)
    if receiver is Kind.NDARRAY:
        return Kind.UNKNOWN if method in ("tolist", "item") else Kind.NDARRAY
    return receiver if method in load_values().methods.get(receiver, ()) else Kind.UNKNOWN


def of_attribute(name: str, owner: Kind) -> Kind:
    """What an attribute of this name is on a value of this kind."""
    return load_values().attributes.get(owner, {}).get(name, Kind.UNKNOWN)


def of_class(name: str | None) -> Kind:
    """What an annotation says, by its full name."""
    return _classes().get(name or "", Kind.UNKNOWN)


@functools.cache
def _calls() -> Mapping[str, Kind]:
    return by_name(load_values().calls)


@functools.cache
def _classes() -> Mapping[str, Kind]:
    return by_name(load_values().annotations)
