"""The rules as shipped: none is missing, and every word that a user reads is there and can be filled."""

from __future__ import annotations

import ast
import string
from collections.abc import Iterator

import pytest

from torchlint.catalogue import Catalogue, Rule, load_catalogue

NUMBERS = (
    *(1, 2),
    *(*range(101, 114), *range(115, 121)),
    *range(201, 214),
    *range(301, 315),
    *range(401, 406),
    *range(501, 505),
    *range(601, 608),
)
CODES = [f"TL{number:03}" for number in NUMBERS]
BUILT_NUMBERS = (
    1,
    2,
    *range(101, 114),
    *range(115, 121),
    *range(201, 214),
    *(301, 302, 303, 304),
    *range(401, 404),
    501,
    504,
    601,
)
BUILT = [f"TL{number:03}" for number in BUILT_NUMBERS]
OFF_BY_DEFAULT = {"TL107", "TL120", "TL208", "TL212", "TL313", "TL504", "TL604", "TL605", "TL606"}
ERRORS = {"TL001", "TL201", "TL202", "TL203", "TL204", "TL205", "TL206", "TL502", "TL603"}
NOTES = {"TL117", "TL120", "TL208", "TL210", "TL212", "TL213", "TL313", "TL503", "TL504", "TL604", "TL605", "TL606"}

PATTERN_NAMES = {"spelling", "name", "torch", "value"}
REGISTRY_NAMES = {
    *("spelling", "name", "devices", "direction", "what_varies", "hint", "torch", "value", "place", "older"),
    *("advice", "Advice"),
}
CHECK_NAMES: dict[str, set[str]] = {
    "TL001": {"reason"},
    "TL002": {"selectors"},
    "TL117": {"keys"},
    "TL118": {"spelling", "name", "older"},
    "TL119": {"spelling", "view"},
    "TL203": {"name", "namespace", "nearest", "older"},
    "TL204": {"torch"},
    "TL205": {"value"},
    "TL206": {"matmul"},
    "TL207": {"spelling"},
    "TL211": {"magic"},
    "TL208": {"spelling"},
    "TL209": {"spelling"},
    "TL210": set(),
    "TL213": {"trainer", "argument"},
    "TL301": {"missing", "seeded", "cures", "drawn"},
    "TL302": {"setter", "source"},
    "TL303": {"made", "drawn"},
    "TL304": {"spelling", "generator", "argument"},
    "TL401": {"call", "use"},
    "TL402": {"what", "use"},
    "TL403": {"argument", "use"},
    "TL502": {"spelling", "reading"},
    "TL601": {"layer", "norm"},
    "TL603": {"function", "scaler", "optimizer"},
    "TL604": {"spelling", "new"},
    "TL605": {"spelling"},
    "TL606": {"loader"},
}
REGISTRY_VARIANTS = {"default", "raises", "raises_on", "alternative", "silent", "warn_only_raises"}
LONGEST_MESSAGE = 160
ENOUGH = 20
"""Findings read, below which a share says nothing."""
FILLED = {
    "spelling": "nn.Conv2d(padding_mode='replicate')",
    "devices": "CUDA and XPU",
    "direction": "backward",
    "torch": "torch 2.13",
    "place": "train.py:14",
    "older": "on torch <= 2.8",
    "namespace": "torch.backends.cuda.matmul",
    "name": "allow_tf32",
    "what_varies": "its backward pass varies",
    "hint": "",
    "advice": "make the indices unique",
    "Advice": "Make the indices unique",
    "nearest": "deterministic",
    "setter": "torch.manual_seed",
    "source": "time.time_ns",
    "call": "os.listdir",
    "use": "the class ids",
    "what": "the set `vocabulary`",
    "argument": "path.name",
    "layer": "nn.Conv2d",
    "norm": "nn.BatchNorm2d",
    "view": "signal.unfold(0, 4, 2)",
    "reading": "host.mean()",
    "loader": "torch.utils.data.DataLoader",
    "new": '`torch.amp.autocast` with "cuda"',
    "function": "torch.nn.utils.clip_grad_norm_",
    "scaler": "self.scaler",
    "optimizer": "self.optimizer",
