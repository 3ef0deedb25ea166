"""torchvision and torchaudio beside a torch without CUDA: the wheels of package indexes only load with it."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType
from unittest import mock

import torch

_SCHEMAS = {
    "nms": "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "qnms": "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "roi_align": (
        "(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width, "
        "int sampling_ratio, bool aligned) -> Tensor"
    ),
}


def importable_torchvision() -> ModuleType:
    """torchvision, whose missing operators give tensors of the right shape: their layers tell that they are run."""
    try:
        return importlib.import_module("torchvision")
    except RuntimeError as error:
        if "torchvision::nms" not in str(error):
            raise
    for name, schema in _SCHEMAS.items():
        torch.library.define(f"torchvision::{name}", schema)
    torch.library.impl(
        "torchvision::nms", "CPU", lambda boxes, scores, _: scores.argsort(descending=True)[: len(boxes)]
    )
    torch.library.impl("torchvision::roi_align", "CPU", _pooled)
    torch.library.register_autograd("torchvision::roi_align", _of_pooled, setup_context=_keep)
    found = importlib.import_module("torchvision")
    asking = {"extension": "_has_ops", "ops.boxes": "_assert_has_ops", "ops.roi_align": "_assert_has_ops"}
    for module, function in asking.items():
        setattr(importlib.import_module(f"torchvision.{module}"), function, lambda: True)
    return found


def _pooled(image, rois, _scale, height, width, _ratio, _aligned):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    return image.new_zeros(len(rois), image.shape[1], height, width)


def _keep(ctx, inputs, output):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202, ARG001
    ctx.shape = inputs[0].shape


def _of_pooled(ctx, gradient):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    return gradient.new_zeros(ctx.shape), None, None, None, None, None, None


def importable_torchaudio() -> ModuleType:
    """torchaudio, without the operators that it brings compiled: no model of it asks for one."""
    try:
        return importlib.import_module("torchaudio")
    except OSError as error:
        if "Could not load this library" not in str(error):
            raise
    with mock.patch.object(Path, "glob", return_value=()):  # it looks for the file that it loads
        return importlib.import_module("torchaudio")
