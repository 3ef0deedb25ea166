"""What each module of a model gives in one forward pass, and each parameter's gradient: to compare part by part."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn

from torchlint.recording.global_state.randomness import generator_states
from torchlint.recording.originals import Judging
from torchlint.recording.subject import Subject
from torchlint.recording.tensors import float_tensors

_MOST_ELEMENTS = 2**23
"""Kept in all of one run; what comes later is compared by the outputs only."""


@dataclass(frozen=True)
class ModuleValues:
    """By place: the first result of each module, the outputs, and the gradients."""

    results: dict[str, torch.Tensor]
    gradients: dict[str, torch.Tensor]
    draws: bool
    """Whether random numbers were drawn."""


def module_values(subject: Subject) -> ModuleValues:
    """Run a fresh copy, forward and backward."""
    copied = subject.fresh()
    kept: dict[str, torch.Tensor] = {}
    hooks = [module.register_forward_hook(_keep(name, kept)) for name, module in copied.named_modules() if name]
    before = generator_states()
    outputs = copied.forward()
    for hook in hooks:
        hook.remove()
    results = {**kept, **{f"output{place}": tensor.cpu() for place, tensor in float_tensors(outputs).items()}}
    passed = copied.passed(outputs, has_backward=copied.backward(outputs))
    gradients = {f"gradient of {name}": gradient.detach().cpu() for name, gradient in passed.gradients.items()}
    return ModuleValues(results, gradients, draws=before != generator_states())


def _keep(name: str, kept: dict[str, torch.Tensor]) -> Callable[[nn.Module, object, object], None]:
    called = False

    def hook(_module: nn.Module, _inputs: object, output: object) -> None:
        nonlocal called
        if called:
            return
        called = True
        with Judging():
            for place, tensor in float_tensors(output).items():
                if tensor.numel() + sum(known.numel() for known in kept.values()) <= _MOST_ELEMENTS:
                    kept[f"{name}{place}"] = tensor.cpu()

    return hook
