"""One model of each family of timm, and the layers that programs take out of it."""

from __future__ import annotations

import functools
import importlib
import re
from collections.abc import Iterator
from typing import Any

from torch import nn

from tests.models.stand_ins import importable_torchvision
from tests.models.subjects import Subject, ramp

_SMALL = ("test", "femto", "atto", "pico", "nano", "tiny", "mini", "xxs", "xs", "small", "_s", "b0", "18", "base", "_b")
_LAYERS: dict[str, tuple[tuple[Any, ...], tuple[int, ...]]] = {
    "PatchEmbed": ((32, 8, 3, 16), (2, 3, 32, 32)),
    "Attention": ((16, 4), (2, 8, 16)),
    "Mlp": ((16,), (2, 8, 16)),
    "Block": ((16, 4), (2, 8, 16)),
}
"""Of `timm.models.vision_transformer`: arguments, and the shape of an input."""


def subjects() -> Iterator[Subject]:
    importable_torchvision()
    timm: Any = importlib.import_module("timm")
    families: dict[str, list[str]] = {}
    for name in timm.list_models():
        families.setdefault(family_of(name), []).append(name)
    for family, names in sorted(families.items()):
        chosen = min(names, key=_size)
        yield Subject((), functools.partial(timm.create_model, chosen), _run, model=family, measured=chosen)
    layers: Any = importlib.import_module("timm.models.vision_transformer")
    for name, (arguments, shape) in _LAYERS.items():
        calls = [f"timm.models.vision_transformer.{name}"]
        if hasattr(importlib.import_module("timm.layers"), name):
            calls += [f"timm.layers.{name}", f"timm.models.layers.{name}"]
        make = functools.partial(getattr(layers, name), *arguments)
        yield Subject(tuple(calls), make, functools.partial(_of_layer, shape=shape))


def family_of(name: str) -> str:
    """The words before the first number: `deit_tiny_` of `deit_tiny_patch16_224` gives `deit_`, `resnet18` `resnet`."""
    first, _, rest = name.partition("_")
    word = re.sub(r"\d.*", "", first)
    if word != first or not rest:
        return word
    return f"{first}_{family_of(rest)}" if first in ("tf", "test", "legacy", "gc", "seresnext") else f"{first}_"


def _size(name: str) -> tuple[int, int, str]:
    return next((place for place, word in enumerate(_SMALL) if word in name), len(_SMALL)), len(name), name


def _run(model: Any) -> object:  # noqa: ANN401 - it has the fields of a model of timm
    size = model.default_cfg.get("input_size", (3, 224, 224))
    return model(ramp(2, *size, like=model))


def _of_layer(model: nn.Module, *, shape: tuple[int, ...]) -> object:
    return model(ramp(*shape, like=model).requires_grad_())
