"""Invents constructor arguments: from annotations, then from names."""

from __future__ import annotations

import enum
import inspect
import re
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from torchlint.recording.building.invented_objects import InventedModule, Words
from torchlint.recording.building.names import WIDTH
from torchlint.recording.building.scope import CONFIG, InventedConfig, Scope, config_for, texts
from torchlint.recording.building.spaces import space_for

_DEEPEST = 3
"""Modules that take modules that take modules: further than this nothing is invented."""
_LONGEST = 8
_SWITCH = re.compile(r"(use|is|has|with|do|return|enable|allow|add|apply|need)_.*")
_VOCABULARY = re.compile(
    r"(word|token|char|tag|label|vocab)\w*?(_?map|_?dict|(_?to_?|2)i(n?de?)?x?)|vocab(ulary)?|stoi"
)
_UNKNOWN: Any = object()


def signature_of(called: Callable[..., Any]) -> inspect.Signature | None:
    """Of a class its constructor's; one that passes everything on has its base's."""
    if not isinstance(called, type):
        return _signature(called)
    for base in called.__mro__:
        if "__init__" in vars(base) or base is object:
            found = _signature(vars(base).get("__init__"), is_method=True)
            kinds = {parameter.kind for parameter in found.parameters.values()} if found else set()
            if kinds != {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}:
                return found
    return None


def _signature(called: Any, *, is_method: bool = False) -> inspect.Signature | None:  # noqa: ANN401 - any callable
    try:
        found = inspect.signature(called)
    except (TypeError, ValueError):
        return None
    parameters = list(found.parameters.values())
    return found.replace(parameters=parameters[1:]) if is_method else found


def required(signature: inspect.Signature | None) -> list[inspect.Parameter]:
    """Parameters that a call has to give."""
    if signature is None:
        return []
    variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [p for p in signature.parameters.values() if p.default is p.empty and p.kind not in variadic]


def invented(signature: inspect.Signature | None, scope: Scope) -> dict[str, Any]:
    """A value for every required parameter."""
    return {parameter.name: value_of(parameter.name, parameter.annotation, scope) for parameter in required(signature)}


def value_of(name: str, annotation: Any, scope: Scope) -> Any:  # noqa: ANN401 - any annotation, any value
    """By its type, then by what is done with it, then by its name."""
    space = space_for(name.lower(), scope.use(name).attributes)
    value = _of_type(name, resolved(annotation, scope), scope) if space is None else space
    if value is _UNKNOWN:
        value = _by_use(name, scope)
    return _by_name(name, scope) if value is _UNKNOWN else value


def _by_use(name: str, scope: Scope) -> Any:  # noqa: ANN401 - any value
    use, low, option = scope.use(name), name.lower().strip("_"), scope.option(name)
    if use.is_called and not use.is_run:
        if use.wraps:
            return nn.Sequential
        return _class_for(low, nn.Module, scope) if _classes_named(low, scope) else _callable_for(low, scope)
    if use.own_attributes or use.keys:
        if use.is_run:
            return module_for(name, scope)
        is_module = any(attribute in dir(nn.Module) for attribute in use.own_attributes) and not CONFIG.fullmatch(low)
        return layer_for(low, scope) if is_module else config_for(name, scope)
    if use.is_run and not use.compared:
        return module_for(name, scope)
    if isinstance(option, (str, bool)):
        return option
    if use.compared:
        return next((value for value in use.compared if value is not None), _UNKNOWN)
    if use.is_text:
        return texts(low)[0]
    if (use.is_iterated or use.is_indexed) and not CONFIG.fullmatch(low):
        return Words(WIDTH) if _VOCABULARY.fullmatch(low) else [_by_name(low, scope)] * min(use.length, _LONGEST)
    return _UNKNOWN


def resolved(annotation: Any, scope: Scope) -> Any:  # noqa: ANN401 - any annotation
    """Annotations that are text are looked up in the user's file."""
    if annotation is inspect.Parameter.empty:
        return None
    if isinstance(annotation, str):
        try:
            return eval(annotation, {**vars(typing), "Tensor": torch.Tensor, **scope.namespace})  # noqa: S307 - the user's own code
        except Exception:  # noqa: BLE001 - names that exist for type checkers only
            return None
    return annotation


