"""The models of torchaudio."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import nn

from tests.models.stand_ins import importable_torchaudio
from tests.models.subjects import Subject, ramp

_SECOND = 16_000
_BATCH = 2

_ARGUMENTS: dict[str, dict[str, Any]] = {
    "Conformer": {
        "input_dim": 16,
        "num_heads": 2,
        "ffn_dim": 32,
        "num_layers": 2,
        "depthwise_conv_kernel_size": 3,
    },
    "DeepSpeech": {"n_feature": 16},
    "Emformer": {"input_dim": 16, "num_heads": 2, "ffn_dim": 32, "num_layers": 2, "segment_length": 4},
    "HDemucs": {"sources": ["drums", "rest"]},
    "Tacotron2": {},
    "WaveRNN": {"upsample_scales": [4, 4, 4], "n_classes": 8, "hop_length": 64},
    "emformer_rnnt_base": {"num_symbols": 16},
    "hdemucs_high": {"sources": ["drums", "rest"]},
    "hdemucs_low": {"sources": ["drums", "rest"]},
    "hdemucs_medium": {"sources": ["drums", "rest"]},
}
"""What builders need beside their defaults."""


def subjects() -> Iterator[Subject]:
    importable_torchaudio()
    models: Any = importlib.import_module("torchaudio.models")
    for name in sorted(models.__all__):
        run = _RUNS.get(name, _heard)
        make = functools.partial(_made, getattr(models, name), _ARGUMENTS.get(name, {}))
        yield Subject((f"torchaudio.models.{name}",), make, run)


def _made(builder: Callable[..., nn.Module], arguments: dict[str, Any]) -> nn.Module:
    made = builder(**arguments)
    if not isinstance(made, nn.Module):
        raise TypeError("it is no network")
    return made


def _heard(model: nn.Module) -> object:
    return model(ramp(_BATCH, _SECOND, like=model))


def _in_channels(model: nn.Module) -> object:
    return model(ramp(_BATCH, 1, _SECOND, like=model))


def _in_stereo(model: nn.Module) -> object:
    return model(ramp(1, 2, _SECOND, like=model))


def _described(model: nn.Module) -> object:
    return model(ramp(_BATCH, 1, 20, 16, like=model))


def _in_frames(model: nn.Module) -> object:
    return model(ramp(_BATCH, 20, 16, like=model), _lengths(model, 20))


def _in_segments(model: nn.Module) -> object:
    return model(ramp(_BATCH, 16, 16, like=model), _lengths(model, 16))


def _with_words(model: nn.Module) -> object:
    words = torch.arange(10, device=_device(model)).repeat(_BATCH, 1)
    return model(words, _lengths(model, 10), ramp(_BATCH, 80, 30, like=model), _lengths(model, 30))


def _transcribed(model: nn.Module) -> object:
    words = torch.arange(1, 6, dtype=torch.int32, device=_device(model)).repeat(_BATCH, 1)
    lengths = _lengths(model, 32).int()
    return model(ramp(_BATCH, 36, 80, like=model), lengths, words, _lengths(model, 5).int())[0]


def _generated(model: nn.Module) -> object:
    return model(ramp(_BATCH, 1, 64 * 16, like=model), ramp(_BATCH, 1, 128, 20, like=model))


def _guessed(model: nn.Module) -> object:
    labels = torch.arange(_BATCH * 49, device=_device(model)).reshape(_BATCH, 49)
    return model(ramp(_BATCH, _SECOND, like=model), labels, _lengths(model, _SECOND))


def _compared(model: nn.Module) -> object:
    sound = ramp(_BATCH, _SECOND, like=model)
    return model(sound, sound)


def _device(model: nn.Module) -> torch.device:
    return next(model.parameters()).device


def _lengths(model: nn.Module, length: int) -> torch.Tensor:
    return torch.full((_BATCH,), length, device=_device(model))


_RUNS: dict[str, Callable[[nn.Module], object]] = {
    "Conformer": _in_frames,
    "ConvTasNet": _in_channels,
    "DeepSpeech": _described,
    "Emformer": _in_segments,
    "HDemucs": _in_stereo,
    "Tacotron2": _with_words,
    "Wav2Letter": _in_channels,
    "WaveRNN": _generated,
    "conv_tasnet_base": _in_channels,
    "emformer_rnnt_base": _transcribed,
    "hdemucs_high": _in_stereo,
    "hdemucs_low": _in_stereo,
    "hdemucs_medium": _in_stereo,
    "hubert_pretrain_base": _guessed,
    "hubert_pretrain_large": _guessed,
    "hubert_pretrain_xlarge": _guessed,
    "squim_subjective_base": _compared,
}
"""How models are run that do not take a row of sounds."""
