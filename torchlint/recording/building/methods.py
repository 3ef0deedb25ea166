"""A method of a module as what is run, and what those of TorchScript take."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from typing import Any

from torch import nn


class MethodOf(nn.Module):
    """A method of a module as a module of its own: each run copies the module with it."""

    def __init__(self, module: nn.Module, method: str) -> None:
        super().__init__()
        self.module = module
        self.forward: Callable[..., Any] = getattr(module, method)
        self._method = method

    def __deepcopy__(self, memo: dict[int, Any]) -> MethodOf:
        return MethodOf(copy.deepcopy(self.module, memo), self._method)


def has_forward(module: nn.Module) -> bool:
    is_own = getattr(module.forward, "__func__", None) is not nn.Module.forward
    return is_own or type(module).__call__ is not nn.Module.__call__


def methods_with_inputs(module: nn.Module) -> list[str]:
    """The methods that its own classes define and that take something: what is called where there is no forward."""
    classes = type(module).__mro__[: type(module).__mro__.index(nn.Module)]
    defined = dict.fromkeys(name for cls in classes for name, value in vars(cls).items() if inspect.isfunction(value))
    return [
        name
        for name in defined
        if not name.startswith("_") and name != "forward" and _takes_inputs(getattr(module, name))
    ]


def _takes_inputs(method: Callable[..., Any]) -> bool:
    return any(each.default is each.empty for each in inspect.signature(method).parameters.values())


def signature_of_script(called: Any) -> inspect.Signature:  # noqa: ANN401 - a function or method of TorchScript
    kind, empty = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.empty
    taken = [each for each in called.schema.arguments if each.name != "self"]
    of = [(each, each.default_value if each.has_default_value() else empty) for each in taken]
    return inspect.Signature(
        [inspect.Parameter(each.name, kind, default=value, annotation=each.type.annotation_str) for each, value in of]
    )
