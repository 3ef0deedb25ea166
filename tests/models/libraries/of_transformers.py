"""The architectures of transformers for which a small configuration runs."""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Iterator
from typing import Any

import torch
from torch import nn

from tests.models.stand_ins import importable_torchvision
from tests.models.subjects import Subject, ramp

_SHRUNK = {
    **dict.fromkeys(("hidden_size", "d_model", "n_embd", "dim", "embed_dim", "embedding_size", "d_kv"), 32),
    **dict.fromkeys(("intermediate_size", "d_ff", "ffn_dim", "encoder_ffn_dim", "decoder_ffn_dim", "hidden_dim"), 64),
    **dict.fromkeys(("num_hidden_layers", "num_layers", "n_layer", "n_layers", "encoder_layers", "decoder_layers"), 2),
    **dict.fromkeys(("num_attention_heads", "num_heads", "n_head", "n_heads"), 4),
    **dict.fromkeys(("encoder_attention_heads", "decoder_attention_heads", "num_key_value_heads"), 4),
    **dict.fromkeys(("num_decoder_layers", "num_encoder_layers"), 2),
    "vocab_size": 128,
    "max_position_embeddings": 64,
    "head_dim": 8,
    "image_size": 64,
    "patch_size": 16,
    "pad_token_id": 0,
}
"""What a configuration that has such a field gets."""
_LENGTH = 8


def subjects() -> Iterator[Subject]:
    """One subject for each class that `AutoModel` knows."""
    importable_torchvision()
    auto: Any = importlib.import_module("transformers.models.auto.modeling_auto")
    kinds: Any = importlib.import_module("transformers.models.auto.configuration_auto").CONFIG_MAPPING
    library: Any = importlib.import_module("transformers")
    done = set[str]()
    for architecture, names in sorted(auto.MODEL_MAPPING_NAMES.items()):
        name = names if isinstance(names, str) else names[0]
        if name not in done and hasattr(library, name):
            done.add(name)
            make = functools.partial(_make, kinds[architecture], getattr(library, name))
            yield Subject((f"transformers.{name}",), make, _run, needs_values=True)


def _make(kind: Any, model: Any) -> nn.Module:  # noqa: ANN401 - whatever the library has
    known = inspect.signature(kind.__init__).parameters
    aliases = getattr(kind, "attribute_map", {})
    fields = {field: value for field, value in _SHRUNK.items() if field in known and field not in aliases}
    made: nn.Module = model(kind(**fields))
    return made


def _run(model: Any) -> object:  # noqa: ANN401 - whatever the library has
    """The main input alone: one image, sound or text."""
    name, size = model.main_input_name, getattr(model.config, "image_size", 64)
    given: dict[str, torch.Tensor] = {}
    if name == "pixel_values":
        given[name] = ramp(2, getattr(model.config, "num_channels", 3), size, size, like=model)
    elif name == "input_values":
        given[name] = ramp(2, 4000, like=model)
    else:
        given[name] = torch.arange(2 * _LENGTH).reshape(2, _LENGTH) + 1
    if model.config.is_encoder_decoder and name == "input_ids":
        given["decoder_input_ids"] = given[name]
    return model(**given)
