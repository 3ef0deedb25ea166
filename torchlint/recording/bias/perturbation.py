"""Does the value of a bias matter? Change it, and nothing else, and look at everything that comes out.

Three things must hold before a bias is said to have no effect: another value leaves outputs and gradients as they
were, up to rounding; the other parameters of the same layer do matter, so the layer is in use; and two runs without
any change are equal, so the comparison means something.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import torch
from torch import nn

from torchlint.recording.bias.changes import (
    Change,
    add_to_biases,
    bias_of,
    change_other_parameters,
    no_change,
    other_parameters,
)
from torchlint.recording.bias.consumers import consumers
from torchlint.recording.comparison.differences import difference
from torchlint.recording.originals import Judging
from torchlint.recording.runs.precision import PrecisionsSeen
from torchlint.recording.subject import Subject
from torchlint.recording.tensors import float_tensors, tensors_in


@dataclass(frozen=True)
class Limits:
    """What counts as no effect and as one, as shares of the effect of the layer's other parameters."""

    none: float
    some: float
    """Between the two nothing is said."""
    gradient: float
    used: float
    """The least that the outputs must follow the other parameters, as a share of their size."""
    repeated: float
    """The most by which two runs without any change may differ."""
    strengths: tuple[float, ...]
    """Of the change, as multiples of the layer's output."""
    nudge: float
    """A share of the change that moves its rounding, and nothing else that could be seen."""


DOUBLE = Limits(
    none=1e-7, some=1e-3, gradient=1e-7, used=1e-6, repeated=1e-12, strengths=(1.0, -1.0, 10.0), nudge=1e-13
)
SINGLE = Limits(none=1e-3, some=5e-2, gradient=1e-4, used=1e-2, repeated=1e-5, strengths=(1.0, -1.0), nudge=1e-6)
"""For code that insists on float32: its rounding is larger, and grows with the change."""
_ABOVE_NOISE = 100.0


@dataclass(frozen=True)
class Effect:
    """What was seen of one group of layers in one state of the model."""

    matters: bool | None
    """None where it cannot be told."""
    reason: str = ""
    numbers: dict[str, object] = field(default_factory=dict)
    follows: tuple[str, ...] = ()
    """What takes the layers' outputs; sums and pooling are looked through."""
    feeds: tuple[str, ...] = ()
    """What takes them at once."""


_State = Mapping[str, torch.Tensor]


@dataclass(frozen=True)
class _Base:
    """What there is to compare with: the bias as it is."""

    outputs: dict[str, torch.Tensor]
    """Of two passes."""
    state: _State
    """After them."""
    is_repeatable: bool
    coarsest: torch.dtype | None
    """The coarsest type that is computed in."""
    gradients: dict[str, tuple[float, float]]
    """For each layer that one reaches, the largest gradient of its bias and of its other parameters."""
    sizes: dict[str, float]
    """Of each layer's output."""
    follows: tuple[str, ...]
    feeds: tuple[str, ...]


def effect_of_bias(subject: Subject, layers: tuple[str, ...], prepare: Change) -> Effect:
    """What the biases of some layers do together. `prepare` brings a copy of the model into its state."""
    base = _base(subject, layers, prepare)
    limits = DOUBLE if base.coarsest is torch.float64 else SINGLE
    doubt = _doubt_of_run(base)
    if doubt:
        return Effect(None, doubt, follows=base.follows)
    use = _distance(base.outputs, _run_twice(subject, prepare, change_other_parameters(layers))[0])
    if not use >= limits.used:
        return Effect(None, "no result of the layer was seen to reach the outputs", follows=base.follows)
    runs = [_run_twice(subject, prepare, add_to_biases(base.sizes, strength)) for strength in limits.strengths]
    changes = [_distance(base.outputs, outputs) for outputs, _ in runs]
    effect = math.nan if any(map(math.isnan, changes)) else max(changes)
    gradients = [own / other for own, other in base.gradients.values() if other]
    gradient = max(gradients, default=None)
    doubts = _doubts_of_layers(base, layers, runs[0][1])
    matters, reason = _judged(limits, effect / min(use, 1.0), gradient, doubts)
    if matters:
        nudged = _run_twice(subject, prepare, add_to_biases(base.sizes, limits.strengths[0] * (1 + limits.nudge)))
        if not _distance(runs[0][0], nudged[0]) * _ABOVE_NOISE < effect:
            matters, reason = None, "the outputs change, but a change of rounding alone moves them as much"
    numbers = {
        "precision": str(base.coarsest).removeprefix("torch."),
        "bias_change": max(map(abs, limits.strengths)) * max(base.sizes.values()),
        "output_change": effect,
        "output_change_by_weight": use,
        "bias_gradient": max((own for own, _ in base.gradients.values()), default=None),
        "weight_gradient": max((other for _, other in base.gradients.values()), default=None),
        "bias_to_weight_gradient": gradient,
    }
    known = {key: value for key, value in numbers.items() if value is not None}
    return Effect(matters, reason, known, base.follows, base.feeds)


def effect_in_eval(subject: Subject, layers: tuple[str, ...]) -> float:
    """How far the outputs move in eval mode when the biases move by about one."""

    def prepare(model: nn.Module) -> None:
        model.eval()

    plain, _ = _run_twice(subject, prepare, no_change)
    changed, _ = _run_twice(subject, prepare, add_to_biases(dict.fromkeys(layers, 1.0), 1.0))
    return _distance(plain, changed)


