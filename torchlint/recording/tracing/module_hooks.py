"""Hooks of all modules, as each release of torch has them."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from typing import Any

from torch import nn
from torch.nn.modules.module import register_module_forward_hook
from torch.utils.hooks import RemovableHandle

Leave = Callable[[nn.Module, Any, Any, Any], None]


def on_leaving(leave: Leave) -> RemovableHandle:
    """`leave(module, args, kwargs, outputs)` after the forward of every module."""
    if "with_kwargs" in inspect.signature(register_module_forward_hook).parameters:
        return register_module_forward_hook(leave, with_kwargs=True)

    def without_keywords(module: nn.Module, args: Any, outputs: Any) -> None:  # noqa: ANN401 - whatever a module takes
        # Before torch 2.6 nobody hands them on; they are at hand in the function that calls the hooks.
        leave(module, args, sys._getframe(1).f_locals["kwargs"], outputs)  # noqa: SLF001

    return register_module_forward_hook(without_keywords)
