"""The models of diffusers, as their constructors build them when nothing is given."""

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

_BATCH, _WORDS, _SIDE, _FRAMES = 2, 16, 32, 9
_LATENTS: tuple[Callable[[int], tuple[int, ...]], ...] = (
    lambda channels: (_BATCH, channels, _SIDE, _SIDE),
    lambda channels: (_BATCH, channels, _FRAMES, _SIDE, _SIDE),
    lambda channels: (_BATCH, _FRAMES, channels, _SIDE, _SIDE),
    lambda channels: (_BATCH, _SIDE * _SIDE, channels),
    lambda channels: (_BATCH, channels, 64 * _SIDE * _SIDE),
)
"""Shapes of images, films, rows of patches and sounds."""
_TEXTS = ("caption_channels", "joint_attention_dim", "cross_attention_dim", "text_embed_dim", "text_dim")
_CHANNELS = ("in_channels", "num_channels", "encoder_in_channels", "audio_channels")
"""What configurations call the width of a text, and of an image."""
_ARGUMENTS = {"UNet1DModel": {"extra_in_channels": 16}}
"""What a constructor needs beside its defaults."""
_SKIPPED = re.compile(r"Multi\w+Model$")
"""Classes that hold whatever models they are given."""


def subjects() -> Iterator[Subject]:
    importable_torchvision()
    importable_torchaudio()
    library: Any = importlib.import_module("diffusers")
    library.logging.set_verbosity_error()
    for name in sorted(dir(library)):
        kind = getattr(library, name, None)
        if inspect.isclass(kind) and issubclass(kind, library.ModelMixin) and not _SKIPPED.search(name):
            make = functools.partial(_without_values, kind)
            ways = [Subject((), make, functools.partial(_run, choice=place)) for place in range(len(_LATENTS))]
            yield Subject((f"diffusers.{name}",), make, ways[0].run, otherwise=tuple(ways[1:]))


def _without_values(kind: Any) -> nn.Module:  # noqa: ANN401 - a class of the library
    """Too large for the memory of most machines."""
    if torch.get_default_device().type != "meta":
        raise LookupError("too large for this machine")
    model: nn.Module = kind(**_ARGUMENTS.get(kind.__name__, {}))
    return model


def _run(model: Any, *, choice: int) -> object:  # noqa: ANN401 - a model of the library
    known = _inputs(model, _LATENTS[choice])
    given: dict[str, torch.Tensor] = {}
    for name, parameter in inspect.signature(model.forward).parameters.items():
        value = known[name]() if name in known else None
        if value is not None:
            given[name] = value
        elif parameter.default is parameter.empty and parameter.kind is not parameter.VAR_KEYWORD:
            raise LookupError(f"no input for {name}")
    return model(**given)


def _inputs(model: Any, latents: Callable[[int], tuple[int, ...]]) -> dict[str, Callable[[], torch.Tensor | None]]:  # noqa: ANN401 - a model of the library
    """What parameters of `forward` are given; None where the configuration has no use for it."""
    sizes = {name: value for name, value in model.config.items() if type(value) is int}
    device = next(model.parameters()).device
    channels = next((sizes[name] for name in _CHANNELS if name in sizes), 3)
    text = next((sizes[name] for name in _TEXTS if name in sizes), None)
    axes = len(model.config.get("axes_dims_rope") or range(3))
    shape = latents(channels)
    patches = shape[1] if len(shape) == 3 else _SIDE * _SIDE
    first = functools.partial(ramp, *shape, like=model)

    def row_of(size: int | None) -> Callable[[], torch.Tensor | None]:
        return lambda: ramp(_BATCH, size, like=model) if size is not None else None

    return {
        "class_labels": lambda: torch.ones(_BATCH, dtype=torch.long, device=device) if _is_labelled(model) else None,
        "controlnet_cond": lambda: ramp(_BATCH, 3, 8 * _SIDE, 8 * _SIDE, like=model),
        "encoder_attention_mask": lambda: torch.ones(_BATCH, _WORDS, device=device),
        "encoder_hidden_states": lambda: ramp(_BATCH, _WORDS, text, like=model) if text is not None else None,
        "guidance": lambda: ramp(_BATCH, like=model) if model.config.get("guidance_embeds") else None,
        "hidden_states": first,
        "img_ids": lambda: torch.zeros(patches, axes, device=device),
        "pooled_projections": row_of(sizes.get("pooled_projection_dim")),
        "sample": first,
        "timestep": lambda: torch.ones(_BATCH, dtype=torch.long, device=device),
        "txt_ids": lambda: torch.zeros(_WORDS, axes, device=device),
        "x": first,
    }


def _is_labelled(model: Any) -> bool:  # noqa: ANN401 - a model of the library
    return bool(model.config.get("norm_type") == "ada_norm_zero")
