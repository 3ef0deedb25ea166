"""A clean module: how it is made, and what it is run on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import nn

Build = Callable[[], nn.Module]
Inputs = Callable[[], tuple[Any, ...]]
Table = dict[str, tuple[Build, Inputs]]
