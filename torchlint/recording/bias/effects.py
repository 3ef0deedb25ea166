"""The effect of biases in double precision, in every state that training leaves the model in, and with two seeds."""

from __future__ import annotations

import math
from dataclasses import replace

import torch
from torch import nn

from torchlint.recording.bias.changes import Change, no_change
from torchlint.recording.bias.perturbation import Effect, effect_in_eval, effect_of_bias
from torchlint.recording.clock import Deadline
from torchlint.recording.runs.cost import draws_random_numbers
from torchlint.recording.runs.precision import in_double
from torchlint.recording.subject import Subject


def effects_of_biases(subject: Subject, layers: tuple[str, ...], deadline: Deadline) -> dict[str, Effect]:
    """The effect of each layer's bias: of all together where they have none, else one by one as time allows."""
    together = _effect(subject, layers)
    if len(layers) == 1 or together.matters is False:
        return dict.fromkeys(layers, together)
    effects: dict[str, Effect] = {}
    for name in layers:
        effects[name] = _effect(subject, (name,))
        if deadline.is_over:
            break
    return effects


def _effect(subject: Subject, names: tuple[str, ...]) -> Effect:
    """In double precision; in the program's own where its code insists on one."""
    default = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        return _in_every_state(in_double(subject), names)
    except Exception:  # noqa: BLE001 - the user's code may raise anything in a precision it was not written for
        torch.set_default_dtype(default)
        return _in_own_precision(subject, names)
    finally:
        torch.set_default_dtype(default)


def _in_own_precision(subject: Subject, names: tuple[str, ...]) -> Effect:
    try:
        return _in_every_state(subject, names)
    except Exception as error:  # noqa: BLE001 - likewise on a second pass, or with another bias
        return Effect(None, f"a run with another bias raised {type(error).__name__}")


def _in_every_state(subject: Subject, names: tuple[str, ...]) -> Effect:
    effects = [_with_every_seed(subject, names, state) for state in _states(subject)]
    if len({effect.matters for effect in effects}) == 1:
        return effects[0]
    reason = "the constructor left parts in eval mode, and the bias has an effect only before or after `train()`"
    return Effect(None, reason, follows=effects[0].follows)


def _with_every_seed(subject: Subject, names: tuple[str, ...], state: Change) -> Effect:
    """Two seeds where random numbers are drawn: stochastic depth may leave the layer out of one run."""
    effects = [effect_of_bias(subject, names, state)]
    if draws_random_numbers(subject):
        effects.append(effect_of_bias(replace(subject, seed=subject.seed + 1), names, state))
    decided = [effect for effect in effects if effect.matters is not None]
    if len({effect.matters for effect in decided}) == 2:
        return Effect(None, "with one seed the bias has an effect, with another none", follows=effects[0].follows)
    return decided[0] if decided else effects[0]


def _states(subject: Subject) -> tuple[Change, ...]:
    """The model as its own `train()` leaves it; as constructed as well, where that has more in eval mode.

    An overridden `train()` that keeps a norm in eval mode is what every training loop calls. A norm that the
    constructor froze, and that `train()` would wake, is one or the other.
    """
    model = subject.fresh().model
    assert model is not None, "its layers were found"
    frozen = {name for name, module in model.named_modules() if not module.training}
    model.train()
    woken = frozen & {name for name, module in model.named_modules() if module.training}
    return (_train, no_change) if woken else (_train,)


def _train(model: nn.Module) -> None:
    model.train()


def change_in_eval(subject: Subject, names: tuple[str, ...]) -> float | None:
    """How far the outputs move in eval mode when the biases move by about one; None where that cannot be had."""
    try:
        change = effect_in_eval(subject, names)
    except Exception:  # noqa: BLE001 - a mode that the program may never use
        return None
    return change if math.isfinite(change) else None
