"""Inputs of losses that belong together: sequences, their labels and the lengths of both."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import torch

from torchlint.recording.building.plans import Tensor

_STEPS, _LABELS, _BATCH, _CLASSES = 12, 4, 2, 6
_SCORES = re.compile(
    r"(log_?)?prob(abilitie)?s|logits?|preds?|predictions?|outputs?|x|emissions?|scores?", re.IGNORECASE
)
_TARGETS = re.compile(r"(.*_)?(targets?|labels?|y|texts?|tokens?)", re.IGNORECASE)
_LABEL_LENGTHS = re.compile(r"(target|label|y|text|token)s?_?(lengths?|lens?|sizes?)", re.IGNORECASE)
_SCORE_LENGTHS = re.compile(r"(.*_)?(lengths?|lens?|sizes?)", re.IGNORECASE)


def aligned(names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """For parameters that are called as those of CTC are: steps before the batch, and behind it."""
    kinds = {name: _kind(name) for name in names}
    if sorted(kinds.values()) != ["label lengths", "labels", "score lengths", "scores"]:
        return
    for sizes in ((_STEPS, _BATCH, _CLASSES), (_BATCH, _STEPS, _CLASSES)):
        of_kind = {
            "scores": Tensor(sizes),
            "labels": Tensor((_BATCH, _LABELS), "whole", _CLASSES),
            "score lengths": torch.full((_BATCH,), _STEPS),
            "label lengths": torch.full((_BATCH,), _LABELS),
        }
        yield {name: of_kind[kind] for name, kind in kinds.items()}


def _kind(name: str) -> str:
    for pattern, kind in (
        (_LABEL_LENGTHS, "label lengths"),
        (_SCORE_LENGTHS, "score lengths"),
        (_TARGETS, "labels"),
        (_SCORES, "scores"),
    ):
        if pattern.fullmatch(name):
            return kind
    return name