def _of_type(name: str, kind: Any, scope: Scope) -> Any:  # noqa: ANN401 - any annotation, any value
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        return _of_union(name, inner, scope)
    if origin is typing.Literal:
        return inner[0]
    if origin is type:
        return _class_for(name, inner[0], scope)
    if origin in (tuple, list, set, frozenset) or (isinstance(origin, type) and issubclass(origin, Sequence)):
        return _several(name, origin, inner, scope)
    if origin is dict or kind is dict or (isinstance(origin, type) and issubclass(origin, Mapping)):
        return {}
    if origin is not None and not isinstance(kind, type):
        return _callable_for(name, scope) if "Callable" in str(kind) else _UNKNOWN
    return _of_class(name, kind, scope)


def _of_union(name: str, members: Sequence[Any], scope: Scope) -> Any:  # noqa: ANN401 - any value
    others = [member for member in members if member is not type(None)]
    is_optional = len(others) < len(members)
    if is_optional and any(isinstance(member, type) and issubclass(member, nn.Module) for member in others):
        return None
    simple = [member for member in others if member in (int, float, bool)]
    return _of_type(name, (simple or others)[0], scope)


def _several(name: str, origin: Any, inner: Sequence[Any], scope: Scope) -> Any:  # noqa: ANN401 - any value
    if origin is tuple and inner and Ellipsis not in inner:
        return tuple(value_of(name, item, scope) for item in inner)
    item = value_of(name, next((i for i in inner if i is not Ellipsis), None), scope)
    return (item, item) if origin is tuple else [item, item]


def _of_class(name: str, kind: Any, scope: Scope) -> Any:  # noqa: ANN401 - any annotation, any value
    simple: dict[Any, Callable[[], Any]] = {
        bool: lambda: False,
        int: lambda: _whole(scope.number(name)),
        float: lambda: float(scope.number(name)),
        str: lambda: texts(name)[0],
        torch.Tensor: lambda: torch.ones(scope.width),
        torch.dtype: lambda: torch.float32,
        torch.device: lambda: torch.device("cpu"),
        list: lambda: [_by_name(name, scope)] * 2,
        tuple: lambda: (_by_name(name, scope),) * 2,
    }
    if kind in simple:
        return simple[kind]()
    if "Callable" in str(kind):
        return _callable_for(name, scope)
    if not isinstance(kind, type) or kind is object:
        return _UNKNOWN
    if issubclass(kind, enum.Enum):
        return next(iter(kind), None)
    return module_for(name, scope) if kind is nn.Module else _instance(kind, scope)


def _instance(kind: type, scope: Scope) -> Any:  # noqa: ANN401 - any value
    """An object of a class of the user's, with invented arguments of its own."""
    if scope.depth >= _DEEPEST or kind.__module__ in {"builtins", "typing"}:
        return _UNKNOWN
    try:
        return scope.construct(kind, scope.inner())
    except Exception:  # noqa: BLE001 - whatever the class objects to: its name has to do
        return _UNKNOWN


def _whole(value: Any) -> int:  # noqa: ANN401 - a number
    return max(1, int(value)) if value is not False else 0


def _by_name(name: str, scope: Scope) -> Any:  # noqa: ANN401 - any value
    low = name.lower().strip("_")
    if CONFIG.fullmatch(low):
        return config_for(name, scope)
    if low.endswith("device"):
        return torch.device("cpu")
    if re.fullmatch(r"(n|d|num|nb|dim)_(\w+_)?(head|model|layer|block|encoder|decoder|branch)|nhead|nlayer", low):
        return scope.number(low)
    if re.fullmatch(r".*(norm_layer|norm_cls|act_layer|layer_norm|norm|activation|act|act_fn|block|conv_layer)", low):
        return _class_for(low, nn.Module, scope)
    if re.fullmatch(r".*(fn|func|function|callable|factory)", low):
        return _callable_for(low, scope)
    if re.fullmatch(r".*(module|net|network|model|encoder|decoder|backbone|layer|head|branch|body|submodule)", low):
        return layer_for(low, scope)
    if re.fullmatch(r"(mode|name|.*_name|.*_type|type|.*_mode|arch|variant)", low):
        return texts(low)[0]
    return False if _SWITCH.fullmatch(low) else scope.number(low)


def _classes_named(name: str, scope: Scope) -> list[type[nn.Module]]:
    """Modules of the user's file whose names hold the parameter's: `block` may be a `ResidualBlock`."""
    words = [re.sub(r"_?(cls|class|layer|type|s)$", "", name.lower()).replace("_", "") or name.lower()]
    words += ["bottleneck"] if words == ["block"] else []
    classes = [value for value in scope.namespace.values() if isinstance(value, type) and issubclass(value, nn.Module)]
    return [cls for cls in classes if any(word in cls.__name__.lower() for word in words)][:4]


