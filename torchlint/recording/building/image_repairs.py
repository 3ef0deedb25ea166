"""Other images: larger, smaller, of the size that a layer behind them wants."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

from torchlint.recording.building.inputs import Inputs
from torchlint.recording.building.plans import Plan, Tensor, changed, exchanging, imaged, tensors_of

_LARGEST_IMAGE = 256
_IMAGE_SIZES = (28, 64, 33, 224, 16, 128, 8, 84, 112, 48, 96, 299)
_VOLUME_SIZES = (32, 24, 8, 48, 64)
_NEAREST = 4


def by_features(text: str, plan: Plan) -> Iterator[dict[str, Any]]:
    """A layer behind a flattened image says how many features it wants: that is decided by the size of the image."""
    found = re.search(r"cannot be multiplied \(\d+x(\d+) and (\d+)x\d+\)", text)
    image = next((tensor for _, tensor in tensors_of(plan) if len(tensor.sizes) == 4), None)
    if found and image is not None:
        wanted = image.sizes[-1] * math.sqrt(int(found[2]) / int(found[1]))
        nearest = sorted({*_IMAGE_SIZES, round(wanted)}, key=lambda size: abs(size - wanted))
        yield from (changed(plan, imaged(size)) for size in nearest[:_NEAREST] if 0 < size <= _LARGEST_IMAGE)


def larger(_text: str, plan: Plan, _inputs: Inputs) -> Iterator[dict[str, Any]]:
    """Images twice and four times as large."""
    yield changed(plan, _twice)
    yield changed(changed(plan, _twice), _twice)


def _twice(tensor: Tensor) -> Tensor:
    return tensor.resized(*tensor.sizes[:2], *(min(2 * s, max(s, _LARGEST_IMAGE)) for s in tensor.sizes[2:]))


def halved(tensor: Tensor) -> Tensor:
    return tensor.resized(*tensor.sizes[:2], *(size if size < 16 else size // 2 for size in tensor.sizes[2:]))


def other_image(_text: str, plan: Plan, _inputs: Inputs) -> Iterator[dict[str, Any]]:
    """A flattened image has as many features as its size makes it have."""
    volumes = any(len(tensor.sizes) > 4 for _, tensor in tensors_of(plan))
    for size in _VOLUME_SIZES if volumes else _IMAGE_SIZES:
        yield changed(plan, imaged(size))
        if volumes:
            yield changed(plan, imaged(size, kept=3))  # a video has its own number of frames


def larger_batch(_text: str, plan: Plan, inputs: Inputs) -> Iterator[dict[str, Any]]:
    yield changed(changed(plan, exchanging(2, 4, 0)), exchanging(1, 4, 0))
    yield from larger("", plan, inputs)
