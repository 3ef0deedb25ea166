"""How many dimensions torch's layers and functions take and return: tables, checked against torch by a test.

What is listed here returns as many dimensions as it is given.
"""

from __future__ import annotations

from torchlint.facts.values import Values

_ANY_MODE = frozenset({3, 4, 5})
_OF_MODE = {
    "linear": frozenset({3}),
    "bilinear": frozenset({4}),
    "bicubic": frozenset({4}),
    "trilinear": frozenset({5}),
}
"""What `interpolate` takes in modes for lines, planes or volumes; others take three to five dimensions."""


def in_modes(modes: Values) -> frozenset[int]:
    """The numbers of dimensions that interpolation takes in any of these modes."""
    taken = (_OF_MODE.get(str(mode), _ANY_MODE) for mode in modes.constants)
    return frozenset().union(*taken) if modes.is_known else _ANY_MODE


def _by_size(*kinds: str) -> dict[str, frozenset[int]]:
    """Names that end in `1d`, `2d` and `3d`: a batch, or a single sample without one."""
    return {f"{kind}{n}d": frozenset({n + 1, n + 2}) for kind in kinds for n in (1, 2, 3)}


FUNCTIONS = {
    **_by_size("conv", "conv_transpose", "max_pool", "avg_pool"),
    "grid_sample": frozenset({4, 5}),
    "upsample_bilinear": _OF_MODE["bilinear"],
    "upsample_nearest": _ANY_MODE,
}
"""Functions of `torch.nn.functional` that take nothing but so many dimensions."""

LAYERS = {
    **_by_size("Conv", "ConvTranspose", "LazyConv", "LazyConvTranspose", "MaxPool", "AvgPool", "InstanceNorm"),
    "BatchNorm1d": frozenset({2, 3}),
    "BatchNorm2d": frozenset({4}),
    "BatchNorm3d": frozenset({5}),
    "UpsamplingBilinear2d": _OF_MODE["bilinear"],
    "UpsamplingNearest2d": _ANY_MODE,
}
"""Layers of `torch.nn` that take nothing but so many dimensions."""

KEEPING = frozenset(
    """
    Identity Linear Dropout Dropout1d Dropout2d Dropout3d AlphaDropout GroupNorm LayerNorm RMSNorm LocalResponseNorm
    ReLU ReLU6 LeakyReLU PReLU RReLU ELU CELU SELU GELU SiLU Mish Sigmoid Tanh Hardtanh Hardswish Hardsigmoid Softplus
    Softsign LogSigmoid Softmax LogSoftmax Softmax2d PixelShuffle PixelUnshuffle
    """.split()  # noqa: SIM905 - one name a line would be a page
)
"""Layers of `torch.nn` that take several numbers of dimensions, and leave them as they are."""