def _judged(limits: Limits, effect: float, gradient: float | None, doubts: list[str]) -> tuple[bool | None, str]:
    if not math.isfinite(effect) or not math.isfinite(gradient or 0.0):
        return None, "the run gives NaN, infinity or another shape once the bias changes"
    has_gradient = gradient is not None and gradient > limits.gradient
    if effect >= limits.some and (has_gradient or gradient is None):
        return True, ""
    if effect >= limits.some:
        return None, "another bias changes the outputs, but around its present value it has no gradient"
    if effect > limits.none:
        return None, "the change is neither clearly an effect nor clearly rounding"
    if has_gradient:
        return None, "the outputs do not follow the bias, but it has a gradient"
    return (None, doubts[0]) if doubts else (False, "")


def _base(subject: Subject, layers: tuple[str, ...], prepare: Change) -> _Base:
    outputs, state = _run_twice(subject, prepare, no_change)
    with PrecisionsSeen() as seen:
        again, _ = _run_twice(subject, prepare, no_change)
    limits = DOUBLE if seen.coarsest is torch.float64 else SINGLE
    copied = subject.fresh()
    model = _model(copied)
    prepare(model)
    modules = {name: model.get_submodule(name) for name in layers}
    for module in modules.values():
        bias_of(module).requires_grad_()  # a frozen one too: the graph says what reads it
    returned, sizes = _forward(copied, modules)
    readers = [
        {name for module in modules.values() for name in consumers(returned, bias_of(module), next_only=only)}
        for only in (False, True)
    ]
    copied.backward(returned)
    gradients = {
        name: (_gradient([bias_of(module)]), _gradient(other_parameters(module))) for name, module in modules.items()
    }
    return _Base(
        outputs=outputs,
        state=state,
        is_repeatable=_distance(outputs, again) <= limits.repeated,
        coarsest=seen.coarsest,
        gradients={name: (own or 0.0, other) for name, (own, other) in gradients.items() if other is not None},
        sizes=sizes,
        follows=tuple(sorted(readers[0])),
        feeds=tuple(sorted(readers[1])),
    )


def _forward(copied: Subject, modules: Mapping[str, nn.Module]) -> tuple[object, dict[str, float]]:
    """What a pass returns, and the size of each layer's output; 1 for a layer that is not called as a module."""
    sizes: dict[str, float] = {}
    hooks = [module.register_forward_hook(_remember_size(name, sizes)) for name, module in modules.items()]
    outputs = copied.forward()
    for hook in hooks:
        hook.remove()
    return outputs, {name: sizes.get(name) or 1.0 for name in modules}


def _remember_size(name: str, sizes: dict[str, float]) -> Callable[..., None]:
    def hook(_module: nn.Module, _inputs: object, output: object) -> None:
        with Judging():
            largest = max((difference(tensor, tensor).largest for _, tensor in tensors_in(output)), default=0.0)
            sizes[name] = max(sizes.get(name, 0.0), largest)

    return hook


def _doubt_of_run(base: _Base) -> str:
    """Why nothing can be concluded from this run, whatever the bias does."""
    if not base.outputs:
        return "no output holds floating-point numbers"
    if not all(bool(torch.isfinite(tensor).all()) for tensor in base.outputs.values()):
        return "the outputs hold NaN or infinity"
    if base.coarsest not in (torch.float64, torch.float32):
        return f"it computes in {str(base.coarsest).removeprefix('torch.')}, whose rounding hides an effect"
    return "" if base.is_repeatable else "two runs without any change differ"


def _doubts_of_layers(base: _Base, layers: tuple[str, ...], changed: _State) -> list[str]:
    """What must not be so for an effect to be ruled out."""
    unused = [name for name in layers if name in base.gradients and not base.gradients[name][1]]
    untold = [name for name in layers if name not in base.gradients] if len(layers) > 1 else []
    moved = [
        name
        for name, tensor in base.state.items()
        if name in changed and _distance({"": tensor}, {"": changed[name]}) > SINGLE.none
    ]
    return [
        *(f"no gradient reaches {name or 'the layer'} in this run" for name in unused),
        *(f"the role of {name} is not known" for name in untold),
        *(f"the outputs do not follow the bias, but the buffer {name} does" for name in moved),
    ]


def _run_twice(subject: Subject, prepare: Change, change: Change) -> tuple[dict[str, torch.Tensor], _State]:
    """Two passes, the second with the state that the first left behind: running statistics may come back."""
    copied = subject.fresh()
    model = _model(copied)
    prepare(model)
    with torch.no_grad():
        change(model)
    first, second = (float_tensors(copied.forward()) for _ in range(2))
    return _both(first, second), _state(model)


def _both(first: _State, second: _State) -> dict[str, torch.Tensor]:
    return {**first, **{f"second {place}": tensor for place, tensor in second.items()}}


def _distance(values: _State, others: _State) -> float:
    """The largest change, as a share of the size of its tensor; NaN where one cannot be had."""
    if values.keys() != others.keys():
        return math.nan
    largest = 0.0
    for place, tensor in values.items():
        apart = difference(others[place], tensor)
        if apart.structure or apart.only_one_finite:
            return math.nan
        largest = max(largest, apart.max_abs / (apart.largest or 1.0))
    return largest


def _model(subject: Subject) -> nn.Module:
    assert subject.model is not None, "a function has no layers"
    return subject.model


def _gradient(parameters: list[nn.Parameter]) -> float | None:
    gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
    return max((float(gradient.detach().abs().max()) for gradient in gradients if gradient.numel()), default=None)


def _state(model: nn.Module) -> _State:
    """The buffers, apart from the means that a BatchNorm keeps: those follow the bias, and no training reads them."""
    means = {
        f"{name}.running_mean".lstrip(".")
        for name, module in model.named_modules()
        if isinstance(module, nn.modules.batchnorm._NormBase)  # noqa: SLF001 - all BatchNorms, and none but they
    }
    return {name: buffer.detach().clone() for name, buffer in model.named_buffers() if name not in means}
