"""The parameters of what a spelling names, from Python's signature or, for builtins, from the operator's schemas."""

from __future__ import annotations

import importlib
import inspect
from dataclasses import dataclass
from typing import Any

from torchlint.catalogue.registry import Spelling

NOT_LOADED_BY_TORCH = (
    "torch.nn.attention.flex_attention",
    "torch.nn.attention.varlen",
    "torch.distributed.fsdp",
    "torch.distributed.nn",
    "torch.masked",
)
EMPTY = inspect.Parameter.empty
RECEIVERS = ("self", "input")


@dataclass(frozen=True)
class Parameter:
    """`position` is None for a keyword-only one."""

    name: str
    position: int | None
    default: object = EMPTY


def resolve(name: str) -> Any:  # noqa: ANN401 - whatever the library has there
    """Walk from the top-level module along attributes, as user code does."""
    for module in NOT_LOADED_BY_TORCH:
        if name.startswith(f"{module}."):
            importlib.import_module(module)
    top, *parts = name.split(".")
    found = importlib.import_module(top)
    for part in parts:
        found = getattr(found, part)
    return found


def target(spelling: Spelling) -> Any:  # noqa: ANN401 - a function or class of torch
    if spelling.subscript:
        return resolve("torch.Tensor.__getitem__" if spelling.subscript == "read" else "torch.Tensor.__setitem__")
    if spelling.call.endswith("()"):  # an instance that is called
        return resolve(f"{spelling.call.removesuffix('()')}.forward")
    return resolve(spelling.call or f"torch.Tensor.{spelling.method}")


def signatures(spelling: Spelling) -> list[list[Parameter]]:
    """Every signature there is; the receiver of a method left out. Empty where torch tells none."""
    found = target(spelling)
    short = (spelling.call or spelling.method).rpartition(".")[2]
    # `F.max_pool3d` dispatches on `return_indices`; the variant with indices tells the parameters.
    for candidate in (found, getattr(resolve("torch.nn.functional"), f"{short}_with_indices", None)):
        own = _of_python(candidate)
        if own is not None:
            return [own]
    if inspect.isclass(found):
        inherited = _of_python(found.__mro__[1])
        return [inherited] if inherited is not None else []
    return _of_schemas(short, is_method=bool(spelling.method))


def _of_python(function: object) -> list[Parameter] | None:
    if function is None or not callable(function):
        return None
    try:
        parameters = [p for p in inspect.signature(function).parameters.values() if p.name != "self"]
    except (ValueError, TypeError):
        return None
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return None
    return [
        Parameter(p.name, None if p.kind is p.KEYWORD_ONLY else position, p.default)
        for position, p in enumerate(parameters)
    ]


def _of_schemas(short: str, *, is_method: bool) -> list[list[Parameter]]:
    aten = resolve("torch.ops.aten")
    packet = getattr(aten, short, None) or getattr(aten, f"{short}_", None)
    found = []
    for overload in packet.overloads() if packet else ():
        arguments = list(getattr(packet, overload)._schema.arguments)
        if is_method:
            arguments = [argument for argument in arguments if argument.name not in RECEIVERS]
        found.append(
            [
                Parameter(
                    "input" if argument.name == "self" else argument.name,
                    None if argument.kwarg_only else position,
                    argument.default_value if argument.has_default_value() else EMPTY,
                )
                for position, argument in enumerate(arguments)
            ]
        )
    return found
