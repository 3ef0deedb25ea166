"""The networks of monai, in the plane or in space, as their constructors ask."""

from __future__ import annotations

import functools
import importlib
import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import nn

from tests.models.stand_ins import importable_torchaudio, importable_torchvision
from tests.models.subjects import Subject, ramp

_SIDE, _CHANNELS = 32, 1
_ARGUMENTS: dict[str, Any] = {
    "attn_layers_depth": 2,
    "attn_layers_dim": 16,
    "attn_layers_heads": 2,
    "channels": (8, 16, 32),
    "classes": 2,
    "depth": 2,
    "extract_levels": (0, 1),
    "final_conv_channels": (16, 16),
    "hidden_channels": (16, 16),
    "in_channels": _CHANNELS,
    "kernel_size": (3, 3, 3),
    "label_nc": 2,
    "latent_size": 4,
    "max_seq_len": 32,
    "num_channel_initial": 8,
    "num_classes": 2,
    "num_d": 2,
    "num_layers_d": 2,
    "num_tokens": 32,
    "out_channels": 2,
    "out_shape": (1,),
    "patch_size": 16,
    "spatial_dims": 3,
    "strides": (2, 2, 2),
    "unet_out_channels": 16,
    "upsample_kernel_size": (2, 2),
}
"""What constructors are given, by the names of parameters without a default."""
_OTHER: dict[str, dict[str, Any]] = {
    "AttentionUnet": {"strides": (2, 2)},
    "DynUNet": {"strides": (1, 2, 2)},
    "EfficientNetBN": {"model_name": "efficientnet-b0"},
    "EfficientNetBNFeatures": {"model_name": "efficientnet-b0"},
    "FlexUNet": {"backbone": "resnet18", "spatial_dims": 3},
    "FlexibleUNet": {"backbone": "resnet18", "spatial_dims": 3},
    "MultiScalePatchDiscriminator": {"channels": 8},
    "PatchDiscriminator": {"channels": 8},
    "UNet": {"strides": (2, 2)},
    "Unet": {"strides": (2, 2)},
    "VoxelMorphUNet": {"channels": (16, 32, 32, 32), "in_channels": 2},
}
"""Where the same names stand for something else."""
_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
_SKIPPED = ("NetAdapter", "TorchVisionFCModel")
"""Classes that hold whatever network they are given."""
_BUILDERS = re.compile(r"resnet\d+")
"""Functions that make a network."""
_SIZES = ((3, _SIDE), (2, _SIDE), (3, 96), (2, 256))
"""Dimensions and sizes of images that networks may take, the likeliest first."""


def subjects() -> Iterator[Subject]:
    importable_torchvision()
    importable_torchaudio()
    nets: Any = importlib.import_module("monai.networks.nets")
    kinds: dict[Callable[..., nn.Module], list[str]] = {}
    for name in sorted(dir(nets)):
        kind = getattr(nets, name)
        is_class = inspect.isclass(kind) and issubclass(kind, nn.Module) and name not in _SKIPPED
        if is_class or _BUILDERS.fullmatch(name):
            kinds.setdefault(kind, []).append(f"monai.networks.nets.{name}")
    for kind, calls in kinds.items():
        make = functools.partial(_made, kind)
        first, *others = (Subject((), make, functools.partial(_run, rank=rank, side=side)) for rank, side in _SIZES)
        yield Subject(tuple(calls), make, first.run, otherwise=tuple(others))


def _made(kind: Callable[..., nn.Module]) -> nn.Module:
    name = getattr(kind, "__name__", "")
    given = {**_ARGUMENTS, "img_size": (_SIDE,) * 3, "image_size": (_SIDE,) * 3, "in_shape": (_CHANNELS, *(_SIDE,) * 3)}
    parameters = inspect.signature(kind).parameters
    needed = [one.name for one in parameters.values() if one.default is one.empty and one.kind in _NAMED]
    if any(one.kind is one.VAR_KEYWORD for one in parameters.values()):
        needed += [one for one in ("spatial_dims", "in_channels") if "resnet" not in name]
    without_weights = {"pretrained": False} if "pretrained" in parameters else {}
    return kind(**{one: given[one] for one in needed if one in given} | without_weights | _OTHER.get(name, {}))


def _run(model: nn.Module, *, rank: int, side: int) -> object:
    names = [one.name for one in _needed(model)]
    channels = _channels_of(model) // (2 if "moving" in names else 1)  # of a pair of images
    image = ramp(2, channels, *(side,) * rank, like=model)
    times = torch.ones(2, dtype=torch.long, device=image.device)
    return model(*(times if name == "timesteps" else image for name in names))


def _needed(model: nn.Module) -> Iterator[inspect.Parameter]:
    for parameter in inspect.signature(model.forward).parameters.values():
        if parameter.default is parameter.empty and parameter.kind is parameter.POSITIONAL_OR_KEYWORD:
            yield parameter


def _channels_of(model: nn.Module) -> int:
    """Of the first layer that reads the image."""
    layers = (layer for layer in model.modules() if isinstance(layer, (nn.Conv1d, nn.Conv2d, nn.Conv3d)))
    return next((layer.in_channels for layer in layers), _CHANNELS)
