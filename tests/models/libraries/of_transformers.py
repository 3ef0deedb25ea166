"""All models of transformers, as their own configurations describe them; nothing is fetched."""

from __future__ import annotations

import collections
import dataclasses
import functools
import importlib
import inspect
import itertools
import pkgutil
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import torch
from torch import nn

from tests.models.inputs import CHOICES, inputs_of
from tests.models.stand_ins import importable_torchaudio, importable_torchvision
from tests.models.subjects import Subject
from torchlint.recording.building.shrinking import shrink

_NARROWER = (16, 4, 1)
_DEPTHS = (2, 4, 8)
"""How many layers a small model has: the fewest that bring every kind of layer of the whole one."""
_MOST = 300_000_000
"""Parameters of a model that is run on the CPU."""
_SKIPPED = re.compile(r"Timm(Wrapper|Backbone)|Pre[tT]rained(Model|\w+coder|Reader)$")
"""Classes that hold whatever their configuration names."""
_CHECKPOINT = re.compile(r"\[([\w.-]+/)?([\w.-]+)\]\(https://huggingface\.co/(?:\1)?\2/?\)")


def subjects() -> Iterator[Subject]:
    importable_torchvision()
    importable_torchaudio()
    library: Any = importlib.import_module("transformers")
    library.logging.set_verbosity_error()
    classes = {kind.__name__: kind for kind in _classes(library)}
    families = _families(library, classes)
    for name, kind in sorted(classes.items()):
        call = f"transformers.{name}"
        first, *others = _ways(kind)
        family = families.get(name, "")
        yield dataclasses.replace(first, calls=(call,), model=family, measured=call, otherwise=tuple(others))


def _ways(kind: Any) -> Iterator[Subject]:  # noqa: ANN401 - a class of the library
    """Each input by which it may run, the likeliest first; that one also for the whole model."""
    for choice in range(CHOICES):
        run = functools.partial(_run, choice=choice)
        yield Subject((), functools.partial(_small, kind), run)
        if choice == 0:
            yield Subject((), functools.partial(_whole, kind), run)


def _classes(library: Any) -> Iterator[Any]:  # noqa: ANN401 - the library, and classes of it
    """Public classes of models that their own configuration is enough to build."""
    for folder in pkgutil.iter_modules(library.models.__path__, "transformers.models."):
        for module in pkgutil.iter_modules(importlib.import_module(folder.name).__path__, f"{folder.name}."):
            if ".modeling_" in module.name:
                names = getattr(importlib.import_module(module.name), "__all__", ())
                found = (getattr(library, name, None) for name in names if not _SKIPPED.search(name))
                yield from (one for one in found if inspect.isclass(one) and _is_model(library, one))


def _is_model(library: Any, kind: type) -> bool:  # noqa: ANN401 - the library
    return issubclass(kind, library.PreTrainedModel) and getattr(kind, "config_class", None) is not None


def _families(library: Any, classes: Iterable[str]) -> dict[str, str]:  # noqa: ANN401 - the library
    """The beginning of the names of the checkpoints that a base model is loaded from, by its name."""
    auto = importlib.import_module("transformers.models.auto.modeling_auto")
    documented: dict[str, set[str]] = collections.defaultdict(set)
    for kind, configuration in library.CONFIG_MAPPING.items():
        for _, checkpoint in _CHECKPOINT.findall(inspect.getdoc(configuration) or ""):
            named = documented[checkpoint.lower()]
            named |= {kind} if _letters(kind) in _letters(checkpoint) else set()
    found: dict[str, str] = {}
    for checkpoint, kinds in sorted(documented.items()):
        for kind in kinds if len(kinds) == 1 else ():
            base = auto.MODEL_MAPPING_NAMES.get(kind)
            if base in classes and _letters(base.removesuffix("Model")) == _letters(kind):
                found.setdefault(base, _family(checkpoint, kind, documented))
    return found


def _family(checkpoint: str, kind: str, documented: Mapping[str, set[str]]) -> str:
    """The first words that name this kind, and no other: `bert-` of `bert-base-uncased`; none where there are none."""
    for end in (*(found.end() for found in re.finditer("-", checkpoint)), len(checkpoint)):
        beginning = checkpoint[:end]
        others = (found for name, found in documented.items() if name.startswith(beginning))
        if _letters(kind) in _letters(beginning) and all(found == {kind} for found in others):
            return beginning
    return ""


def _letters(name: str) -> str:
    return re.sub(r"[-_.]", "", name.lower())


def _whole(kind: Any) -> nn.Module:  # noqa: ANN401 - a class of the library
    if torch.get_default_device().type != "meta":
        raise LookupError("too large for this machine")
    return _built(kind, kind.config_class())


def _small(kind: Any) -> nn.Module:  # noqa: ANN401 - a class of the library
    """With few layers; where tensors hold values, narrow as well."""
    whole = _without_values(kind, kind.config_class())
    is_empty = torch.get_default_device().type == "meta"
    for depth, narrower in itertools.product(_DEPTHS, _NARROWER[-1:] if is_empty else _NARROWER):
        configuration = _configured(kind.config_class(), depth, narrower)
        try:
            small = _without_values(kind, configuration)
        except (RuntimeError, TypeError, ValueError):  # widths that do not go together
            continue
        if _kinds(whole) <= _kinds(small) and (is_empty or _size(small) < _MOST):
            return small if is_empty else _built(kind, configuration)
    raise LookupError("no small model has all kinds of layers of the whole one")


def _built(kind: Any, configuration: Any) -> nn.Module:  # noqa: ANN401 - of the library
    model: nn.Module = kind(configuration)
    return model


def _without_values(kind: Any, configuration: Any) -> nn.Module:  # noqa: ANN401 - of the library
    with torch.device("meta"):
        return _built(kind, configuration)


def _size(model: nn.Module) -> int:
    return sum(one.numel() for one in model.parameters())


def _kinds(model: nn.Module) -> set[str]:
    return {type(layer).__qualname__ for layer in model.modules()}


def _configured(configuration: Any, depth: int, narrower: int) -> Any:  # noqa: ANN401 - an object of the library
    """Narrow, and with few layers, of which none is left out at random."""
    parts = [getattr(configuration, name, None) for name in configuration.sub_configs]
    depths = [(one, getattr(one, "num_hidden_layers", None)) for one in (configuration, *parts)]
    shrink(configuration, narrower)
    for one, layers in depths:
        if type(layers) is int:
            one.num_hidden_layers = min(layers, depth)
        for name in ("layerdrop", "encoder_layerdrop", "decoder_layerdrop"):
            if hasattr(one, name):
                setattr(one, name, 0.0)
    vocabulary = configuration.get_text_config().vocab_size if hasattr(configuration, "image_token_id") else 0
    if vocabulary and configuration.image_token_id >= vocabulary:  # by default some have no word for an image
        configuration.image_token_id = vocabulary - 1
    return configuration


def _run(model: Any, *, choice: int) -> object:  # noqa: ANN401 - a model of the library
    if getattr(model.config, "pad_token_id", None) is None:  # those that look for the end of a text ask for it
        model.config.pad_token_id = 0
    return model(**inputs_of(model, choice))
