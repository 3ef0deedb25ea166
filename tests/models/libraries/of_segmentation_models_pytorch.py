"""The architectures of segmentation_models_pytorch, each on a ResNet-18."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Iterator
from typing import Any

from torch import nn

from tests.models.stand_ins import importable_torchvision
from tests.models.subjects import Subject, ramp


def subjects() -> Iterator[Subject]:
    importable_torchvision()
    library: Any = importlib.import_module("segmentation_models_pytorch")
    for short, kind in sorted(library.MODEL_ARCHITECTURES_MAPPING.items()):
        encoder = "tu-vit_tiny_patch16_224" if short == "dpt" else "resnet18"
        make = functools.partial(kind, encoder, encoder_weights=None)
        calls = (f"segmentation_models_pytorch.{kind.__name__}",)
        yield Subject(calls, make, _run, model=short, measured=f"{short} on {encoder}")


def _run(model: nn.Module) -> object:
    return model(ramp(2, 3, 224, 224, like=model))
