"""What models of transformers are given, by the parameters of `forward` and the sizes in a configuration."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from tests.models.subjects import ramp
from torchlint.recording.tensors import tensors_in

_WORDS = 16
_BATCH = 2
_SECOND = 16_000
_FIRST = 5
"""The first words of a vocabulary have a meaning, such as the end of a text."""
_VARIANTS: dict[str, tuple[str, ...]] = {
    "channels": ("num_channels", "in_channels", "in_chans", "num_image_channels"),
    "frames": ("num_frames", "frames_per_clip", "num_audio_frames"),
    "image": ("image_size", "img_size", "crop_size", "input_size"),
    "mels": ("num_mel_bins", "input_feat_per_channel", "n_mels", "feature_size", "input_dim"),
    "spectra": ("max_length",),
    "steps": ("context_length",),
}
"""What configurations call the same size."""
_USUAL = {"channels": 3, "frames": 4, "image": 224, "mels": 80, "spectra": 3000, "steps": 64}


class Sizes:
    """Sizes that a configuration names, or its parts."""

    def __init__(self, configuration: Any) -> None:  # noqa: ANN401 - of a class of the library
        parts = (getattr(configuration, name, None) for name in getattr(configuration, "sub_configs", ()))
        self._configurations = [configuration, *(part for part in parts if part is not None)]

    def of(self, kind: str) -> int:
        return self.pair(kind)[-1]

    def pair(self, kind: str) -> tuple[int, int]:
        """Height and width."""
        for configuration in self._configurations:
            for name in _VARIANTS[kind]:
                values = _row(getattr(configuration, name, None))
                sizes = [one for one in values if type(one) is int]
                if sizes and sizes == values:
                    return sizes[0], sizes[-1]
        return _USUAL[kind], _USUAL[kind]


def _row(value: Any) -> list[object]:  # noqa: ANN401 - a number, or several by their names or places
    if isinstance(value, dict):
        return list(value.values())
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _words(model: Any, _: Sizes) -> torch.Tensor:  # noqa: ANN401 - a model of the library
    """Each row ends as a text does."""
    words = torch.arange(_FIRST, _FIRST + _BATCH * _WORDS).reshape(_BATCH, _WORDS)
    end = getattr(model.config, "eos_token_id", None)
    words[:, -1] = end if type(end) is int else words[:, -1]
    return words.to(next(model.parameters()).device)


def _words_of_choices(model: nn.Module, sizes: Sizes) -> torch.Tensor:
    return _words(model, sizes)[:, None].repeat(1, 2, 1)


def _image(model: nn.Module, sizes: Sizes) -> torch.Tensor:
    return ramp(_BATCH, sizes.of("channels"), *sizes.pair("image"), like=model)


def _film(model: nn.Module, sizes: Sizes) -> torch.Tensor:
    return ramp(_BATCH, sizes.of("frames"), sizes.of("channels"), *sizes.pair("image"), like=model)


def _wave(model: nn.Module, _: Sizes) -> torch.Tensor:
    return ramp(_BATCH, _SECOND, like=model)


def _wave_of_a_channel(model: nn.Module, _: Sizes) -> torch.Tensor:
    return ramp(_BATCH, 1, _SECOND, like=model)


def _mels_first(model: nn.Module, sizes: Sizes) -> torch.Tensor:
    return ramp(_BATCH, sizes.of("mels"), sizes.of("spectra"), like=model)


def _mels_last(model: nn.Module, sizes: Sizes) -> torch.Tensor:
    return ramp(_BATCH, sizes.of("spectra"), sizes.of("mels"), like=model)


def _spectrogram(model: nn.Module, sizes: Sizes) -> torch.Tensor:
    return ramp(_BATCH, 1, 1024, sizes.of("mels"), like=model)


def _is_short(model: nn.Module, _: Sizes) -> torch.Tensor:
    return torch.zeros(_BATCH, 1, dtype=torch.bool, device=next(model.parameters()).device)


def _words_of_images(model: Any, sizes: Sizes) -> torch.Tensor:  # noqa: ANN401 - a model of the library
    """As many words that stand for parts of an image as the model makes of it, before a text."""
    token: int = model.config.image_token_id
    made = model.get_image_features(pixel_values=_image(model, sizes))
    features = [tensor for _, tensor in tensors_in(getattr(made, "pooler_output", made))]
    width = model.config.get_text_config().hidden_size
    count = sum(tensor.numel() for tensor in features) // (width * _BATCH)
    words = _words(model, sizes)
    return torch.cat([torch.full((_BATCH, count), token, device=words.device), words], dim=1)


def _boxes(model: nn.Module, _: Sizes) -> torch.Tensor:
    device = next(model.parameters()).device
    return torch.tensor([10, 20, 110, 120], device=device).expand(_BATCH, _WORDS, 4)


def _series(model: nn.Module, sizes: Sizes) -> torch.Tensor:
    return ramp(_BATCH, sizes.of("steps"), like=model)


_INPUTS: dict[str, tuple[Callable[[nn.Module, Sizes], torch.Tensor], ...]] = {
    "bbox": (_boxes,),
    "decoder_input_ids": (_words,),
    "input_features": (_mels_first, _mels_last, _spectrogram),
    "input_ids": (_words, _words_of_choices, _words_of_images),
    "input_values": (_wave, _wave_of_a_channel, _mels_last),
    "is_longer": (_is_short,),
    "past_values": (_series,),
    "pixel_values": (_image, _film, _image),
    "pixel_values_videos": (_film,),
    "qformer_input_ids": (_words,),
}
"""By parameter: what it is given, and what else may go by this name."""
CHOICES = max(map(len, _INPUTS.values()))
_GIVEN = ("bbox", "input_features", "input_ids", "is_longer", "pixel_values")
"""Parameters that are given wherever `forward` has them."""


def inputs_of(model: Any, choice: int) -> dict[str, torch.Tensor]:  # noqa: ANN401 - a model of the library
    """What may be given to a model; the first choice is the likeliest."""
    parameters = inspect.signature(model.forward).parameters
    needed = [name for name, one in parameters.items() if _is_needed(one)]
    names = [name for name in dict.fromkeys((model.main_input_name, *needed, *_GIVEN)) if name in parameters]
    if model.config.is_encoder_decoder and "decoder_input_ids" in parameters:
        names.append("decoder_input_ids")
    unknown = [name for name in names if name not in _INPUTS]
    if unknown or choice >= max((len(_INPUTS[name]) for name in names), default=0):
        raise LookupError(f"no input for {', '.join(unknown) or 'it'}")
    sizes = Sizes(model.config)
    return {name: _INPUTS[name][min(choice, len(_INPUTS[name]) - 1)](model, sizes) for name in names}


def _is_needed(parameter: inspect.Parameter) -> bool:
    return parameter.default is parameter.empty and parameter.kind is not parameter.VAR_KEYWORD
