"""All models of torchvision."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import nn

from tests.models.stand_ins import importable_torchvision
from tests.models.subjects import Subject, ramp

_SIZES = {"optical_flow": 128}
_INCEPTION = 299


def subjects() -> Iterator[Subject]:
    models: Any = importable_torchvision().models
    for name in models.list_models():
        builder = models.get_model_builder(name)
        *_, kind, _ = builder.__module__.split(".")
        public = f"torchvision.models.{builder.__name__}"
        if kind != "models":
            public = f"torchvision.models.{kind}.{builder.__name__}"
        calls = dict.fromkeys((public, f"{builder.__module__}.{builder.__name__}"))
        run = functools.partial(_run, kind=kind, name=name)
        needs_values = kind in ("detection", "quantization")
        yield Subject(tuple(calls), _making(builder, kind), run, name, needs_values=needs_values, measured=name)


def _making(builder: Callable[..., nn.Module], kind: str) -> Callable[[], nn.Module]:
    options: dict[str, Any] = {"weights": None}
    if kind in ("detection", "segmentation"):
        options["weights_backbone"] = None
    if "rcnn" in builder.__name__:
        options |= {"rpn_post_nms_top_n_train": 20, "box_batch_size_per_image": 16}
    if kind == "quantization":
        options["quantize"] = False
    return functools.partial(builder, **options)


def _run(model: nn.Module, *, kind: str, name: str) -> object:
    if kind == "detection":
        return _detect(model)
    size = _SIZES.get(kind, _INCEPTION if "inception" in name else 224)
    if kind == "video":
        return model(ramp(1, 3, 32 if "s3d" in name else 16, size, size, like=model))
    image = ramp(2, 3, size, size, like=model)
    return model(image, image) if kind == "optical_flow" else model(image)


def _detect(model: nn.Module) -> object:
    target: dict[str, torch.Tensor] = {
        "boxes": torch.tensor([[20.0, 20.0, 90.0, 110.0]]),
        "labels": torch.tensor([1]),
        "masks": torch.ones(1, 160, 160, dtype=torch.uint8),
        "keypoints": torch.tensor([[[40.0, 40.0, 1.0]] * 17]),
    }
    transform: Any = model.transform
    transform.min_size, transform.max_size = (160,), 160
    image = ramp(3, 160, 160, like=model)
    return model([image, image], [target, dict(target)])