def _functions_named(name: str, scope: Scope) -> list[types.FunctionType]:
    """Functions of the user's file whose names hold the parameter's: `conv` may be a `conv3x3`."""
    word = re.sub(r"_|(layer|cls|class|fn|func)$", "", name)
    functions = [value for value in scope.namespace.values() if inspect.isfunction(value)]
    return [each for each in functions if len(word) > 2 and word in each.__name__.lower().replace("_", "")][:2]


def _class_for(name: str, base: Any, scope: Scope) -> Any:  # noqa: ANN401 - a class
    """A layer class for a parameter that takes one."""
    low = name.lower()
    if isinstance(base, type) and issubclass(base, nn.Module) and base is not nn.Module:
        return base
    if "norm" in low:
        return nn.BatchNorm2d
    if "act" in low or "nonlin" in low:
        return nn.ReLU
    named = _classes_named(low, scope)
    return named[0] if named else nn.Conv2d if "conv" in low else nn.Identity


def _callable_for(name: str, scope: Scope) -> Any:  # noqa: ANN401 - a function or class
    low = name.lower()
    named = _functions_named(low, scope)
    if named:
        return named[0]
    if re.search("norm|layer|block|conv", low):
        return _class_for(low, nn.Module, scope)
    if "init" in low:
        return nn.init.zeros_
    return nn.Identity() if "act" not in low else functional.relu


def callables_for(name: str, scope: Scope) -> list[Any]:
    """Functions, classes and modules for a parameter that is called, the likely first."""
    low = name.lower()
    return [_callable_for(low, scope), *_classes_named(low, scope), layer_for(low, scope), nn.Identity, nn.ReLU]


def layer_for(name: str, scope: Scope) -> nn.Module:
    """A module for a parameter that takes one."""
    low = name.lower()
    if "act" in low or "nonlin" in low:
        return nn.ReLU()
    if "loss" in low or "criterion" in low:
        return nn.MSELoss()
    return nn.Linear(scope.width, scope.width)


def module_for(name: str, scope: Scope) -> nn.Module:
    """A module for a parameter that takes one, with the options that are read of it."""
    layer, use = layer_for(name, scope), scope.use(name)
    is_enough = use.takes < 2 and all(hasattr(layer, each) for each in use.own_attributes)
    return layer if is_enough else InventedModule(scope)


def alternatives(name: str, value: Any, scope: Scope) -> list[Any]:  # noqa: ANN401 - any value
    """What else a parameter may want, the likely first."""
    width = scope.width
    others: list[Any]
    if isinstance(value, InventedConfig):
        return []
    if value is None:
        return [_by_name(name, scope)]
    if isinstance(value, bool):
        return [not value, 1]
    if isinstance(value, int):
        low = name.lower()
        several = [[value] * 4, (value, value), [value] * 2, (value,) * 3, [value]]
        others = [other for other in (1, 2, 4, 3, 8, width, 2 * width, 4 * width, 0) if other != value]
        objects = [texts(low)[0], layer_for(low, scope), nn.ReLU, nn.BatchNorm2d, functional.relu, True, None]
        return several + others + objects if low.endswith("s") else others[:4] + several + others[4:] + objects
    if isinstance(value, float):
        return [0.0, 1.0, 2.0, 1, None, (value, value)]
    if isinstance(value, str):
        return [*texts(name)[1:], 1, None, layer_for(name, scope)]
    if isinstance(value, (list, tuple)) and value:
        return [value[0], list(value[:1]) * 4, tuple(value[:1]) * 3, tuple(value[:1]) * 2, [list(value)] * 2]
    if isinstance(value, nn.Module):
        parts = [_instance(cls, scope) for cls in _classes_named(name, scope) if scope.depth < _DEEPEST]
        others = [nn.Conv2d(width, width, 3, padding=1), nn.Identity(), [value, nn.Identity()], nn.Identity, width]
        return [part for part in parts if part is not _UNKNOWN] + others
    if isinstance(value, type):
        others = [nn.LayerNorm, nn.Conv2d, nn.ReLU(), nn.Identity, partial(nn.GroupNorm, 1), functional.relu, None]
        return [*_classes_named(name, scope), *others, "relu"]
    return [layer_for(name, scope), width, 2, (2, 2), "mean", nn.ReLU]
