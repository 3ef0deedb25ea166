"""What the layers of a module say about its inputs."""

from __future__ import annotations

from collections.abc import Iterator

from torch import nn
from torch.nn.modules import batchnorm, conv
from torch.nn.modules.lazy import LazyModuleMixin
from torch.nn.parameter import UninitializedParameter

from torchlint.recording.building.names import IMAGE, WIDTH
from torchlint.recording.building.plans import Tensor

SEQUENCE = 7
"""Elements of an invented sequence."""
_IMAGES = {1: (IMAGE,), 2: (IMAGE, IMAGE), 3: (16, 16, 16)}
_LOOKED_AT = 4
"""Layers from the first on whose inputs may be the module's own."""


def shapes_for(layer: nn.Module) -> list[Tensor]:
    """Inputs that one layer of torch takes, the likely ones first."""
    if isinstance(layer, LazyModuleMixin):
        return []
    if isinstance(layer, conv._ConvNd) and len(layer.kernel_size) in _IMAGES:  # noqa: SLF001 - of all convolutions
        return [Tensor((2, layer.in_channels, *_IMAGES[len(layer.kernel_size)]))]
    if isinstance(layer, (nn.Embedding, nn.EmbeddingBag)):
        return [Tensor((2, SEQUENCE), "whole", layer.num_embeddings)]
    if isinstance(layer, nn.Linear):
        return [Tensor((2, SEQUENCE, layer.in_features)), Tensor((2, layer.in_features))]
    if isinstance(layer, nn.Bilinear):
        return [Tensor((2, layer.in1_features))]
    if isinstance(layer, nn.RNNBase):
        return [Tensor((2, SEQUENCE, layer.input_size))]
    if isinstance(layer, nn.RNNCellBase):
        return [Tensor((2, layer.input_size))]
    if isinstance(layer, nn.MultiheadAttention):
        return [Tensor((2, SEQUENCE, layer.embed_dim))]
    return _for_norm(layer)


def _for_norm(layer: nn.Module) -> list[Tensor]:
    if isinstance(layer, batchnorm._NormBase):  # noqa: SLF001 - the base of batch and instance norms
        name = type(layer).__name__
        if "1d" in name:
            return [Tensor((2, layer.num_features, SEQUENCE)), Tensor((4, layer.num_features))]
        return [Tensor((2, layer.num_features, *_IMAGES[3 if "3d" in name else 2]))]
    if isinstance(layer, nn.LayerNorm):
        return [Tensor((2, SEQUENCE, *layer.normalized_shape))]
    if isinstance(layer, nn.GroupNorm):
        return [Tensor((2, layer.num_channels, *_IMAGES[2]))]
    return []


def first_shapes(module: nn.Module) -> list[Tensor]:
    """The inputs of the first layers: more often than not the module's own."""
    found: list[Tensor] = []
    layers = [layer for layer in module.modules() if shapes_for(layer)]
    for layer in layers[:_LOOKED_AT]:
        found += _of_its_type(layer, shapes_for(layer))
    if layers and isinstance(layers[0], nn.Linear) and not _has_tokens(module):
        found = [*_of_its_type(layers[0], [Tensor((2, layers[0].in_features))]), *found]
    for sizes in [each.shape for each in _parameters(module) if each.dim() == 2] if not layers else ():
        found += [Tensor((2, size)) for size in reversed(sizes)]
    return list(dict.fromkeys(found))


def _of_its_type(layer: nn.Module, shapes: list[Tensor]) -> list[Tensor]:
    """Complex numbers for a layer whose parameters are."""
    weight = next(iter(layer.parameters(recurse=False)), None)
    is_complex = weight is not None and weight.is_complex()
    return [shape.of("complex") if is_complex and shape.kind == "normal" else shape for shape in shapes]


def _has_tokens(module: nn.Module) -> bool:
    """Whether something in it works along a sequence."""
    kinds = (nn.LayerNorm, nn.MultiheadAttention, nn.RNNBase, nn.Embedding)
    return any(isinstance(layer, kinds) or "ttention" in type(layer).__name__ for layer in module.modules())


def widths(module: nn.Module | None) -> list[int]:
    """Sizes that occur in the parameters, the first ones first: the features of inputs are among them."""
    return list(dict.fromkeys([*_sizes(module), WIDTH, 3, 1])) if module is not None else [WIDTH, 3, 1]


def _sizes(module: nn.Module) -> Iterator[int]:
    for shape in first_shapes(module):
        if shape.kind == "normal":
            yield shape.sizes[1] if len(shape.sizes) > 3 else shape.sizes[-1]
    for parameter in _parameters(module)[:4]:
        yield from (size for size in parameter.shape if 2 < size <= 4096)


def _parameters(module: nn.Module) -> list[nn.Parameter]:
    return [each for each in module.parameters() if not isinstance(each, UninitializedParameter)]
