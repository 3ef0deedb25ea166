"""Changes of a model's parameters: of a bias and nothing else, of all the rest of a layer, of nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from torch import nn

from torchlint.recording.comparison.differences import difference

Change = Callable[[nn.Module], None]


def add_to_biases(sizes: Mapping[str, float], strength: float) -> Change:
    """Move the bias of each layer by a multiple of the size that is given for it."""

    def change(model: nn.Module) -> None:
        for name, size in sizes.items():
            bias = bias_of(model.get_submodule(name))
            bias.add_(strength * size * _signed(bias))

    return change


def change_other_parameters(layers: tuple[str, ...]) -> Change:
    """Move all parameters of the layers but their biases, by about their own size."""

    def change(model: nn.Module) -> None:
        for name in layers:
            for parameter in other_parameters(model.get_submodule(name)):
                parameter.add_((difference(parameter, parameter).largest or 1.0) * _signed(parameter))

    return change


def no_change(_model: nn.Module) -> None:
    """No change: what two runs of the same give."""


def _signed(like: torch.Tensor) -> torch.Tensor:
    """Numbers of both signs between a half and one and a half, and the same ones in every process."""
    generator = torch.Generator().manual_seed(like.numel())
    sign = torch.randint(0, 2, like.shape, generator=generator).double() * 2 - 1
    sizes = torch.rand(like.shape, generator=generator, dtype=torch.float64) + 0.5
    return (sign * sizes).to(like)


def bias_of(module: nn.Module) -> nn.Parameter:
    bias = module.bias
    assert isinstance(bias, nn.Parameter), "only layers with a bias are looked at"
    return bias


def other_parameters(module: nn.Module) -> list[nn.Parameter]:
    return [parameter for parameter in module.parameters() if parameter is not module.bias]
